import type { CheckResult } from '../lab/checks/report.ts';
import type { Fault } from '../lab/faults/shared/fault.ts';
import type { Deviation, FaultRun } from './grade.ts';
import type { Run } from './run/run.ts';

/** Possible deviations of a run. `verdict.ts` decides which of them count. */
export interface Judgement {
  deviations: Deviation[];
  /** Whether the program reported a failure. Then only deviations of the kinds `countsWhenGivenUp` count. */
  gaveUp: boolean;
  countsWhenGivenUp: readonly Deviation['kind'][];
  /** Further facts if a goal judges the run. */
  facts?: Pick<FaultRun, 'goalReached' | 'lastWords'>;
}

/** Judges runs of a program by its runs without faults, or by a goal. */
export interface Judge {
  judge(run: Run, fault?: Fault): Judgement;
  checksOf(run: Run): CheckResult[];
}
