import type { Rehearsal, RehearsedFault } from '../lab/rehearsals/schema.ts';
import { toTable } from './output.ts';

/** A fault of a rehearsal, and how often it was performed on a client. */
interface Met extends Pick<RehearsedFault, 'fault' | 'operation' | 'performed' | 'remaining' | 'repeated'> {
  rehearsal: string;
}

/**
 * The faults that were there for a client to meet: those of the rehearsals that were active since a time, without what was
 * performed before. Given are the rehearsals of the key as they stood before the client and after it.
 */
export function faultsMet(before: readonly Rehearsal[], after: readonly Rehearsal[], sinceMs: number): Met[] {
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

const endOf = ({ endedAt, expiresAt }: Rehearsal) => Date.parse(endedAt ?? expiresAt);

const isMissed = ({ performed, repeated = 0 }: Met) => performed + repeated === 0;

/** Whether there were faults, and the client met none of them. */
export const isUnrehearsed = (faults: readonly Met[]) => faults.length > 0 && faults.every(isMissed);

/** The faults as a table. */
export const faultsTable = (faults: readonly Met[]) =>
  toTable(
    faults.map(({ fault, operation, performed, remaining }) => ({
      fault,
      operation: operation ?? 'every one',
      performed,
      remaining,
    })),
  );

/** Says which faults were never performed; undefined if each was. */
export function missedFaults(faults: readonly Met[]): string | undefined {
  const missed = faults.filter(isMissed);
  if (missed.length === 0) return undefined;
  const names = missed.map(({ fault, operation }) => (operation ? `${fault} on ${operation}` : fault));
  const sentence = `Never performed: ${names.join(', ')}.`;
  return isUnrehearsed(faults) ? `Nothing was rehearsed. ${sentence}` : sentence;
}
