import type { LabTypes } from '../../client/index.ts';

export type Check = LabTypes.Report['checks'][number];
export type Fault = LabTypes.FaultList[number];
export type RecordedRequest = LabTypes.RecordedRequest;
export type RecordingFacts = LabTypes.Recording;

/** The page reads seconds since 1970 as a number. */
type Window = LabTypes.Account['minute'] & { reset: number };
export type Account = LabTypes.Account & { minute: Window; day: Window };

/** A planned fault. The catalogue has the names of faults, operations and parameters. */
export interface PlannedFault {
  fault: string;
  operation?: string;
  [parameter: string]: number | string | undefined;
}

/** A planned fault with its counts. */
export interface RehearsedFault extends PlannedFault {
  performed: number;
  remaining?: number;
  repeated?: number;
}

export type Rehearsal = Omit<LabTypes.Rehearsal, 'faults'> & { faults: RehearsedFault[] };

/**
 * `connecting`: no answer yet. `slowed`: the lab is asked too often; the page asks again at `retryAtMs`. `away`: the service does not
 * answer; the page asks again. `revoked`: the key is unknown or revoked. `lab-off`: the service has no lab.
 */
export type ConnectionState = 'no-key' | 'connecting' | 'live' | 'slowed' | 'away' | 'revoked' | 'lab-off';
