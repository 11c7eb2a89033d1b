import type { CheckResult } from '../lab/checks/report.ts';
import type { Fault } from '../lab/faults/shared/fault.ts';
import type { Deviation, FaultRun } from './grade.ts';
import type { Run } from './run/run.ts';

/** What speaks against a run, before it is known how much of it counts. */
export interface Judgement {
  deviations: Deviation[];
  /** Whether the program says itself that work is left. Then only deviations of `evenSo` count. */
  gaveUp: boolean;
  evenSo: readonly Deviation['kind'][];
  /** What a goal shows besides. */
  facts?: Pick<FaultRun, 'goalReached' | 'lastWords'>;
}

/** Judges runs of a program: by its runs without faults, or by a goal. */
export interface Judge {
  judge(run: Run, fault?: Fault): Judgement;
  checksOf(run: Run): CheckResult[];
}
