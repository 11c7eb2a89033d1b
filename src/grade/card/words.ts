import { inSeconds, roundedDuration } from '../../foundation/words.ts';
import { faultNamed } from '../../lab/faults/list.ts';
import type { Ending, FaultRun, Verdict } from '../grade.ts';
import { selectorOf, useInWords } from '../run-name.ts';

/** How urgent something is for the author of the program, the most urgent first. */
export const ranks = ['must-fix', 'should-fix', 'survived', 'not-reached'] as const;
export type Rank = (typeof ranks)[number];

export const verdictWords: Record<Verdict, string> = {
  survived: 'survived',
  'did-it-twice': 'did it twice',
  'left-undone': 'left it undone',
  'did-something-else': 'did something else',
  'printed-something-else': 'printed something else',
  failed: 'failed',
  hung: 'hung',
  'not-reached': 'not reached',
};

/** A verdict in words, with the exit status of a program that failed. With exit status 0, its last line says that it failed. */
export function inWords({ verdict, exitStatus }: { verdict: Verdict; exitStatus?: number | undefined }) {
  if (verdict !== 'failed') return verdictWords[verdict];
  return exitStatus === 0 ? 'failed (its last line says so)' : `failed (exit status ${exitStatus})`;
}

/** Where a fault was performed. */
export interface Use {
  /** `lost-answer at the 4th createPet` */
  name: string;
  /** The value of `--fault` that performs the fault there again. Undefined without faults. */
  selector: string | undefined;
}

/**
 * Where a fault was performed in a run. If it affected several operations, the one among the requests with these ids. If that is not clear, the
 * whole fault with its chosen parameters.
 */
export function useOf(fault: string, run: FaultRun, ids: readonly string[] = []): Use {
  const affected = run.requests.filter((request) => ids.includes(request.id) && isAffectedBy(fault, request));
  const fitting = run.faults.filter((planned) => affected.some((one) => one.operation === planned.operation));
  const [planned, ...others] = fitting.length > 0 ? fitting : run.faults;
  if (!planned) return { name: run.name, selector: undefined };
  if (faultNamed(fault)?.isCondition) return { name: run.name, selector: selectorOf(planned) };
  const { operation, after = 0, ...parameters } = planned;
  if (others.length > 0) return { name: run.name, selector: selectorOf(parameters) };
  const place = { ...(operation !== undefined && { operation }), after };
  return { name: useInWords(run.label, planned), selector: selectorOf({ ...parameters, ...place }) };
}

/** Whether a fault affected a request. */
export const isAffectedBy = (fault: string, request: { fault?: string }) =>
  request.fault?.split(' ').includes(fault) ?? false;

/** How a program ended. */
export const howEnded = ({ exitStatus, tookMs }: Ending) =>
  exitStatus === undefined ? `did not end within ${roundedDuration(tookMs)}` : `exit status ${exitStatus}`;

/** How a program ended, and when. */
export const howEndedWhen = (ending: Ending) =>
  ending.exitStatus === undefined
    ? howEnded(ending)
    : `${howEnded(ending)} after ${roundedDuration(ending.tookMs)}`;

/** When a program gave up waiting for a silent response. Undefined under other faults. */
export function gaveUpInWords({ gaveUpAfterMs }: Pick<FaultRun, 'gaveUpAfterMs'>): string | undefined {
  if (gaveUpAfterMs === undefined) return undefined;
  return gaveUpAfterMs === null ? 'never gave up' : `gave up after ${inSeconds(gaveUpAfterMs)}`;
}
