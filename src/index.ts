import './client/needed-node.ts';
import type { PetstoreServer, StartOptions } from './service/start/start-petstore.ts';

export type { Plan, Quota } from './foundation/settings/plans.ts';
export type { CheckResult, Report } from './lab/checks/report-schema.ts';
export type { FaultName } from './lab/faults/list.ts';
export type { RecordedRequest } from './lab/recordings/schema.ts';
export type { RehearsedFault } from './lab/rehearsals/schema.ts';
export type { Access, WorkspaceOptions } from './service/start/from-code/access.ts';
export type { Clock, Duration } from './service/start/from-code/clock.ts';
export type {
  FaultPlan,
  Recording,
  RecordOptions,
  Rehearsal,
  RehearseOptions,
} from './service/start/from-code/lab.ts';
export type { PetstoreServer, StartOptions };

/**
 * Starts a store in this process. It listens when the promise resolves. It prints nothing, handles no signal, and reads no environment
 * variable. Any number can run in one process. Rejects with TypeError if an option is unknown or invalid, and with an Error if the port or
 * the data folder is in use.
 */
export async function startPetstore(options?: StartOptions): Promise<PetstoreServer> {
  // An older Node.js could not even link this module, and would not say why.
  const { startPetstoreOn } = await import('./service/start/start-petstore.ts');
  return startPetstoreOn(undefined, options);
}
