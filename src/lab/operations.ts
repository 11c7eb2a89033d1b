import type { Handled } from '../operation.ts';
import { accountOperations } from './account/operations.ts';
import { recordingOperations } from './recordings/operations.ts';
import { rehearsalOperations } from './rehearsals/operations.ts';
import { reportOperations } from './report/operations.ts';
import type { LabServices } from './services.ts';

/** All operations of the lab, in the order of its description. */
export const labOperations: readonly Handled<[LabServices]>[] = [
  ...rehearsalOperations,
  ...reportOperations,
  // Its last one removes what the examples of the others read.
  ...recordingOperations,
  ...accountOperations,
].map((operation) => ({
  ...operation,
  // The account of the lab has no bans.
  errors: operation.errors.filter((code) => code !== 'key_banned'),
}));
