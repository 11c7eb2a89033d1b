import type { Database, Transaction } from '../../db/database.ts';
import { rowKinds } from '../../db/tables.ts';
import { recordEvent } from '../history/record.ts';
import { workspaceReset, workspaceSeeded } from './store.ts';

/** The effects of a new generation, for operators. */
export const newGeneration =
  'new ids are much higher, older positions in the history get 410 events_expired, and webhooks get workspace.reset and workspace.seeded';

/**
 * Begins a new generation after a restore. A restored store would give out again the ids that it gave out after the backup. So its
 * ids continue far ahead. The history starts over with two events, after which readers must read the lists again, and webhooks
 * continue with these events. No service may run meanwhile. Run it again if it is interrupted. Returns the number of workspaces.
 */
export async function beginGeneration(db: Database, nowMs: number): Promise<number> {
  const workspaces = await db.read`select id from workspaces order by id`;
  for (const [id] of workspaces) {
    const workspaceId = Number(id);
    await db.write((sql) => beginIn(sql, workspaceId), { atMs: nowMs, workspaceId });
  }
  await db.adopt?.();
  return workspaces.length;
}

/** Begins a new generation if a restore moved the data here. Returns whether it did. For the service, before any request. */
export async function beginIfMoved(db: Database, nowMs: number): Promise<boolean> {
  const origin = await db.origin?.();
  if (origin === undefined || origin === 'own') return false;
  const isMoved = origin === 'moved' && (await db.read`select id from workspaces limit 1`).length > 0;
  if (isMoved) await beginGeneration(db, nowMs);
  else await db.adopt?.();
  return isMoved;
}

async function beginIn(sql: Transaction, workspaceId: number): Promise<void> {
  // Ids continue at the microseconds since 1970. No store gives out an id each microsecond, so ids never repeat, even if the same
  // backup is restored again. If the clock is behind the last restore, a fixed distance is added.
  const aheadId = sql.context.atMs * 1_000;
  for (const kind of rowKinds) {
    await sql`
      insert into sequences (workspace_id, kind, last_id) values (${workspaceId}, ${kind}, ${aheadId})
      on conflict (workspace_id, kind) do update set last_id =
        case when sequences.last_id < excluded.last_id then excluded.last_id else sequences.last_id + 1000000000000 end`;
  }
  await sql`
    update webhooks set lease_owner = null, lease_until_ms = 0, failing_since_ms = null, position = (
      select last_id from sequences where workspace_id = ${workspaceId} and kind = 'events')
    where workspace_id = ${workspaceId}`;
  await sql`delete from streams where workspace_id = ${workspaceId}`;
  await sql`delete from events where workspace_id = ${workspaceId}`;
  recordEvent(sql, workspaceId, workspaceReset, {});
  recordEvent(sql, workspaceId, workspaceSeeded, {});
}
