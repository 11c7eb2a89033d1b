import { createKey, isLive, randomDigits } from '../access/keys/store.ts';
import type { Database, Transaction } from '../db/database.ts';
import { fragment, type Sql } from '../db/sql.ts';
import type { OpenPlan, Plan } from '../foundation/settings/plans.ts';
import { dayMs, hourMs, minuteMs } from '../foundation/time.ts';
import { countToday } from '../http/idempotency.ts';
import type { Owner } from '../lab/key-binding.ts';
import { seedWorkspace } from '../store/demo/seed.ts';
import { createWorkspace, deleteWhole, endAccess, findWorkspace } from '../store/workspaces/store.ts';
import { openPlansIn } from './invites.ts';

/** A workspace of open sign-up without a request expires after this time. */
export const unusedMs = hourMs;
/** Any other expires after this time without one. */
export const idleMs = 30 * dayMs;
/** When all workspaces of open sign-up are taken, one that was idle for this time makes room. */
export const roomAfterMs = dayMs;
/** The time of a last request is stored at most this late, plus a margin. */
const storedLateMs = 2 * minuteMs;

/** The members of an invite that are not deleted, in the order of creation. Times are milliseconds since 1970. */
export async function listMembers(sql: Sql, inviteId: string) {
  const rows = await sql`
    select m.workspace_id, m.id, w.name, m.name, k.plan, k.pardoned_at_ms, k.revoked_at_ms,
      m.created_at_ms, m.last_request_at_ms, m.last_error, m.last_error_at_ms
    from members m
    join workspaces w on w.id = m.workspace_id
    join api_keys k on k.workspace_id = m.workspace_id and k.id = m.id
    where m.invite_id = ${inviteId} and m.closed_at_ms is null order by m.created_at_ms, m.id`;
  return rows.map(([workspaceId, keyId, workspace, name, plan, clearedAtMs, revokedAtMs, ...last]) => ({
    ...{ workspaceId: Number(workspaceId), keyId: String(keyId), workspace: String(workspace) },
    ...{ name: String(name), plan: plan as Plan, banClearedAtMs: Number(clearedAtMs) },
    ...(revokedAtMs != null && { revokedAtMs: Number(revokedAtMs) }),
    createdAtMs: Number(last[0]),
    ...(last[1] != null && { lastRequestAtMs: Number(last[1]) }),
    ...(last[2] != null && { lastError: { code: String(last[2]), atMs: Number(last[3]) } }),
  }));
}

/** The name of the member of a key, and the plans that its invite opens. Undefined if an operator created the key. */
export async function findMembership(sql: Sql, { workspaceId, keyId }: Owner) {
  const [row] = await sql`
    select m.name, i.upgrades from members m left join invites i on i.id = m.invite_id
    where m.workspace_id = ${workspaceId} and m.id = ${keyId} and m.closed_at_ms is null`;
  return row && { name: String(row[0]), ...(row[1] !== null && { upgrades: openPlansIn(String(row[1])) }) };
}

/** Creates a workspace with the demo data and a key for a person. */
export async function createMember(
  sql: Transaction,
  { name, plan, inviteId }: { name: string; plan: OpenPlan; inviteId?: string },
  nowMs: number,
): Promise<{ workspace: string; keyId: string; key: string }> {
  const workspace = workspaceNameFor(name);
  const { id: workspaceId } = await createWorkspace(sql, workspace, nowMs);
  await seedWorkspace(sql, workspaceId);
  const origin = inviteId === undefined ? 'signup' : 'invite';
  const { id: keyId, key } = await createKey(sql, { workspaceId, plan, origin }, nowMs);
  await sql`
    insert into members (workspace_id, id, invite_id, name, created_at_ms)
    values (${workspaceId}, ${keyId}, ${inviteId ?? null}, ${name}, ${nowMs})`;
  return { workspace, keyId, key };
}

/** A free name for a workspace: what is left of a person's name in ASCII, and random characters. */
export function workspaceNameFor(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 30)
    .replaceAll(/^-+|-+$/g, '');
  return `${words || 'member'}-${randomDigits(8).toLowerCase()}`;
}

/** Takes the access of a member away. `deleteClosed` deletes its data soon. Returns false if it was closed before. */
export async function closeMember(
  sql: Sql,
  { workspaceId, keyId }: Owner,
  nowMs: number,
  condition = fragment``,
): Promise<boolean> {
  const rows = await sql`
    update members set closed_at_ms = ${nowMs}
    where workspace_id = ${workspaceId} and id = ${keyId} and closed_at_ms is null ${condition} returning id`;
  if (rows.length === 0) return false;
  await endAccess(sql, workspaceId, nowMs);
  return true;
}

const ofSignUp = fragment`invite_id is null and closed_at_ms is null`;
/** An operator may have revoked the key. Then its data stays until it expires, and takes no room. */
const isLiving = fragment`${ofSignUp} and exists (
  select 1 from api_keys k where k.workspace_id = members.workspace_id and k.id = members.id and ${isLive})`;

/** Without an open stream. And a workspace to which an operator has given further keys is the operator's. */
const isEvictable = fragment`not exists (select 1 from streams s where s.workspace_id = members.workspace_id)
  and not exists (
    select 1 from api_keys k where k.workspace_id = members.workspace_id and k.id <> members.id and ${isLive})`;

/** When a member will have sent no request for a time, or for an hour since its creation if it never sent one. */
const idleAt = (forMs: number) =>
  fragment`coalesce(last_request_at_ms + ${forMs + storedLateMs}, created_at_ms + ${unusedMs + storedLateMs})`;

/** Closes members of open sign-up that have expired. Returns the ids of their keys. */
export async function expireMembers(db: Database, nowMs: number): Promise<string[]> {
  const isExpired = fragment`${ofSignUp} and ${isEvictable} and ${idleAt(idleMs)} <= ${nowMs}`;
  const rows = await db.read`select workspace_id, id from members where ${isExpired}`;
  const closed: string[] = [];
  for (const [workspaceId, id] of rows) {
    const owner = { workspaceId: Number(workspaceId), keyId: String(id) };
    const close = (sql: Sql) => closeMember(sql, owner, nowMs, fragment`and ${isExpired}`);
    if (await db.write(close, { atMs: nowMs, workspaceId: owner.workspaceId })) closed.push(owner.keyId);
  }
  return closed;
}

/**
 * Makes sure that a new member of open sign-up fits, and locks their number until the transaction ends. If all are taken, closes those that
 * were idle longest, if that is long enough, and returns their keys. Else returns in how many milliseconds they may make room.
 */
export async function makeRoom(
  sql: Sql,
  max: number,
  newKeyId: string,
  nowMs: number,
): Promise<number | string[]> {
  await countToday(sql, { workspaceId: 0, id: 'signups' }, 1, nowMs);
  const [counted] = await sql`select count(*) from members where ${isLiving}`;
  // More than one, if the maximum was lowered.
  const excess = Math.max(0, Number(counted?.[0]) - max);
  const rows = await sql`
    select workspace_id, id, ${idleAt(roomAfterMs)} from members
    where ${isLiving} and ${isEvictable} and id <> ${newKeyId} order by 3, 1 limit ${excess}`;
  const waitMs = rows.length < excess ? unusedMs : Number(rows.at(-1)?.[2] ?? 0) - nowMs;
  if (waitMs > 0) return waitMs;
  for (const [workspaceId, id] of rows) {
    const owner = { workspaceId: Number(workspaceId), keyId: String(id) };
    if (!(await closeMember(sql, owner, nowMs, fragment`and ${idleAt(roomAfterMs)} <= ${nowMs}`)))
      return minuteMs;
  }
  return rows.map(([, id]) => String(id));
}

/** Deletes the workspaces of closed members, in short transactions. Continues after an interruption. Throws the last failure. */
export async function deleteClosed(db: Database, nowMs: number): Promise<void> {
  const rows = await db.read`
    select w.id, w.name from members m join workspaces w on w.id = m.workspace_id
    where m.closed_at_ms is not null order by m.closed_at_ms`;
  let failure: unknown;
  for (const [id, name] of rows) {
    const workspace = { id: Number(id), name: String(name) };
    try {
      await deleteWhole(db, workspace, nowMs);
    } catch (error) {
      // Another instance deletes the same workspaces.
      if ((await findWorkspace(db.read, workspace.name))?.id === workspace.id) failure = error;
    }
  }
  if (failure) throw failure;
}
