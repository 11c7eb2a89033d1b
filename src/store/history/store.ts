import { batchSize, type Database } from '../../db/database.ts';
import { columns, fragment, join, type Row, type Sql } from '../../db/sql.ts';

/** An event as it is stored. */
export interface StoredEvent {
  id: number;
  type: string;
  createdAtMs: number;
  requestId: string | undefined;
  /** The trace context of that request, unless it follows from the id. */
  traceparent: string | undefined;
  /** The Event object of the API, as JSON on one line. */
  json: string;
}

const eventColumns = columns(
  'id, type, created_at_ms, request_id, traceparent, data, previous',
  ({ id, type, createdAtMs, requestId, traceparent, data, previous }): StoredEvent => {
    const timestamp = new Date(Number(createdAtMs)).toISOString();
    const request = requestId === null ? '' : `,"requestId":${JSON.stringify(requestId)}`;
    const before = previous === null ? '' : `,"previous":${previous}`;
    const json = `{"id":${id},"type":"${type}","timestamp":"${timestamp}"${request},"data":${data}${before}}`;
    return {
      id: Number(id),
      type: String(type),
      createdAtMs: Number(createdAtMs),
      requestId: requestId === null ? undefined : String(requestId),
      traceparent: traceparent === null ? undefined : String(traceparent),
      json,
    };
  },
);

/** The ids of the oldest kept event and of the latest event. `first` is `last + 1` if no event is kept. */
export interface Extent {
  first: number;
  last: number;
}

/** How long events are kept, and how many for each workspace. */
export interface Retention {
  maxAgeMs: number;
  maxCount: number;
}

/** The events to read: ids above `after` and up to `upTo`, of the given types or all, at most `limit`. */
interface Range {
  after: number;
  upTo: number;
  types?: readonly string[] | undefined;
  limit: number;
}

/** The id of the oldest kept event. Starts after the removed ones, which PostgreSQL keeps in its index for a while. */
const oldestId = fragment`(
  select min(id) from events where events.workspace_id = s.workspace_id and id >= s.least_id)`;

const ofTypes = (types: Range['types']) =>
  types ? fragment`and e.type in (${join(types, ', ')})` : fragment``;

/** The bytes of events, in the order of their ids. */
export const readEventSizes = (sql: Sql, workspaceId: number, { after, upTo, types, limit }: Range) => sql`
  select octet_length(data) + coalesce(octet_length(previous), 0) from events e
  where workspace_id = ${workspaceId} and id > ${after} and id <= ${upTo} ${ofTypes(types)} order by id limit ${limit}`;

/** Events in the order of their ids, with the extent of the history in the same snapshot. */
export async function readEvents(
  sql: Sql,
  workspaceId: number,
  { after, upTo, types, limit }: Range,
): Promise<Extent & { events: StoredEvent[] }> {
  // One statement sees one snapshot. It returns at least one row, since the sequence always exists.
  const rows = await sql`
    select ${eventColumns.list}, s.last_id, ${oldestId}
    from sequences s
    left join events e on e.workspace_id = s.workspace_id and e.id > ${after} and e.id <= ${upTo} ${ofTypes(types)}
    where s.workspace_id = ${workspaceId} and s.kind = 'events' order by e.id limit ${limit}`;
  return {
    ...toExtent(rows[0]?.slice(-2)),
    events: rows.filter(([id]) => id !== null).map(eventColumns.read),
  };
}

export async function findEvent(sql: Sql, workspaceId: number, id: number): Promise<StoredEvent | undefined> {
  const [row] = await sql`
    select ${eventColumns.list} from events
    where workspace_id = ${workspaceId} and id = ${id}`;
  return row && eventColumns.read(row);
}

/** The extent of a history. Events that are committed later have ids above `last`. */
export async function extentOf(sql: Sql, workspaceId: number): Promise<Extent> {
  const [row] = await sql`
    select s.last_id, ${oldestId} from sequences s
    where s.workspace_id = ${workspaceId} and s.kind = 'events'`;
  return toExtent(row);
}

/** The extent from the last id and the oldest, each of which may be missing. */
function toExtent([last = 0, first = null]: Row = []): Extent {
  return { first: Number(first ?? Number(last) + 1), last: Number(last) };
}

/**
 * Removes expired events in short transactions and leaves no gaps. `oldestNeeded` returns the oldest event of a workspace that a
 * webhook still needs. From it on, up to `maxCount` more events are kept, but none longer than `maxAgeMs`.
 */
export async function forgetOldEvents(
  db: Database,
  { maxAgeMs, maxCount }: Retention,
  nowMs: number,
  oldestNeeded: (workspaceId: number) => Promise<number | undefined> = async () => undefined,
): Promise<void> {
  const agedAtMs = nowMs - maxAgeMs;
  let rows: Row[] = [];
  do {
    rows = await db.read`
      select s.workspace_id, s.last_id, s.least_id from sequences s
      join events e on e.workspace_id = s.workspace_id and e.id = ${oldestId}
      where s.kind = 'events' and s.workspace_id > ${rows.at(-1)?.[0] ?? 0}
        and (e.id <= s.last_id - ${maxCount} or e.created_at_ms <= ${agedAtMs})
      order by s.workspace_id limit ${batchSize}`;
    for (const [workspaceId, last, least] of rows) {
      const tooFarBack = Number(last) - maxCount;
      const needed = (await oldestNeeded(Number(workspaceId))) ?? Infinity;
      const notNeeded = Math.max(needed - 1, tooFarBack - maxCount);
      await forgetUntil(db, Number(workspaceId), Number(least), Math.min(tooFarBack, notNeeded), agedAtMs);
    }
  } while (rows.length === batchSize);
}

/** Removes the oldest events of a workspace, up to the first that is recent enough by id and by age. No event is below `least`. */
async function forgetUntil(
  db: Database,
  workspaceId: number,
  least: number,
  tooFarBack: number,
  agedAtMs: number,
): Promise<void> {
  for (let from = least; ; ) {
    const oldest = await db.read`
      select id, created_at_ms from events where workspace_id = ${workspaceId} and id >= ${from}
      order by id limit ${batchSize}`;
    const kept = oldest.findIndex(([id, atMs]) => Number(id) > tooFarBack && Number(atMs) > agedAtMs);
    const upTo = oldest.at(kept === -1 ? -1 : kept - 1)?.[0];
    if (kept === 0 || upTo === undefined) return;
    const [first, next] = [from, Number(upTo) + 1];
    await db.write(
      (sql) =>
        sql`delete from events where workspace_id = ${workspaceId} and id >= ${first} and id < ${next}`,
    );
    // On its own, so that no writer waits while rows are removed.
    await db.write(
      (sql) => sql`
        update sequences set least_id = ${next} where workspace_id = ${workspaceId} and kind = 'events'`,
    );
    if (kept !== -1) return;
    from = next;
  }
}
