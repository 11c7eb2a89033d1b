import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../foundation/errors.ts';
import type { Operation } from '../../http/operation.ts';
import type { OtherWriter } from '../target-api.ts';
import { fault } from './shared/fault.ts';

/** The value that the other writer replaced just before a request, as JSON, for its recording. */
export const replacedByOther = new WeakMap<IncomingMessage, { property: string; before: string }>();

const isWrite = ({ method }: Operation) => method === 'PUT' || method === 'PATCH' || method === 'DELETE';

export const conflict = fault({
  name: 'conflict',
  isQuick: true,
  actsAfterValidation: true,
  fits: (operation, { otherWriterAt }) => isWrite(operation) && otherWriterAt?.(operation.path) !== undefined,
  shows: 'changes of another writer',
  group: 'Late responses, other writers',
  level: 'recommended',
  does: 'Just before the change, another writer changes the same resource. It changes the name of a pet or category, the ship date of an open order, or the stock by one unit. This change is permanent. Missing resources and complete orders are not changed.',
  goodClient: 'Sends `If-Match`, gets 412, reads the resource again and decides again.',
  whyItMatters:
    'Clients that read, change and write back without `If-Match` undo the changes that others made in between.',
  perform: ({ request, operation, claim, services }) => ({
    prepare: async ({ workspaceId, params }) => {
      const other = services.api.otherWriterAt?.(operation.path) as OtherWriter;
      const keep = <Value>(before: Value) => {
        const { property } = other;
        replacedByOther.set(request.raw, { property, before: JSON.stringify(before ?? null) });
        return before;
      };
      try {
        await claim((sql) => other.change(sql, workspaceId, params as Record<string, number>, keep));
      } catch (error) {
        replacedByOther.delete(request.raw);
        // The client's own change gets the same error.
        if (!(error instanceof ApiError)) throw error;
      }
    },
  }),
});
