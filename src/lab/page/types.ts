// What the lab answers, as any program gets it by our client.

import type { LabTypes } from '../../client/index.ts';

export type Check = LabTypes.Report['checks'][number];
export type Fault = LabTypes.FaultList[number];
export type RecordedRequest = LabTypes.RecordedRequest;
export type RecordingFacts = LabTypes.Recording;

/** Seconds since 1970 fit a number. */
type Window = LabTypes.Account['minute'] & { reset: number };
export type Account = LabTypes.Account & { minute: Window; day: Window };

/** A fault as it is planned. The catalogue has the names of faults, of operations and of other parameters. */
export interface PlannedFault {
  fault: string;
  operation?: string;
  [parameter: string]: number | string | undefined;
}

/** A planned fault, and how often it was performed. */
export interface RehearsedFault extends PlannedFault {
  performed: number;
  remaining?: number;
  repeated?: number;
}

export type Rehearsal = Omit<LabTypes.Rehearsal, 'faults'> & { faults: RehearsedFault[] };
