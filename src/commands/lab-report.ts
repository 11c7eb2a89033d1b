import { styleText } from 'node:util';
import { toColumns } from '../columns.ts';
import { printable } from '../printable.ts';

/** A report card of a recording, as far as it is printed. */
export interface Report {
  verdict: string;
  checks: Check[];
}

interface Check {
  name: string;
  level: string;
  result: string;
  /** Ids of requests. */
  evidence: string[];
  because: string;
  advice: string;
}

/** A request of a recording, as far as it is printed. */
export interface RecordedRequest {
  id: string;
  at: string;
  method: string;
  target: string;
  status?: number;
  gapMs?: number;
  fault?: string;
}

/** So many requests of a failed check are shown. */
const maxShown = 5;

const isFailed = ({ result }: Check) => result === 'failed';
const isRequired = ({ level }: Check) => level === 'required';

/** The ids of the requests that are shown below a report card. */
export const shownIds = ({ checks }: Report) =>
  checks.filter(isFailed).flatMap(({ evidence }) => evidence.slice(0, maxShown));

/**
 * The checks of a report card for people: what must be mended, what passed, what is advised, and what was not seen, then the
 * requests of those that failed.
 */
export function checksText({ checks }: Report, requests: ReadonlyMap<string, RecordedRequest>): string {
  const failed = checks.filter(isFailed);
  const seen = [
    ...failed.filter(isRequired),
    ...checks.filter(({ result }) => result === 'passed'),
    ...failed.filter((check) => !isRequired(check)),
  ].flatMap((check) => [
    [check.result.toUpperCase(), check.name, check.level, `${check.because}${named(check.evidence)}`],
    ...(isFailed(check) ? [['', '', '', check.advice]] : []),
  ]);
  const unseen = checks.filter(({ result }) => result === 'not_observed').map(({ name }) => name);
  const parts = [
    ...(seen.length > 0 ? [toColumns(seen)] : []),
    ...failed.filter(({ evidence }) => evidence.length > 0).map((check) => requestsText(check, requests)),
    ...(unseen.length > 0 ? [toColumns([['Not observed:', unseen.join(' ')]])] : []),
  ];
  return parts.join('\n\n');
}

function named(ids: readonly string[]): string {
  if (ids.length === 0) return '';
  return ` ${ids.length === 1 ? 'Request' : 'Requests'} ${ids.join(', ')}.`;
}

/** The first requests of a check, a line each. */
function requestsText({ name, evidence }: Check, requests: ReadonlyMap<string, RecordedRequest>): string {
  const shown = evidence.slice(0, maxShown).flatMap((id) => requests.get(id) ?? []);
  const more = evidence.length - shown.length;
  const lines = shown.map(({ id, at, method, target, status, gapMs, fault }) => [
    `  ${id}`,
    at.slice(11),
    method,
    String(status ?? 'cut off'),
    gapMs === undefined ? '' : `after ${Math.round(gapMs)} ms`,
    fault ?? '',
    target,
  ]);
  return [`${name}:`, toColumns(lines), ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
}

/** The verdict in a line. */
export const verdictText = (verdict: string) =>
  `Verdict: ${styleText(colours[verdict] ?? 'yellow', printable(verdict))}`;

const colours: Record<string, 'red' | 'green'> = { failed: 'red', passed: 'green' };
