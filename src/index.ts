export type { CheckResult, Report } from './lab/checks/report.ts';
export type { FaultName } from './lab/faults/list.ts';
export type { RecordedRequest } from './lab/recordings/schema.ts';
export type { RehearsedFault } from './lab/rehearsals/schema.ts';
export type { Plan, Quota } from './limits/plans.ts';
export type { Access, WorkspaceOptions } from './start/from-code/access.ts';
export type { Clock, Duration } from './start/from-code/clock.ts';
export type {
  FaultPlan,
  Recording,
  RecordOptions,
  Rehearsal,
  RehearseOptions,
} from './start/from-code/lab.ts';
export { type PetstoreServer, type StartOptions, startPetstore } from './start/start-petstore.ts';
