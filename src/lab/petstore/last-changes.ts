import type { TSchema } from 'typebox';
import type { Sql } from '../../db/sql.ts';
import { mergePatch } from '../../foundation/schema.ts';
import type { Operation } from '../../http/operation.ts';
import type { EventDefinition } from '../../store/history/event.ts';
import { extentOf, readEvents } from '../../store/history/store.ts';
import { resourceEvents } from '../../store/resources/resources.ts';
import { workspaceEvents } from '../../store/workspaces/store.ts';
import { maxStaleEvents } from '../lab-bounds.ts';
import type { LastChange, ReadLastChanges, Resource } from '../target-api.ts';

/** For the fault `stale-read`: reads the last changes of the resources that an operation reads. Undefined if they never change. */
export function lastChangesOf(operation: Operation): ReadLastChanges | undefined {
  const definitions = resourceEvents.filter(({ data }: EventDefinition) => data === schemaOf(operation));
  if (!definitions.some(({ change }: EventDefinition) => change !== 'created')) return undefined;
  return (sql, workspaceId) => readLastChanges(sql, workspaceId, operation, definitions);
}

/** The schema of the resource that an operation reads, alone or in a list. */
const schemaOf = ({ method, success }: Operation): TSchema | undefined => {
  const { kind, schema } = success;
  if (method !== 'GET' || !schema) return undefined;
  return kind === 'page' ? (schema as { items?: TSchema }).items : schema;
};

/** The last changes by id, oldest first, since the last reset or seeding: before it, ids may belong to other resources. */
async function readLastChanges(
  sql: Sql,
  workspaceId: number,
  operation: Operation,
  definitions: readonly EventDefinition[],
): Promise<Map<unknown, LastChange>> {
  const { properties } = schemaOf(operation) as unknown as { properties: Resource };
  const { last } = await extentOf(sql, workspaceId);
  const types = [...definitions, ...workspaceEvents].map(({ type }) => type);
  const range = { after: last - maxStaleEvents, upTo: last, types, limit: maxStaleEvents };
  const { events } = await readEvents(sql, workspaceId, range);
  const changes = new Map<unknown, LastChange>();
  for (const { json } of events) {
    const { type, data, previous }: { type: string; data: Resource; previous?: Resource } = JSON.parse(json);
    const kind = definitions.find((definition) => definition.type === type)?.change;
    if (!kind) {
      changes.clear();
      continue;
    }
    // The first property of a resource is its id.
    const [id] = Object.values(data);
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
