import type { Database } from '../db/database.ts';
import { fragment, type Row, type Sql } from '../db/sql.ts';
import { ApiError } from '../errors.ts';
import { randomDigits } from '../keys/key.ts';
import type { Operation } from '../operation.ts';
import { maxKept } from './bounds.ts';
import type { Parameters } from './fault.ts';
import { faultNamed } from './faults.ts';
import { noProgress, type Progress, type Step, totalOf } from './progress.ts';
import type { PlannedFault, Rehearsal } from './rehearsals-schema.ts';

/** Whose rehearsal it is. */
export interface Owner {
  workspaceId: number;
  keyId: string;
}

/** A rehearsal as requests of its key meet it. */
export interface Script {
  id: string;
  workspaceId: number;
  expiresAtMs: number;
  faults: readonly PlannedFault[];
  steps: readonly Step[];
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
    delete from rehearsals where workspace_id = ${workspaceId} and key_id = ${keyId} and id not in (
      select id from rehearsals where workspace_id = ${workspaceId} and key_id = ${keyId}
      order by created_at_ms desc, id desc limit ${maxKept})`;
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
  const faults: PlannedFault[] = JSON.parse(String(row[0]));
  return { id, workspaceId, expiresAtMs: Number(row[1]), faults, steps: faults.map(toStep) };
}

function toStep({ fault: name, operation, after = 0, times, ...parameters }: PlannedFault): Step {
  const fault = faultNamed(name);
  return {
    ...(operation !== undefined && { operation }),
    after,
    times: fault?.isCondition ? undefined : (times ?? 1),
    holdMs: fault?.holds?.ms(parameters as Parameters) ?? 0,
    holds: fault?.holds?.scope ?? 'operation',
    ...(name === 'near-limit' && { perMinute: Number(parameters.remaining) }),
  };
}

/**
 * Moves the progress of a rehearsal on by `move`, in a transaction of its own that holds its row, so that all instances count as
 * one. Returns what `move` returns beside it, or undefined if the rehearsal is over.
 */
export function moveOn<Result>(
  db: Database,
  { workspaceId, id }: Pick<Script, 'workspaceId' | 'id'>,
  nowMs: number,
  move: (progress: Progress) => { progress: Progress; result: Result },
): Promise<Result | undefined> {
  return db.write(async (sql) => {
    const [row] = await sql`
      update rehearsals set state = state
      where workspace_id = ${workspaceId} and id = ${id} and ended_at_ms is null and expires_at_ms > ${nowMs}
      returning state`;
    if (!row) return undefined;
    const before: Progress = JSON.parse(String(row[0]));
    const { progress, result } = move(before);
    if (progress !== before) {
      await sql`
        update rehearsals set state = ${JSON.stringify(progress)}
        where workspace_id = ${workspaceId} and id = ${id}`;
    }
    return result;
  });
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
