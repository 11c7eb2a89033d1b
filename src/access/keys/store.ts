import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { columns, fragment, identifier, type Sql } from '../../db/sql.ts';
import { ApiError, unauthorized } from '../../foundation/errors.ts';
import { type Plan, plans, type Quota } from '../../foundation/settings/plans.ts';
import { hourMs } from '../../foundation/time.ts';
import { wholeKey } from './key-pattern.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/** `length` random base62 digits from a cryptographic source. */
export const randomDigits = (length: number) =>
  Array.from({ length }, () => base62[randomInt(base62.length)]).join('');

function checksum(text: string): string {
  let rest = crc32(text);
  let result = '';
  for (let i = 0; i < checksumLength; i++) {
    result = base62[rest % base62.length] + result;
    rest = Math.floor(rest / base62.length);
  }
  return result;
}

/** A new API key: `pet_`, 30 random base62 digits, and a checksum over both. */
export function generateKey(): string {
  const body = `pet_${randomDigits(30)}`;
  return body + checksum(body);
}

/** Whether a text has the form of a key. A mistyped key costs no look-up. */
export function isWellFormedKey(text: string): boolean {
  return wholeKey.test(text) && text.endsWith(checksum(text.slice(0, -checksumLength)));
}

/** The stored form of a key: its SHA-256 in hexadecimal digits. */
export const hashKey = (key: string): string => hash('sha256', key);

export const isLive = fragment`revoked_at_ms is null`;

/** How long the old secret of a key still works after a new one. */
export const oldSecretMs = hourMs;

/** Who created a key, other than an operator: the start of the demo, or its owner with an invite or by open sign-up. */
export type KeyOrigin = 'demo' | 'invite' | 'signup';

/** A key as the operator sees it. The key itself is not stored. Times are milliseconds since 1970. */
export interface StoredKey {
  id: string;
  workspaceId: number;
  workspace: string;
  plan: Plan;
  /** The numbers of an Enterprise key. */
  quota?: Quota;
  label?: string;
  origin?: KeyOrigin;
  createdAtMs: number;
  revokedAtMs?: number;
  /** Until when its old secret works, or did. */
  oldSecretUntilMs?: number;
  /** Bans that began until this time are void. The column is `pardoned_at_ms`. */
  banClearedAtMs: number;
}

/** The sender of a request, by its key. */
export interface Caller {
  keyId: string;
  /** The stored form of the secret that was sent: the current or the old one of the key. */
  secretHash: string;
  workspaceId: number;
  plan: Plan;
  quota: Quota;
  /** Bans that began until this time are void. */
  banClearedAtMs: number;
  /** The values of the columns that `callerFinder` was asked for. */
  bindings: Readonly<Record<string, string | undefined>>;
}

/** Creates a key, by default a random one. Returns its id and the key itself, which cannot be shown again. */
export async function createKey(
  sql: Sql,
  key: Pick<StoredKey, 'workspaceId' | 'plan' | 'quota' | 'label' | 'origin'>,
  nowMs: number,
  secret = generateKey(),
): Promise<{ id: string; key: string }> {
  const id = `key_${randomDigits(12)}`;
  await sql`
    insert into api_keys (workspace_id, id, hash, plan, per_minute, per_day, label, origin, created_at_ms)
    values (${key.workspaceId}, ${id}, ${hashKey(secret)}, ${key.plan},
      ${key.quota?.perMinute ?? null}, ${key.quota?.perDay ?? null}, ${key.label ?? null},
      ${key.origin ?? null}, ${nowMs})`;
  return { id, key: secret };
}

/** Returns a finder of callers by live key, with `bindingColumns` as `bindings`. Make it once: its statement is prepared once. */
export function callerFinder(bindingColumns: readonly string[]) {
  const columns = identifier(['pardoned_at_ms', ...bindingColumns].join(', '));
  return async (sql: Sql, key: string, nowMs: number): Promise<Caller | undefined> => {
    const secretHash = hashKey(key);
    const [row] = await sql`
      select id, workspace_id, plan, per_minute, per_day, ${columns} from api_keys
      where (hash = ${secretHash} or (previous_hash = ${secretHash} and previous_until_ms > ${nowMs})) and ${isLive}`;
    if (!row) return undefined;
    const [id, workspaceId, plan, perMinute, perDay, banClearedAtMs, ...bound] = row;
    const bindings = bindingColumns.map((name, index) => [name, bound[index] ?? undefined]);
    return {
      keyId: String(id),
      secretHash,
      workspaceId: Number(workspaceId),
      plan: plan as Plan,
      quota: plans[plan as Plan] ?? { perMinute: Number(perMinute), perDay: Number(perDay) },
      banClearedAtMs: Number(banClearedAtMs),
      bindings: Object.fromEntries(bindings),
    };
  };
}

export type FindCaller = ReturnType<typeof callerFinder>;

/** The id of the workspace of a live key. */
export async function findWorkspaceOfKey(sql: Sql, key: string): Promise<number | undefined> {
  const [row] = await sql`select workspace_id from api_keys where hash = ${hashKey(key)} and ${isLive}`;
  return row && Number(row[0]);
}

/** The error for a key that does not exist or is revoked. */
export const unknownKey = () => unauthorized('The API key is unknown or revoked.', 'invalid_token');

type KeyOfCaller = Pick<Caller, 'workspaceId' | 'keyId'>;

/** Throws `unauthorized` if the key of a caller was revoked meanwhile. */
export async function assertNotRevoked(sql: Sql, { workspaceId, keyId }: KeyOfCaller): Promise<void> {
  const [row] = await sql`
    select 1 from api_keys where workspace_id = ${workspaceId} and id = ${keyId} and ${isLive}`;
  if (!row) throw unknownKey();
}

/** Locks the key of a caller until the transaction ends, and returns its plan. Throws `unauthorized` if the key was revoked. */
export async function lockKey(sql: Sql, { workspaceId, keyId }: KeyOfCaller): Promise<Plan> {
  const [row] = await sql`
    update api_keys set plan = plan where workspace_id = ${workspaceId} and id = ${keyId} and ${isLive}
    returning plan`;
  if (!row) throw unknownKey();
  return row[0] as Plan;
}

/**
 * Locks the key of a caller for a change of the key itself, and returns it. Throws `unauthorized` if the key was revoked, and
 * `conflict` if the caller sent the old secret, so that who has only that one cannot take the key over.
 */
export async function lockOwnKey(
  sql: Sql,
  { workspaceId, keyId, secretHash }: Pick<Caller, 'workspaceId' | 'keyId' | 'secretHash'>,
): Promise<StoredKey> {
  const [row] = await sql`
    update api_keys set plan = plan where workspace_id = ${workspaceId} and id = ${keyId} and ${isLive}
    returning hash, previous_hash`;
  const [hash, oldHash] = row ?? [];
  if (hash === secretHash) return (await findKey(sql, keyId)) as StoredKey;
  // Neither: the secret ended while the request was on its way.
  if (oldHash !== secretHash) throw unknownKey();
  throw new ApiError(
    'conflict',
    'This key has a newer secret. Only that one can change or delete the key: send it instead.',
  );
}

/** Gives a key a new secret, and returns it. The one before works until `oldSecretUntilMs`, and an older one ends. Lock the key before. */
export async function replaceSecret(
  sql: Sql,
  { workspaceId, keyId }: KeyOfCaller,
  nowMs: number,
): Promise<{ key: string; oldSecretUntilMs: number }> {
  const key = generateKey();
  const oldSecretUntilMs = nowMs + oldSecretMs;
  await sql`
    update api_keys set previous_hash = hash, previous_until_ms = ${oldSecretUntilMs}, hash = ${hashKey(key)}
    where workspace_id = ${workspaceId} and id = ${keyId}`;
  return { key, oldSecretUntilMs };
}

/** Ends the old secret of a key. Returns whether it had one. */
export async function endOldSecret(sql: Sql, { workspaceId, keyId }: KeyOfCaller): Promise<boolean> {
  const rows = await sql`
    update api_keys set previous_hash = null, previous_until_ms = null
    where workspace_id = ${workspaceId} and id = ${keyId} and previous_hash is not null returning id`;
  return rows.length > 0;
}

/** Revokes all live keys of a workspace. */
export async function revokeKeysOf(sql: Sql, workspaceId: number, nowMs: number): Promise<void> {
  await sql`update api_keys set revoked_at_ms = ${nowMs} where workspace_id = ${workspaceId} and ${isLive}`;
}

const keyColumns = columns(
  'id, workspace_id, workspace, plan, per_minute, per_day, label, origin, created_at_ms, revoked_at_ms, previous_until_ms, pardoned_at_ms',
  (row): StoredKey => ({
    id: String(row.id),
    workspaceId: Number(row.workspaceId),
    workspace: String(row.workspace),
    plan: row.plan as Plan,
    ...(row.perMinute !== null && {
      quota: { perMinute: Number(row.perMinute), perDay: Number(row.perDay) },
    }),
    ...(row.label !== null && { label: String(row.label) }),
    ...(row.origin !== null && { origin: row.origin as KeyOrigin }),
    createdAtMs: Number(row.createdAtMs),
    ...(row.revokedAtMs !== null && { revokedAtMs: Number(row.revokedAtMs) }),
    ...(row.previousUntilMs !== null && { oldSecretUntilMs: Number(row.previousUntilMs) }),
    banClearedAtMs: Number(row.pardonedAtMs),
  }),
);
const storedKeys = fragment`
  select ${keyColumns.list} from (
    select k.*, w.name as workspace from api_keys k join workspaces w on w.id = k.workspace_id
  ) stored_keys`;

/** Every key, including revoked ones, in the order of creation. */
export async function listKeys(sql: Sql): Promise<StoredKey[]> {
  const rows = await sql`${storedKeys} order by created_at_ms, id`;
  return rows.map(keyColumns.read);
}

export async function findKey(sql: Sql, id: string): Promise<StoredKey | undefined> {
  const [row] = await sql`${storedKeys} where id = ${id}`;
  return row && keyColumns.read(row);
}

/** Revokes a key for good; the time of the first revocation stays. Returns whether there is such a key. */
export async function revokeKey(sql: Sql, id: string, nowMs: number): Promise<boolean> {
  const rows = await sql`
    update api_keys set revoked_at_ms = coalesce(revoked_at_ms, ${nowMs}) where id = ${id} returning id`;
  return rows.length > 0;
}

/** Gives a key another plan. Returns whether there is such a key. */
export async function setPlan(sql: Sql, id: string, plan: Plan, quota: Quota | undefined): Promise<boolean> {
  const rows = await sql`
    update api_keys
    set plan = ${plan}, per_minute = ${quota?.perMinute ?? null}, per_day = ${quota?.perDay ?? null}
    where id = ${id} returning id`;
  return rows.length > 0;
}

/** Ends the bans of a key that began until now. Returns whether there is such a key. */
export async function clearBan(sql: Sql, id: string, nowMs: number): Promise<boolean> {
  const rows = await sql`update api_keys set pardoned_at_ms = ${nowMs} where id = ${id} returning id`;
  return rows.length > 0;
}
