import { batchSize, inBatches } from '../../db/batches.ts';
import type { Database } from '../../db/database.ts';
import { type Fragment, fragment, type Row, type Sql } from '../../db/sql.ts';
import { ApiError } from '../../errors.ts';
import { randomDigits } from '../../keys/key.ts';
import type { Operation } from '../../operation.ts';
import { dayInSeconds, maxKept } from '../bounds.ts';
import { faultNamed } from './faults.ts';
import { type Advanced, noProgress, type Progress, totalOf, touched, type Verdict } from './progress.ts';
import type { PlannedFault, Rehearsal } from './schema.ts';
import { type Script, toScript } from './script.ts';

/** Whose rehearsal it is. */
export interface Owner {
  workspaceId: number;
  keyId: string;
}

/** Begins a rehearsal of a key, and ends the one before. */
export async function startRehearsal(
  sql: Sql,
  { workspaceId, keyId }: Owner,
  faults: readonly PlannedFault[],
  nowMs: number,
  expiresAtMs: number,
): Promise<string> {
  const id = `rhs_${randomDigits(12)}`;
  await endOthers(sql, { workspaceId, keyId }, nowMs);
  await sql`
    insert into rehearsals (workspace_id, id, key_id, faults, state, created_at_ms, expires_at_ms)
    values (${workspaceId}, ${id}, ${keyId}, ${JSON.stringify(faults)}, ${JSON.stringify(noProgress)},
      ${nowMs}, ${expiresAtMs})`;
  await sql`
    delete from rehearsals where workspace_id = ${workspaceId} and key_id = ${keyId} and id <> ${id} and id not in (
      select id from rehearsals where workspace_id = ${workspaceId} and key_id = ${keyId} and id <> ${id}
      order by created_at_ms desc, id desc limit ${maxKept - 1})`;
  await sql`
    update api_keys set rehearsal_id = ${id} where workspace_id = ${workspaceId} and id = ${keyId}`;
  return id;
}

const endOthers = (sql: Sql, { workspaceId, keyId }: Owner, nowMs: number) => sql`
  update rehearsals set ended_at_ms = ${nowMs}
  where workspace_id = ${workspaceId} and key_id = ${keyId} and ended_at_ms is null and expires_at_ms > ${nowMs}`;

/** Ends a rehearsal of a key. Throws `not_found` if the key has no such rehearsal. */
export async function endRehearsal(
  sql: Sql,
  { workspaceId, keyId }: Owner,
  id: string,
  nowMs: number,
): Promise<void> {
  const rows = await sql`
    update rehearsals set ended_at_ms = coalesce(ended_at_ms, ${nowMs})
    where workspace_id = ${workspaceId} and key_id = ${keyId} and id = ${id} returning id`;
  if (rows.length === 0) noSuchRehearsal();
  await sql`
    update api_keys set rehearsal_id = null
    where workspace_id = ${workspaceId} and id = ${keyId} and rehearsal_id = ${id}`;
}

/** The rehearsals of a key that are kept, the newest first. */
export async function listRehearsals(
  sql: Sql,
  owner: Owner,
  operations: readonly Operation[],
  id?: string,
): Promise<Rehearsal[]> {
  const { workspaceId, keyId } = owner;
  const only = id === undefined ? fragment`` : fragment`and id = ${id}`;
  const rows = await sql`
    select id, faults, state, created_at_ms, expires_at_ms, ended_at_ms from rehearsals
    where workspace_id = ${workspaceId} and key_id = ${keyId} ${only}
    order by created_at_ms desc, id desc`;
  return rows.map((row) => toRehearsal(row, operations));
}

/** A rehearsal of a key. Throws `not_found` if the key has none with this id. */
export async function getRehearsal(
  sql: Sql,
  owner: Owner,
  operations: readonly Operation[],
  id: string,
): Promise<Rehearsal> {
  const [rehearsal] = await listRehearsals(sql, owner, operations, id);
  return rehearsal ?? noSuchRehearsal();
}

function noSuchRehearsal(): never {
  throw new ApiError('not_found', 'This key has no rehearsal with this rehearsalId.');
}

/** What a rehearsal is, whatever its progress. Undefined if it is no longer kept. */
export async function findScript(sql: Sql, workspaceId: number, id: string): Promise<Script | undefined> {
  const [row] = await sql`
    select faults, expires_at_ms from rehearsals where workspace_id = ${workspaceId} and id = ${id}`;
  if (!row) return undefined;
  return toScript({ id, workspaceId, expiresAtMs: Number(row[1]) }, JSON.parse(String(row[0])));
}

/** Says which of the rows of rehearsals is meant. */
type Named = Pick<Script, 'workspaceId' | 'id'>;

/**
 * Decides what happens to a request of a rehearsal by its progress, and moves that on, so that all instances count as one. Returns
 * undefined if the rehearsal is over. While there is nothing to count, nothing is written.
 */
export async function moveOn(
  db: Database,
  rehearsal: Named,
  nowMs: number,
  advance: (progress: Progress) => Advanced,
): Promise<Verdict | undefined> {
  const { workspaceId, id } = rehearsal;
  const goesOn = fragment`ended_at_ms is null and expires_at_ms > ${nowMs}`;
  const [row] = await db.read`
    select state from rehearsals where workspace_id = ${workspaceId} and id = ${id} and ${goesOn}`;
  if (!row) return undefined;
  const seen = toProgress(row);
  const foreseen = advance(seen);
  if (foreseen.progress === seen) return foreseen.verdict;
  return (await updateProgress(db, rehearsal, goesOn, nowMs, advance))?.verdict;
}

/** Counts conditions that have touched an answer, also if the rehearsal has been ended meanwhile. */
export async function countTouched(
  db: Database,
  rehearsal: Named,
  nowMs: number,
  operationId: string,
  indexes: readonly number[],
): Promise<void> {
  await updateProgress(db, rehearsal, fragment`true`, nowMs, (before) => ({
    progress: indexes.reduce((progress, index) => touched(progress, index, operationId), before),
  }));
}

/**
 * Changes the progress in a transaction that holds its row, and returns what `change` does, which may run several times. Returns
 * undefined if there is no such row.
 */
function updateProgress<Change extends Pick<Advanced, 'progress'>>(
  db: Database,
  { workspaceId, id }: Named,
  condition: Fragment,
  atMs: number,
  change: (progress: Progress) => Change,
): Promise<Change | undefined> {
  return db.write(
    async (sql) => {
      const [row] = await sql`
        update rehearsals set state = state
        where workspace_id = ${workspaceId} and id = ${id} and ${condition} returning state`;
      if (!row) return undefined;
      const before = toProgress(row);
      const changed = change(before);
      if (changed.progress !== before)
        await sql`
          update rehearsals set state = ${JSON.stringify(changed.progress)}
          where workspace_id = ${workspaceId} and id = ${id}`;
      return changed;
    },
    { atMs, workspaceId },
  );
}

const toProgress = ([state]: Row): Progress => JSON.parse(String(state));

/** Forgets rehearsals that ended by themselves a day ago or earlier, in all workspaces. */
export function forgetOldRehearsals(db: Database, nowMs: number): Promise<void> {
  return inBatches(
    db,
    (sql) => sql`
      delete from rehearsals where (workspace_id, id) in (
        select workspace_id, id from rehearsals
        where expires_at_ms <= ${nowMs - dayInSeconds * 1_000} limit ${batchSize})
      returning id`,
  );
}

function toRehearsal(row: Row, operations: readonly Operation[]): Rehearsal {
  const [id, faults, state, createdAtMs, expiresAtMs, endedAtMs] = row;
  const planned: PlannedFault[] = JSON.parse(String(faults));
  const progress: Progress = JSON.parse(String(state));
  return {
    id: String(id),
    createdAt: timeOf(createdAtMs),
    expiresAt: timeOf(expiresAtMs),
    ...(endedAtMs !== null && { endedAt: timeOf(endedAtMs) }),
    faults: planned.map((plan, index) => {
      const { performed, repeated } = totalOf(progress, index);
      return {
        ...plan,
        performed,
        ...(plan.times !== undefined && {
          remaining: Math.max(0, plan.times * operationsOf(plan, operations) - performed),
        }),
        ...(repeated > 0 && { repeated }),
      };
    }),
  };
}

const operationsOf = ({ fault, operation }: PlannedFault, operations: readonly Operation[]) =>
  operation === undefined ? operations.filter((one) => faultNamed(fault)?.fits(one)).length : 1;

const timeOf = (ms: unknown) => new Date(Number(ms)).toISOString();
