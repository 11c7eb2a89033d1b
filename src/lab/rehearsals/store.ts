import { randomDigits } from '../../access/keys/store.ts';
import { batchSize, type Database, inBatches } from '../../db/database.ts';
import { fragment, type Row, type Sql } from '../../db/sql.ts';
import { dayMs, toTime } from '../../foundation/time.ts';
import { faultNamed } from '../faults/list.ts';
import { bind, endActive, type Owner, rehearsals } from '../key-binding.ts';
import { maxKept } from '../lab-bounds.ts';
import type { TargetApi } from '../target-api.ts';
import { type CompiledRehearsal, compileRehearsal } from './compiled-rehearsal.ts';
import { type ScopeProgress, totalOf } from './progress.ts';
import { parseProgress } from './progress-store.ts';
import type { PlannedFault, Rehearsal } from './schema.ts';

/** The key that reads, and the time: an ended rehearsal has nothing remaining. */
type OwnerAt = Owner & { nowMs: number };

/** Starts a rehearsal of a key, and ends the one before. Returns its id. */
export async function startRehearsal(
  sql: Sql,
  owner: Owner,
  faults: readonly PlannedFault[],
  nowMs: number,
  expiresAtMs: number,
): Promise<string> {
  const { workspaceId, keyId } = owner;
  const id = `rhs_${randomDigits(12)}`;
  await endActive(sql, rehearsals, owner, nowMs);
  await sql`
    insert into rehearsals (workspace_id, id, key_id, faults, created_at_ms, expires_at_ms)
    values (${workspaceId}, ${id}, ${keyId}, ${JSON.stringify(faults)}, ${nowMs}, ${expiresAtMs})`;
  const removed = await sql`
    delete from rehearsals where workspace_id = ${workspaceId} and key_id = ${keyId} and id <> ${id} and id not in (
      select id from rehearsals where workspace_id = ${workspaceId} and key_id = ${keyId} and id <> ${id}
      order by created_at_ms desc, id desc limit ${maxKept - 1})
    returning id`;
  await bind(sql, rehearsals, owner, id);
  for (const [old = ''] of removed)
    await sql`delete from rehearsal_progress where workspace_id = ${workspaceId} and rehearsal_id = ${old}`;
  return id;
}

/** Returns the rehearsals of a key, newest first, or the one with this id. */
export async function listRehearsals(
  sql: Sql,
  { workspaceId, keyId, nowMs }: OwnerAt,
  api: TargetApi,
  id?: string,
): Promise<Rehearsal[]> {
  const only = id === undefined ? fragment`` : fragment`and r.id = ${id}`;
  const rows = await sql`
    select r.id, r.faults, r.created_at_ms, r.expires_at_ms, r.ended_at_ms from rehearsals r
    where r.workspace_id = ${workspaceId} and r.key_id = ${keyId} ${only}
    order by r.created_at_ms desc, r.id desc`;
  const parts = await sql`
    select p.rehearsal_id, p.state from rehearsals r
    join rehearsal_progress p on p.workspace_id = r.workspace_id and p.rehearsal_id = r.id
    where r.workspace_id = ${workspaceId} and r.key_id = ${keyId} ${only}`;
  const byRehearsal = Map.groupBy(parts, ([rehearsalId]) => String(rehearsalId));
  return rows.map((row) => {
    const own = byRehearsal.get(String(row[0]))?.map(([, state]) => parseProgress(state)) ?? [];
    return toRehearsal(row, own, nowMs, api);
  });
}

/** Throws `not_found` if the key has no such rehearsal. */
export async function getRehearsal(
  sql: Sql,
  reader: OwnerAt,
  api: TargetApi,
  id: string,
): Promise<Rehearsal> {
  const [rehearsal] = await listRehearsals(sql, reader, api, id);
  return rehearsal ?? rehearsals.noSuch();
}

/** Returns undefined if the rehearsal was removed. */
export async function findCompiled(
  sql: Sql,
  workspaceId: number,
  id: string,
): Promise<CompiledRehearsal | undefined> {
  const [row] = await sql`
    select faults, expires_at_ms from rehearsals where workspace_id = ${workspaceId} and id = ${id}`;
  if (!row) return undefined;
  return compileRehearsal({ id, workspaceId, expiresAtMs: Number(row[1]) }, JSON.parse(String(row[0])));
}

/** Removes rehearsals that expired at least a day ago, in all workspaces. */
export async function forgetOldRehearsals(db: Database, nowMs: number): Promise<void> {
  const old = fragment`
    select workspace_id, id from rehearsals where expires_at_ms <= ${nowMs - dayMs}`;
  await inBatches(
    db,
    (sql) => sql`
      delete from rehearsal_progress where (workspace_id, rehearsal_id, operation) in (
        select p.workspace_id, p.rehearsal_id, p.operation from rehearsal_progress p
        join (${old}) gone on gone.workspace_id = p.workspace_id and gone.id = p.rehearsal_id limit ${batchSize})
      returning operation`,
  );
  await inBatches(
    db,
    (sql) => sql`delete from rehearsals where (workspace_id, id) in (${old} limit ${batchSize}) returning id`,
  );
}

function toRehearsal(row: Row, parts: readonly ScopeProgress[], nowMs: number, api: TargetApi): Rehearsal {
  const [id, faults, createdAtMs, expiresAtMs, endedAtMs] = row;
  const isOver = endedAtMs !== null || Number(expiresAtMs) <= nowMs;
  const planned: PlannedFault[] = JSON.parse(String(faults));
  return {
    id: String(id),
    createdAt: toTime(createdAtMs),
    expiresAt: toTime(expiresAtMs),
    ...(endedAtMs !== null && { endedAt: toTime(endedAtMs) }),
    faults: planned.map((plan, index) => {
      const { performed, repeated } = totalOf(parts, index);
      return {
        ...plan,
        performed,
        ...(plan.times !== undefined && {
          remaining: isOver ? 0 : Math.max(0, plan.times * countersOf(plan, api) - performed),
        }),
        ...(repeated > 0 && { repeated }),
      };
    }),
  };
}

/** How many counters a fault has: one for each operation that it fits, or one for the key. */
function countersOf({ fault: name, operation: only }: PlannedFault, api: TargetApi): number {
  const fault = faultNamed(name);
  if (only !== undefined || fault?.scope === 'key') return 1;
  return api.operations.filter((operation) => fault?.fits(operation, api)).length;
}
