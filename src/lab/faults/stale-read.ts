import type { TSchema } from 'typebox';
import type { Sql } from '../../db/sql.ts';
import { ApiError } from '../../foundation/errors.ts';
import { mergePatch } from '../../foundation/schema.ts';
import { jsonText } from '../../http/json.ts';
import type { Operation } from '../../http/operation.ts';
import type { Page } from '../../http/pagination.ts';
import type { EventDefinition } from '../../store/history/event.ts';
import { extentOf, readEvents } from '../../store/history/store.ts';
import { resourceEvents } from '../../store/resources/resources.ts';
import { workspaceEvents } from '../../store/workspaces/store.ts';
import { fault } from './shared/fault.ts';

/** How many events of the history it reads. */
const maxLookedAt = 500;

type Resource = Record<string, unknown>;

/** A change of a resource, from its event. */
interface Change {
  kind: EventDefinition['change'];
  data: Resource;
  /** The resource before the change; undefined if it did not exist, or is no longer in the history. */
  before: Resource | undefined;
}

/** The schema of the resource that an operation reads, alone or in a list. */
const schemaOf = ({ method, success }: Operation): TSchema | undefined => {
  const { kind, schema } = success;
  if (method !== 'GET' || !schema) return undefined;
  return kind === 'page' ? (schema as { items?: TSchema }).items : schema;
};

const eventsOf = (operation: Operation): readonly EventDefinition[] =>
  resourceEvents.filter(({ data }: EventDefinition) => data === schemaOf(operation));

/** The first property of a resource is its id. */
const idOf = (resource: Resource) => Object.values(resource)[0];

/** Parameters of a list that are not filters of its content. */
const pageParameters = ['limit', 'cursor', 'id'];

export const staleRead = fault({
  name: 'stale-read',
  actsAfterValidation: true,
  changesResponses: true,
  fits: (operation) => eventsOf(operation).some(({ change }) => change !== 'created'),
  group: 'Late responses, other writers',
  level: 'recommended',
  does: `A read returns the state before the last change of the resource, with the \`ETag\` of that state, like a replica that lags behind. A deleted resource still exists. In a list without filters, one item is outdated. Reads of new resources are current. Reads of resources that did not change in the last ${maxLookedAt} events are current, too.`,
  goodClient:
    'Uses the response to its own write, and does not read after it. When it changes a resource, it sends the `ETag` that it read as `If-Match`, gets 412, and reads again.',
  whyItMatters:
    'Clients read after a write, see the old state, and repeat the write or restore the old state.',
  perform: ({ operation, claim }) => ({
    handle: (handle) => async (sql, input) => {
      const { workspaceId, query, params } = input;
      const changes = () => lastChanges(sql, workspaceId, operation);
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
      if (isPage && Object.keys(query).some((name) => !pageParameters.includes(name))) return result;
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
function replaced(items: readonly Resource[], changes: ReadonlyMap<unknown, Change>) {
  for (const [id, { data, before }] of [...changes].reverse()) {
    const item = items.find((one) => idOf(one) === id);
    if (item && before && jsonText(item) === jsonText(data)) return { item, before };
  }
  return undefined;
}

/**
 * The last change of each resource that an operation reads, by id, oldest first. Changes before a reset or a seeding do not count,
 * because the ids may then belong to other resources.
 */
async function lastChanges(
  sql: Sql,
  workspaceId: number,
  operation: Operation,
): Promise<Map<unknown, Change>> {
  const definitions = eventsOf(operation);
  const { properties } = schemaOf(operation) as unknown as { properties: Resource };
  const { last } = await extentOf(sql, workspaceId);
  const types = [...definitions, ...workspaceEvents].map(({ type }) => type);
  const range = { after: last - maxLookedAt, upTo: last, types, limit: maxLookedAt };
  const { events } = await readEvents(sql, workspaceId, range);
  const changes = new Map<unknown, Change>();
  for (const { json } of events) {
    const { type, data, previous } = JSON.parse(json) as {
      type: string;
      data: Resource;
      previous?: Resource;
    };
    const kind = definitions.find((definition) => definition.type === type)?.change;
    if (!kind) {
      changes.clear();
      continue;
    }
    const id = idOf(data);
    const before = previous ? inOrder(properties, mergePatch(data, previous)) : changes.get(id)?.data;
    changes.delete(id);
    changes.set(id, { kind, data, before: kind === 'updated' ? before : undefined });
  }
  return changes;
}

/** A resource with its properties in the order of the schema. */
const inOrder = (properties: Resource, resource: Resource): Resource =>
  Object.fromEntries(
    Object.keys(properties).flatMap((name) => (name in resource ? [[name, resource[name]]] : [])),
  );
