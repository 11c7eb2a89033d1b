import { eventOperations } from '../events/operations.ts';
import type { Handled } from '../http/operation.ts';
import { resourceOperations } from '../resources/resources.ts';
import { webhookOperations } from '../webhooks/operations.ts';

/** All operations of the API, in the order of the reference. */
export const operations: readonly Handled[] = [
  ...resourceOperations,
  ...eventOperations,
  ...webhookOperations,
];
