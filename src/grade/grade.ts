import type { RecordedRequest } from '../lab/recordings/schema.ts';
import type { PlannedFault } from '../lab/rehearsals/schema.ts';
import type { CardData, CardFault, CardRun } from './card-schema.ts';

export type Verdict = CardRun['verdict'];
export type FaultPlace = CardRun['place'];

/** How a program ended. The exit status is undefined if it did not end in time. */
export interface Ending extends Pick<CardRun, 'lastLines' | 'tookMs'> {
  exitStatus: number | undefined;
}

/** A difference of a run from the runs without faults. */
export interface Deviation {
  kind: 'twice' | 'undone' | 'other' | 'printed' | 'reported';
  /** One sentence: "two pets Smaug instead of one". */
  what: string;
  /** Ids of the recorded requests behind it, in the order of time. */
  requests: string[];
  /** What the service did: "committed request 4, then reset the connection". */
  service?: string;
  /** What to change in this client, in a sentence. */
  change?: string;
  /** It does not fail the run: undone work of a program that hung. */
  isWarning?: true;
}

/** The program without faults, as the card describes it. */
export interface Baseline
  extends Ending,
    Pick<CardData['baseline'], 'operations' | 'refused' | 'problem' | 'nothingToCompare' | 'checks'> {
  requests: RecordedRequest[];
  /** If a goal judges the program: each of its runs without faults. */
  trials?: FaultRun[];
}

type Observed = 'name' | 'trial' | 'place' | 'verdict' | 'performed' | 'checks';
type Judged = 'gaveUpAfterMs' | 'excused' | 'goalReached' | 'lastWords';

/** A run of the program under a fault, as the card describes it. */
export interface FaultRun extends Ending, Pick<CardRun, Observed | Judged> {
  /** The fault with its given parameters: `retry-after-odd zero`. */
  label: string;
  /** The fault with all its parameters, once for each use that it affects. */
  faults: PlannedFault[];
  /** Whether a good program may wait for the whole time limit of the run. Then a hung run fails only under a required fault. */
  mayWaitLong: boolean;
  deviations: Deviation[];
  requests: RecordedRequest[];
}

/** A fault and all runs under it. */
export interface FaultGrade extends Pick<CardFault, 'fault' | 'required' | 'verdict'> {
  /** None if the fault fits none of the program's operations. */
  runs: FaultRun[];
}

export interface Grade
  extends Pick<CardData, 'command' | 'notCompared' | 'runCount' | 'verdict' | 'isQuick'> {
  baseline: Baseline;
  /** The goal that judges the program instead of its runs without faults, and the number of trials of each run. */
  goal?: { text: string; trials: number };
  /** In the order of the catalogue. */
  faults: FaultGrade[];
}

/** A step of the grading. */
export type GradeProgress =
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

/** Copies JSON data and replaces each string with the result of `change`. */
export const mapStrings = <T>(data: T, change: (text: string) => string): T =>
  JSON.parse(JSON.stringify(data), (_, value) => (typeof value === 'string' ? change(value) : value));
