import type { Transaction } from '../db/database.ts';
import { partOf } from '../db/end-work.ts';
import type { Row, Sql } from '../db/sql.ts';
import { withoutKeys } from '../redact.ts';
import type { EventType } from './types.ts';

/** An event before it has its id. `data` and `previous` are JSON. */
interface Recorded {
  workspaceId: number;
  type: EventType;
  atMs: number;
  requestId: string | undefined;
  data: string;
  previous: string | undefined;
}

/**
 * Adds an event to the history of a workspace, in the transaction of the change that it tells. `data` is the resource as a GET
 * answers it after the change or, if it was removed, before it.
 */
export function record(
  sql: Transaction,
  workspaceId: number,
  type: EventType,
  data: object,
  previous?: object,
): void {
  const { atMs, requestId } = sql.cause;
  sql.atEnd(write, {
    workspaceId,
    type,
    atMs,
    // A caller may have put its key there.
    requestId: requestId && withoutKeys(requestId),
    data: JSON.stringify(data),
    previous: previous && JSON.stringify(previous),
  });
}

/** Records a change of a resource, if there is one. `previous` has the fields that changed, null for one that was absent. */
export function recordUpdate(
  sql: Transaction,
  workspaceId: number,
  type: EventType,
  before: object,
  after: object,
): void {
  const previous = differences(before as Fields, after as Fields);
  if (previous) record(sql, workspaceId, type, after, previous);
}

type Fields = Record<string, unknown>;

/** The fields of `before` that `after` has no more, or with another value. Resources hold no objects. */
function differences(before: Fields, after: Fields): Fields | undefined {
  let changed: Fields | undefined;
  for (const name in { ...before, ...after }) {
    if (before[name] === after[name]) continue;
    changed ??= {};
    changed[name] = before[name] ?? null;
  }
  return changed;
}

/** The same transaction without a history, for changes that one event tells together. */
export function unrecorded(sql: Transaction): Transaction {
  return Object.assign(partOf(sql), { atEnd: () => {} });
}

/**
 * Writes events with the next ids of their workspaces, which a transaction takes last: so ids are dense, and rise in the order
 * of commits. The history of a workspace that is gone gets nothing.
 */
async function write(sql: Sql, events: Recorded[]): Promise<void> {
  const byWorkspace = [...Map.groupBy(events, ({ workspaceId }) => workspaceId)];
  // Always in the same order, so that two transactions do not wait for each other.
  byWorkspace.sort(([a], [b]) => a - b);
  await Promise.all(byWorkspace.flatMap(([workspaceId, own]) => writeTo(sql, workspaceId, own)));
}

function writeTo(sql: Sql, workspaceId: number, events: Recorded[]): Promise<Row[]>[] {
  const count = events.length;
  return [
    sql`
      insert into sequences (workspace_id, kind, last_id)
      select id, 'events', ${count} from workspaces where id = ${workspaceId}
      on conflict (workspace_id, kind) do update set last_id = sequences.last_id + excluded.last_id`,
    ...events.map(
      ({ type, atMs, requestId, data, previous }, i) => sql`
        insert into events (workspace_id, id, type, created_at_ms, request_id, data, previous)
        select workspace_id, last_id - ${count - 1 - i}, ${type}, ${atMs}, ${requestId ?? null}, ${data},
          ${previous ?? null}
        from sequences where workspace_id = ${workspaceId} and kind = 'events'`,
    ),
  ];
}
