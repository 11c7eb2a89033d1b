import { styleText } from 'node:util';
import { printable } from '../printable.ts';
import { toColumns } from './output.ts';

/** The report card of a recording, as far as it is printed. */
export interface Report {
  verdict: string;
  checks: Check[];
}

interface Check {
  name: string;
  level: string;
  result: string;
  because: string;
  advice: string;
}

/** A report card for people: what must be mended, what passed, what is advised, and what was not seen. */
export function reportText({ verdict, checks }: Report): string {
  const isFailed = ({ result }: Check) => result === 'failed';
  const isRequired = ({ level }: Check) => level === 'required';
  const failed = checks.filter(isFailed);
  const seen = [
    ...failed.filter(isRequired),
    ...checks.filter(({ result }) => result === 'passed'),
    ...failed.filter((check) => !isRequired(check)),
  ].flatMap((check) => [
    [check.result.toUpperCase(), check.name, check.level, check.because],
    ...(isFailed(check) ? [['', '', '', check.advice]] : []),
  ]);
  const unseen = checks.filter(({ result }) => result === 'not_observed').map(({ name }) => name);
  return [
    ...(seen.length > 0 ? [toColumns(seen), ''] : []),
    ...(unseen.length > 0 ? [toColumns([['Not observed:', unseen.join(' ')]]), ''] : []),
    `Verdict: ${styleText(colours[verdict] ?? 'yellow', printable(verdict))}`,
  ].join('\n');
}

const colours: Record<string, 'red' | 'green'> = { failed: 'red', passed: 'green' };
