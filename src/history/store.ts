import { batchSize } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { fragment, join, type Row, type Sql } from '../db/sql.ts';
import type { EventType } from './types.ts';

/** An event as it is kept. */
export interface StoredEvent {
  id: number;
  type: EventType;
  /** The event as a caller sees it, as JSON on one line. */
  json: string;
}

/** Which part of a history is kept: the ids of the oldest event and of the last one ever. `first` is `last + 1` if none is kept. */
export interface Extent {
  first: number;
  last: number;
}

/** How long events are kept, and how many of a workspace. */
export interface Retention {
  maxAgeMs: number;
  maxCount: number;
}

/** Which events to read: those above `after` and up to `upTo`, of these types or of all, and at most `limit`. */
export interface Range {
  after: number;
  upTo: number;
  types?: readonly EventType[] | undefined;
  limit: number;
}

/** Events in the order of ids, and the extent of the history at the moment of reading. */
export async function readEvents(
  sql: Sql,
  workspaceId: number,
  { after, upTo, types, limit }: Range,
): Promise<Extent & { events: StoredEvent[] }> {
  const ofTypes = types ? fragment`and e.type in (${join(types, ', ')})` : fragment``;
  // One statement sees one snapshot. There is one row at least, since the sequence is always there.
  const rows = await sql`
    select e.id, e.type, e.created_at_ms, e.request_id, e.data, e.previous,
      s.last_id, (select min(id) from events where workspace_id = ${workspaceId})
    from sequences s
    left join events e on e.workspace_id = ${workspaceId} and e.id > ${after} and e.id <= ${upTo} ${ofTypes}
    where s.workspace_id = ${workspaceId} and s.kind = 'events' order by e.id limit ${limit}`;
  return { ...toExtent(rows[0]?.slice(-2)), events: rows.filter(([id]) => id !== null).map(toEvent) };
}

export async function findEvent(sql: Sql, workspaceId: number, id: number): Promise<StoredEvent | undefined> {
  const [row] = await sql`
    select id, type, created_at_ms, request_id, data, previous from events
    where workspace_id = ${workspaceId} and id = ${id}`;
  return row && toEvent(row);
}

/** The extent of a history. Events that are committed later have ids above `last`. */
export async function extentOf(sql: Sql, workspaceId: number): Promise<Extent> {
  const [row] = await sql`
    select last_id, (select min(id) from events where workspace_id = ${workspaceId}) from sequences
    where workspace_id = ${workspaceId} and kind = 'events'`;
  return toExtent(row);
}

/** The extent for the last id and the oldest, neither of which need be there. */
function toExtent([last = 0, first = null]: Row = []): Extent {
  return { first: Number(first ?? Number(last) + 1), last: Number(last) };
}

/** Removes the events that are no longer kept, in short transactions. What remains of a history has no gaps. */
export async function forgetOldEvents(
  db: Database,
  { maxAgeMs, maxCount }: Retention,
  nowMs: number,
): Promise<void> {
  const agedAtMs = nowMs - maxAgeMs;
  let rows: Row[];
  do {
    rows = await db.read`
      select s.workspace_id, s.last_id from sequences s
      join events e on e.workspace_id = s.workspace_id
        and e.id = (select min(id) from events where workspace_id = s.workspace_id)
      where s.kind = 'events' and (e.id <= s.last_id - ${maxCount} or e.created_at_ms <= ${agedAtMs})
      order by s.workspace_id limit ${batchSize}`;
    for (const [workspaceId, last] of rows) {
      await forgetUntil(db, Number(workspaceId), Number(last) - maxCount, agedAtMs);
    }
  } while (rows.length === batchSize);
}

/** Removes the oldest events of a workspace, up to the first that is neither too far back nor too old. */
async function forgetUntil(
  db: Database,
  workspaceId: number,
  tooFarBack: number,
  agedAtMs: number,
): Promise<void> {
  for (;;) {
    const oldest = await db.read`
      select id, created_at_ms from events where workspace_id = ${workspaceId} order by id limit ${batchSize}`;
    const kept = oldest.findIndex(([id, atMs]) => Number(id) > tooFarBack && Number(atMs) > agedAtMs);
    const upTo = oldest.at(kept === -1 ? -1 : kept - 1)?.[0];
    if (kept === 0 || upTo === undefined) return;
    await db.write((sql) => sql`delete from events where workspace_id = ${workspaceId} and id <= ${upTo}`);
    if (kept !== -1) return;
  }
}

function toEvent([id, type, createdAtMs, requestId, data, previous]: Row): StoredEvent {
  const timestamp = new Date(Number(createdAtMs)).toISOString();
  const request = requestId === null ? '' : `,"requestId":${JSON.stringify(requestId)}`;
  const before = previous === null ? '' : `,"previous":${previous}`;
  const json = `{"id":${id},"type":"${type}","timestamp":"${timestamp}"${request},"data":${data}${before}}`;
  return { id: Number(id), type: type as EventType, json };
}
