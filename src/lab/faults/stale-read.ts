import { ApiError } from '../../foundation/errors.ts';
import { jsonText } from '../../http/json.ts';
import type { Page } from '../../http/pagination.ts';
import { maxStaleEvents } from '../lab-bounds.ts';
import type { LastChange, ReadLastChanges, Resource } from '../target-api.ts';
import { fault } from './shared/fault.ts';

/** The first property of a resource is its id. */
const idOf = (resource: Resource) => Object.values(resource)[0];

export const staleRead = fault({
  name: 'stale-read',
  actsAfterValidation: true,
  shows: 'older state',
  fits: (operation, { lastChangesOf }) => lastChangesOf?.(operation) !== undefined,
  group: 'Late responses, other writers',
  level: 'recommended',
  does: `A read returns the state before the last change of the resource, with the \`ETag\` of that state, like a replica that lags behind. A deleted resource still exists. In a list without filters, one item is outdated. Reads of new resources are current. Reads of resources that did not change in the last ${maxStaleEvents} events are current, too.`,
  goodClient:
    'Uses the response to its own write, and does not read after it. When it changes a resource, it sends the `ETag` that it read as `If-Match`, gets 412, and reads again.',
  whyItMatters:
    'Clients read after a write, see the old state, and repeat the write or restore the old state.',
  perform: ({ operation, claim, services }) => ({
    handle: (handle) => async (sql, input) => {
      const { workspaceId, query, params } = input;
      const readChanges = services.api.lastChangesOf?.(operation) as ReadLastChanges;
      const changes = () => readChanges(sql, workspaceId);
      let result: Page<Resource> | Resource;
      try {
        result = (await handle(sql, input)) as typeof result;
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
        const [id] = Object.values(params);
        const removed = (await changes()).get(id);
        if (removed?.kind !== 'deleted' || !(await claim())) throw error;
        return removed.data;
      }
      const isPage = operation.success.kind === 'page';
      // Other parameters filter the list.
      const unfiltered = ['limit', 'cursor', operation.success.singleBy];
      if (isPage && Object.keys(query).some((name) => !unfiltered.includes(name))) return result;
      const items = isPage ? (result as Page<Resource>).items : [result as Resource];
      const old = replaced(items, await changes());
      if (!old || !(await claim())) return result;
      return isPage
        ? { ...result, items: items.map((item) => (item === old.item ? old.before : item)) }
        : old.before;
    },
  }),
});

/** The item that was changed last, and its state before that change. None if its state differs from its last event. */
function replaced(items: readonly Resource[], changes: ReadonlyMap<unknown, LastChange>) {
  for (const [id, { data, before }] of [...changes].reverse()) {
    const item = items.find((one) => idOf(one) === id);
    if (item && before && jsonText(item) === jsonText(data)) return { item, before };
  }
  return undefined;
}
