import type { CheckResult } from '../lab/checks/report.ts';
import type { RecordedRequest } from '../lab/recordings/schema.ts';
import type { PlannedFault } from '../lab/rehearsals/schema.ts';

/** Verdicts on a program under a fault. */
export const verdicts = [
  'survived',
  'did-it-twice',
  'left-undone',
  'did-something-else',
  'printed-something-else',
  'failed',
  'hung',
  'not-reached',
] as const;
export type Verdict = (typeof verdicts)[number];

/** How a program ended. */
export interface Ending {
  /** Its exit status, or 128 and the number of the signal that ended it. Undefined if it did not end in time. */
  exitStatus: number | undefined;
  /** The last lines of its output. */
  lastLines: string[];
  tookMs: number;
}

/**
 * At which use of the program's operations a fault is performed. A number is the n-th use. `whole`: the fault is a condition, or is
 * performed once at any operation.
 */
export type Place = 'first' | 'middle' | 'last' | 'whole' | number;

/** A difference of a run from the runs without faults. */
export interface Deviation {
  kind: 'twice' | 'undone' | 'other' | 'printed';
  /** One sentence: "two pets Smaug instead of one". */
  what: string;
  /** Ids of the recorded requests behind it, in the order of time. */
  requests: string[];
  /** What the service did: "committed request 4, then reset the connection". */
  service?: string;
  /** What a good client does, in a sentence. */
  goodClient?: string;
  /** What to change in this client, in a sentence. */
  change?: string;
  /** It does not fail the run: a different line, if the program changes the store; or undone work, if the program hung. */
  isWarning?: true;
}

/** The program without faults. */
export interface Baseline extends Ending {
  /** In the order of their first use. */
  operations: { operation: string; uses: number }[];
  checks: CheckResult[];
  requests: RecordedRequest[];
  /** Requests that got a 4xx in every run. A correct program rarely sends such a request each time. */
  refused: { id: string; operation?: string; status: number; code?: string }[];
  /** Why nothing can be graded, in a sentence. Then no fault was tried. */
  problem?: string;
  /** Whether only its exit status can be compared: it changes nothing and prints nothing. */
  nothingToCompare: boolean;
  /** If a goal judges the program: each of its runs without faults. */
  trials?: FaultRun[];
}

/** A run of the program under a fault. */
export interface FaultRun extends Ending {
  /** The name of the run, unique for every program: `lost-answer, first use`. */
  name: string;
  /** The number of this run among the runs under the same fault at the same place. */
  trial?: number;
  /** The fault with its given parameters: `retry-after-odd zero`. */
  label: string;
  place: Place;
  /** The fault with all its parameters, once for each use that it affects. */
  faults: PlannedFault[];
  verdict: Verdict;
  /** Whether a good program may wait for the whole time limit of the run. Then a hung run fails only under a required fault. */
  mayWaitLong: boolean;
  /** How often the fault was performed. */
  performed: number;
  deviations: Deviation[];
  /** Under a silent fault: when the program gave up; null if it never did. */
  gaveUpAfterMs?: number | null;
  /** If a goal judges the program: whether the store is as wanted. */
  goalReached?: boolean;
  /** If a goal judges the program: the last line on its standard output. */
  lastWords?: string;
  checks: CheckResult[];
  requests: RecordedRequest[];
}

/** A fault and all runs under it. */
export interface FaultGrade {
  fault: string;
  /** Whether a client must survive it. If not, it should. */
  required: boolean;
  /** The worst of its runs. */
  verdict: Verdict;
  /** None if the fault fits none of the program's operations. */
  runs: FaultRun[];
}

/** The grade of a program. */
export interface Grade {
  command: string[];
  baseline: Baseline;
  /** The goal that judges the program instead of its runs without faults, and the number of trials of each run. */
  goal?: { text: string; trials: number };
  /** What also varies between runs without faults, so it was not compared. */
  notCompared: string[];
  /** In the order of the catalogue. */
  faults: FaultGrade[];
  /** The number of runs, with those without faults. */
  runCount: number;
  /**
   * `incomplete`: no fault was reached. `failed`: at least one of these is true:
   * - A run changed the store differently than without faults.
   * - A program that changes nothing printed something else.
   * - A run hung although the service responded.
   * - A required fault was not survived, or a required check failed.
   * - The baseline has a problem.
   */
  verdict: 'passed' | 'failed' | 'incomplete';
}

/** A step of the grading. */
export type Progress =
  | { stage: 'baseline' }
  /** The runs without faults have ended, and these runs follow. Further runs without faults may be added. */
  | { stage: 'faults'; runs: string[]; baseline: Baseline }
  | { stage: 'begun'; run: string }
  | { stage: 'ended'; fault: string; required: boolean; run: FaultRun };

/** The name of the runs without faults. */
export const withoutFaults = 'without faults';

/** Whether a fault affected a request. */
export const isAffectedBy = (fault: string, request: { fault?: string }) =>
  request.fault?.split(' ').includes(fault) ?? false;

/** The value of `--fault` for a fault. */
export function selectorOf({ fault, ...parameters }: PlannedFault): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return pairs.length > 0 ? `${fault}:${pairs.join(',')}` : fault;
}

/** Copies JSON data and replaces each string with the result of `change`. */
export const mapStrings = <T>(data: T, change: (text: string) => string): T =>
  JSON.parse(JSON.stringify(data), (_, value) => (typeof value === 'string' ? change(value) : value));
