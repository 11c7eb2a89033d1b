import { styleText } from 'node:util';
import type { LabTypes } from '../client/index.ts';
import { escapeTerminal, toColumns } from '../foundation/terminal-text.ts';
import { toTable } from './terminal.ts';

type Check = LabTypes.CheckResult;
type Requests = ReadonlyMap<string, LabTypes.RecordedRequest>;

/** The maximum number of requests shown for a failed check. */
const maxShown = 5;

const isFailed = ({ result }: Check) => result === 'failed';
const isRequired = ({ level }: Check) => level === 'required';

/** The ids of the requests that `checksText` shows. */
export const shownIds = ({ checks }: LabTypes.Report) =>
  checks.filter(isFailed).flatMap(({ evidence }) => evidence.slice(0, maxShown));

/**
 * The checks of a report card as text: failed required checks, passed checks, failed recommended checks, the requests of failed checks, and
 * the checks that were not observed.
 */
export function checksText({ checks }: LabTypes.Report, requests: Requests): string {
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

/** The first requests of a check, one on each line. */
function requestsText({ name, evidence }: Check, requests: Requests): string {
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

export const verdictText = (verdict: string) =>
  `Verdict: ${styleText(colours[verdict] ?? 'yellow', escapeTerminal(verdict))}`;

const colours: Record<string, 'red' | 'green'> = { failed: 'red', passed: 'green' };

/** A fault of a rehearsal, and how often it was performed while the client ran. */
interface FaultCount
  extends Pick<LabTypes.RehearsedFault, 'fault' | 'operation' | 'performed' | 'remaining' | 'repeated'> {
  rehearsal: string;
}

/**
 * The faults of the rehearsals that were active after `sinceMs`, and how often each was performed while the client ran. `before` and `after`
 * are the rehearsals before and after that.
 */
export function countFaults(
  before: readonly LabTypes.Rehearsal[],
  after: readonly LabTypes.Rehearsal[],
  sinceMs: number,
): FaultCount[] {
  return after
    .filter((rehearsal) => endOf(rehearsal) > sinceMs)
    .flatMap(({ id, faults }) => {
      const earlier = before.find((rehearsal) => rehearsal.id === id)?.faults ?? [];
      return faults.map(({ fault, operation, performed, remaining, repeated = 0 }, index) => ({
        ...{ rehearsal: id, fault },
        ...(operation !== undefined && { operation }),
        performed: performed - (earlier[index]?.performed ?? 0),
        ...(remaining !== undefined && { remaining }),
        repeated: repeated - (earlier[index]?.repeated ?? 0),
      }));
    });
}

const endOf = ({ endedAt, expiresAt }: LabTypes.Rehearsal) => Date.parse(endedAt ?? expiresAt);

const isUnperformed = ({ performed, repeated = 0 }: FaultCount) => performed + repeated === 0;

/** Whether there are faults, but none was performed. */
export const noFaultPerformed = (faults: readonly FaultCount[]) =>
  faults.length > 0 && faults.every(isUnperformed);

export const faultsTable = (faults: readonly FaultCount[]) =>
  toTable(
    faults.map(({ fault, operation, performed, remaining }) => ({
      fault,
      operation: operation ?? 'every one',
      performed,
      remaining,
    })),
  );

/** A sentence about the faults that were never performed; undefined if every fault was. */
export function unperformedFaults(faults: readonly FaultCount[]): string | undefined {
  const missed = faults.filter(isUnperformed);
  if (missed.length === 0) return undefined;
  const names = missed.map(({ fault, operation }) => (operation ? `${fault} on ${operation}` : fault));
  const sentence = `Never performed: ${names.join(', ')}.`;
  return noFaultPerformed(faults) ? `No fault was performed. ${sentence}` : sentence;
}
