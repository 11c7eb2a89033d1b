import { operations } from '../../api/operations.ts';
import type { Handled } from '../../http/operation.ts';
import { type LabServices, labOperationsFor } from '../operations.ts';
import type { TargetApi } from '../target-api.ts';
import { lastChangesOf } from './last-changes.ts';
import { otherWriters } from './other-writers.ts';

/** The API of this service, as the lab sees it. */
export const petstoreApi: TargetApi = {
  operations,
  otherWriterAt: (path) => otherWriters[path],
  lastChangesOf,
};

export const labOperations: readonly Handled<[LabServices]>[] = labOperationsFor(petstoreApi);

/** The module of the thread that reads recordings. */
export const reportThread = new URL('./report-thread.ts', import.meta.url);
