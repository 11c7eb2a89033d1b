import { styleText } from 'node:util';
import type { LabTypes } from '../client/index.ts';
import { escapeTerminal, toColumns } from '../foundation/terminal-text.ts';
import { toTable } from './terminal.ts';

type Check = LabTypes.CheckResult;

/** The maximum number of requests shown for a failed check. */
const maxShown = 5;

const isFailed = ({ result }: Check) => result === 'failed';
const isRequired = ({ level }: Check) => level === 'required';

/** The ids of the requests that `checksText` shows. */
export const shownIds = (checks: readonly Check[]) =>
  checks.filter(isFailed).flatMap(({ evidence }) => evidence.slice(0, maxShown));

/**
 * The checks of a report card as text: failed required checks, passed checks, failed recommended checks, the evidence of failed checks, and
 * the checks that were not observed. `cellsOf` describes a request or a delivery.
 */
export function checksText(
  checks: readonly Check[],
  cellsOf: (id: string) => string[] | undefined,
  noun = 'Request',
): string {
  const failed = checks.filter(isFailed);
  const named = ({ because, evidence: { length }, evidence }: Check) =>
    `${because}${length > 0 ? ` ${noun}${length > 1 ? 's' : ''} ${evidence.join(', ')}.` : ''}`;
  const seen = [
    ...failed.filter(isRequired),
    ...checks.filter(({ result }) => result === 'passed'),
    ...failed.filter((check) => !isRequired(check)),
  ].flatMap((check) => [
    [check.result.toUpperCase(), check.name, check.level, named(check)],
    ...(isFailed(check) ? [['', '', '', check.advice]] : []),
  ]);
  const proofs = failed.flatMap(({ name, evidence }) => {
    const rows = evidence.slice(0, maxShown).flatMap((id) => [cellsOf(id) ?? []]);
    const more = evidence.length - rows.length;
    const rest = more > 0 ? [`  and ${more} more`] : [];
    return rows.length > 0 ? [[`${name}:`, toColumns(rows, { indent: '  ' }), ...rest].join('\n')] : [];
  });
  const unseen = checks.filter(({ result }) => result === 'not_observed').map(({ name }) => name);
  return [
    ...(seen.length > 0 ? [toColumns(seen)] : []),
    ...proofs,
    ...(unseen.length > 0 ? [toColumns([['Not observed:', unseen.join(' ')]])] : []),
  ].join('\n\n');
}

/** A request as a row of cells. */
export const requestCells = (request: LabTypes.RecordedRequest): string[] => [
  request.id,
  request.at.slice(11),
  request.method,
  String(request.status ?? 'cut off'),
  request.gapMs === undefined ? '' : `after ${Math.round(request.gapMs)} ms`,
  request.fault ?? '',
  request.target,
];

export const verdictText = (verdict: string) =>
  `Verdict: ${styleText(colours[verdict] ?? 'yellow', escapeTerminal(verdict))}`;

const colours: Record<string, 'red' | 'green'> = { failed: 'red', passed: 'green' };

/** A fault of a rehearsal, and how often it was performed while the client ran. */
interface FaultCount
  extends Pick<LabTypes.RehearsedFault, 'fault' | 'operation' | 'performed' | 'remaining' | 'repeated'> {
  rehearsal: string;
}

/** Faults that were active after `sinceMs`, and how often each was performed between the rehearsals `before` and `after`. */
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
    faults.map(({ fault, operation = 'every one', performed, remaining }) => {
      return { fault, operation, performed, remaining };
    }),
  );

/** A sentence about the faults that were never performed; undefined if every fault was. */
export function unperformedFaults(faults: readonly FaultCount[]): string | undefined {
  const missed = faults.filter(isUnperformed);
  if (missed.length === 0) return undefined;
  const names = missed.map(({ fault, operation }) => (operation ? `${fault} on ${operation}` : fault));
  const sentence = `Never performed: ${names.join(', ')}.`;
  return noFaultPerformed(faults) ? `No fault was performed. ${sentence}` : sentence;
}
