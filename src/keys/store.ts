import type { Row, Sql } from '../db/sql.ts';
import { unauthorized } from '../errors.ts';
import { type Plan, plans, type Quota } from '../limits/plans.ts';
import { generateKey, hashKey, randomDigits } from './key.ts';

/** A key as the operator sees it. The key itself is not kept. Times are milliseconds since 1970. */
export interface StoredKey {
  id: string;
  workspaceId: number;
  workspace: string;
  plan: Plan;
  /** The numbers of an Enterprise key. */
  quota?: Quota;
  label?: string;
  createdAtMs: number;
  revokedAtMs?: number;
  /** Bans that began until this time are void. */
  pardonedAtMs: number;
}

export interface NewKey {
  workspaceId: number;
  plan: Plan;
  quota?: Quota;
  label?: string;
}

/** What a key says about its sender. */
export interface Caller {
  keyId: string;
  workspaceId: number;
  plan: Plan;
  quota: Quota;
  /** Bans that began until this time are void. */
  pardonedAtMs: number;
  /** The last rehearsal and the last recording of the key, which may be over. */
  rehearsalId?: string;
  recordingId?: string;
}

/** Creates a key, of a text that is new unless it is given. Returns its id and the key itself, which cannot be shown again. */
export async function createKey(
  sql: Sql,
  key: NewKey,
  nowMs: number,
  secret = generateKey(),
): Promise<{ id: string; key: string }> {
  const id = `key_${randomDigits(12)}`;
  await sql`
    insert into api_keys (workspace_id, id, hash, plan, per_minute, per_day, label, created_at_ms)
    values (${key.workspaceId}, ${id}, ${hashKey(secret)}, ${key.plan},
      ${key.quota?.perMinute ?? null}, ${key.quota?.perDay ?? null}, ${key.label ?? null}, ${nowMs})`;
  return { id, key: secret };
}

/** The caller behind a key that is known and not revoked. */
export async function findCaller(sql: Sql, key: string): Promise<Caller | undefined> {
  const [row] = await sql`
    select id, workspace_id, plan, per_minute, per_day, pardoned_at_ms, rehearsal_id, recording_id
    from api_keys where hash = ${hashKey(key)} and revoked_at_ms is null`;
  if (!row) return undefined;
  const [id, workspaceId, plan, perMinute, perDay, pardonedAtMs, rehearsalId, recordingId] = row;
  return {
    keyId: String(id),
    workspaceId: Number(workspaceId),
    plan: plan as Plan,
    quota: plans[plan as Plan] ?? { perMinute: Number(perMinute), perDay: Number(perDay) },
    pardonedAtMs: Number(pardonedAtMs),
    ...(rehearsalId !== null && { rehearsalId: String(rehearsalId) }),
    ...(recordingId !== null && { recordingId: String(recordingId) }),
  };
}

/** The refusal of a key that nobody has. */
export const unknownKey = () => unauthorized('The API key is unknown or revoked.', 'invalid_token');

/** Throws `unauthorized` if the key of a caller was revoked meanwhile. */
export async function assertNotRevoked(
  sql: Sql,
  { workspaceId, keyId }: Pick<Caller, 'workspaceId' | 'keyId'>,
): Promise<void> {
  const [row] = await sql`
    select 1 from api_keys where workspace_id = ${workspaceId} and id = ${keyId} and revoked_at_ms is null`;
  if (!row) throw unknownKey();
}

/** Every key, revoked ones too, in the order of creation. */
export async function listKeys(sql: Sql): Promise<StoredKey[]> {
  const rows = await sql`
    select k.id, k.workspace_id, w.name, k.plan, k.per_minute, k.per_day, k.label,
      k.created_at_ms, k.revoked_at_ms, k.pardoned_at_ms
    from api_keys k join workspaces w on w.id = k.workspace_id
    order by k.created_at_ms, k.id`;
  return rows.map(toStoredKey);
}

export async function findKey(sql: Sql, id: string): Promise<StoredKey | undefined> {
  const [row] = await sql`
    select k.id, k.workspace_id, w.name, k.plan, k.per_minute, k.per_day, k.label,
      k.created_at_ms, k.revoked_at_ms, k.pardoned_at_ms
    from api_keys k join workspaces w on w.id = k.workspace_id
    where k.id = ${id}`;
  return row && toStoredKey(row);
}

/** Revokes a key for good; the time of the first revocation stays. Returns whether there is such a key. */
export async function revokeKey(sql: Sql, id: string, nowMs: number): Promise<boolean> {
  const rows = await sql`
    update api_keys set revoked_at_ms = coalesce(revoked_at_ms, ${nowMs}) where id = ${id} returning id`;
  return rows.length > 0;
}

/** Puts a key on another plan. Returns whether there is such a key. */
export async function setPlan(sql: Sql, id: string, plan: Plan, quota: Quota | undefined): Promise<boolean> {
  const rows = await sql`
    update api_keys
    set plan = ${plan}, per_minute = ${quota?.perMinute ?? null}, per_day = ${quota?.perDay ?? null}
    where id = ${id} returning id`;
  return rows.length > 0;
}

/** Makes every ban of a key until now void. Returns whether there is such a key. */
export async function pardonKey(sql: Sql, id: string, nowMs: number): Promise<boolean> {
  const rows = await sql`update api_keys set pardoned_at_ms = ${nowMs} where id = ${id} returning id`;
  return rows.length > 0;
}

function toStoredKey(row: Row): StoredKey {
  const [id, workspaceId, workspace, plan, perMinute, perDay, label, createdAtMs, revokedAtMs, pardonedAtMs] =
    row;
  return {
    id: String(id),
    workspaceId: Number(workspaceId),
    workspace: String(workspace),
    plan: plan as Plan,
    ...(perMinute !== null && { quota: { perMinute: Number(perMinute), perDay: Number(perDay) } }),
    ...(label !== null && { label: String(label) }),
    createdAtMs: Number(createdAtMs),
    ...(revokedAtMs !== null && { revokedAtMs: Number(revokedAtMs) }),
    pardonedAtMs: Number(pardonedAtMs),
  };
}
