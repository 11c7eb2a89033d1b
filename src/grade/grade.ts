import type { RecordedRequest } from '../lab/recordings/schema.ts';
import type { CheckResult } from '../lab/report/report.ts';

/** What became of a program under one fault. */
export const verdicts = ['survived', 'changed-the-store', 'failed', 'hung', 'not-reached'] as const;
export type Verdict = (typeof verdicts)[number];

/** How a program ended. */
export interface Ending {
  /** Its exit status, or 128 and the number of the signal that ended it. Undefined if it did not end in time. */
  exitStatus: number | undefined;
  /** What it wrote last, a line each. */
  lastLines: string[];
  tookMs: number;
}

/** A run of the program without a fault. */
export interface Baseline extends Ending {
  /** The operations that it used, by their operationId, in the order of their first use. */
  operations: string[];
  checks: CheckResult[];
  /** Why nothing can be graded, in a sentence, if so. Then no fault was tried. */
  problem?: string;
}

/** A run of the program under one fault. */
export interface FaultGrade extends Ending {
  fault: string;
  verdict: Verdict;
  /** Whether a client must survive it, or had better. */
  required: boolean;
  /** How often the fault was performed. */
  performed: number;
  /** How the store differs from that of the baseline, a sentence each. */
  difference: string[];
  checks: CheckResult[];
  /** What the program sent, for the picture of attempts. */
  requests: RecordedRequest[];
}

/** The grade of a program. */
export interface Grade {
  command: string[];
  baseline: Baseline;
  /** What differs from run to run without a fault, and was not compared. */
  notCompared: string[];
  /** In the order of the catalogue. */
  faults: FaultGrade[];
  /**
   * `failed`: a required fault was not survived, the store was changed under any, a required check failed, or the baseline did.
   * `incomplete`: no fault was reached.
   */
  verdict: 'passed' | 'failed' | 'incomplete';
}

/** What is told while a program is graded. */
export type Progress =
  | { stage: 'baseline' }
  | { stage: 'faults'; faults: string[]; baseline: Baseline }
  | { stage: 'begun'; fault: string }
  | { stage: 'ended'; grade: FaultGrade };
