import type { Handled } from '../http/operation.ts';
import { type AccountServices, accountOperations } from './account/operations.ts';
import { type ReportServices, reportOperations } from './checks/report-operations.ts';
import { type RecordingServices, recordingOperations } from './recordings/operations.ts';
import { rehearsalOperations } from './rehearsals/operations.ts';
import type { TargetApi } from './target-api.ts';

/** What operations of the lab need from the instance that runs them. */
export type LabServices = AccountServices & RecordingServices & ReportServices;

/** All operations of the lab of an API, in the order of its description. */
export const labOperationsFor = (api: TargetApi): readonly Handled<[LabServices]>[] => [
  ...rehearsalOperations(api),
  ...reportOperations,
  // Its last operation removes the recording that earlier examples read.
  ...recordingOperations,
  ...accountOperations,
];
