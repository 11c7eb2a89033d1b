import { styleText } from 'node:util';
import { printable } from '../printable.ts';
import { toColumns } from './output.ts';

/** The report card of a recording, as far as it is printed. */
export interface Report {
  verdict: string;
  checks: { name: string; level: string; result: string; because: string; advice: string }[];
}

/** A report card for people: what failed and what to do about it, what passed, and what was not seen. */
export function reportText({ verdict, checks }: Report): string {
  const of = (result: string) => checks.filter((check) => check.result === result);
  const seen = [...of('failed'), ...of('passed')].flatMap(({ name, level, result, because, advice }) => [
    [result.toUpperCase(), name, level, because],
    ...(result === 'failed' ? [['', '', '', advice]] : []),
  ]);
  const unseen = of('not_observed').map(({ name }) => name);
  return [
    ...(seen.length > 0 ? [toColumns(seen), ''] : []),
    ...(unseen.length > 0 ? [toColumns([['Not observed:', unseen.join(' ')]]), ''] : []),
    `Verdict: ${styleText(colours[verdict] ?? 'yellow', printable(verdict))}`,
  ].join('\n');
}

const colours: Record<string, 'red' | 'green'> = { failed: 'red', passed: 'green' };
