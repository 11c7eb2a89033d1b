import { isLive, lockKey } from '../../access/keys/store.ts';
import type { Bannable } from '../../access/limits/limiter.ts';
import type { Sql } from '../../db/sql.ts';
import { maxStreams } from '../../foundation/settings/plans.ts';

interface OpenStream {
  workspaceId: number;
  id: string;
  keyId: string;
  instance: string;
}

/** In a transaction: adds a stream, deletes the oldest beyond the limit of its key. Throws `unauthorized` for a revoked key. */
export async function addStream(
  sql: Sql,
  { workspaceId, id, keyId, instance }: OpenStream,
  nowMs: number,
): Promise<void> {
  // Locks the key, so that streams are counted one by one.
  const plan = await lockKey(sql, { workspaceId, keyId });
  // Later than the streams before it, even if the clock of this instance is behind.
  await sql`
    insert into streams (workspace_id, id, key_id, instance, opened_at_ms, seen_at_ms)
    select ${workspaceId}, ${id}, ${keyId}, ${instance}, coalesce(max(opened_at_ms) + 1, ${nowMs}), ${nowMs} from streams
    where workspace_id = ${workspaceId} and key_id = ${keyId} and opened_at_ms >= ${nowMs}`;
  await sql`
    delete from streams where workspace_id = ${workspaceId} and key_id = ${keyId} and opened_at_ms < (
      select min(opened_at_ms) from (
        select opened_at_ms from streams where workspace_id = ${workspaceId} and key_id = ${keyId}
        order by opened_at_ms desc limit ${maxStreams[plan]}) newest)`;
}

/** Counts the open streams of a key on all instances. */
export async function countStreams(
  sql: Sql,
  { workspaceId, keyId }: Pick<OpenStream, 'workspaceId' | 'keyId'>,
): Promise<number> {
  const [row] = await sql`
    select count(*) from streams where workspace_id = ${workspaceId} and key_id = ${keyId}`;
  return Number(row?.[0]);
}

export async function deleteStream(
  sql: Sql,
  { workspaceId, id }: Pick<OpenStream, 'workspaceId' | 'id'>,
): Promise<void> {
  await sql`delete from streams where workspace_id = ${workspaceId} and id = ${id}`;
}

/** Ends all streams of a key within a second, on all instances. */
export async function deleteStreamsOfKey(
  sql: Sql,
  { workspaceId, keyId }: Pick<OpenStream, 'workspaceId' | 'keyId'>,
): Promise<void> {
  await sql`delete from streams where workspace_id = ${workspaceId} and key_id = ${keyId}`;
}

/** How long after its end an old secret may still open a stream: caches of keys and clocks of instances are late. */
const lateMs = 1_000;

/**
 * The keys of the streams of an instance, by the ids of the streams. Deleted streams and revoked keys are left out, and so are streams that
 * may have been opened with a secret that has ended.
 */
export async function findStreams(sql: Sql, instance: string, nowMs: number): Promise<Map<string, Bannable>> {
  const rows = await sql`
    select s.id, k.workspace_id, k.id, k.pardoned_at_ms from streams s
    join api_keys k on k.workspace_id = s.workspace_id and k.id = s.key_id
    where s.instance = ${instance} and ${isLive} and (
      k.previous_until_ms is null or k.previous_until_ms > ${nowMs - lateMs}
      or s.opened_at_ms > k.previous_until_ms + ${lateMs})`;
  return new Map(
    rows.map(([id, workspaceId, keyId, banClearedAtMs]) => [
      String(id),
      { workspaceId: Number(workspaceId), id: String(keyId), banClearedAtMs: Number(banClearedAtMs) },
    ]),
  );
}

export async function deleteStreamsOf(sql: Sql, instance: string): Promise<void> {
  await sql`delete from streams where instance = ${instance}`;
}

/** Updates when an instance was seen, and deletes the streams of instances that were not seen since `deadSinceMs`. */
export async function touchStreams(
  sql: Sql,
  instance: string,
  nowMs: number,
  deadSinceMs: number,
): Promise<void> {
  await sql`update streams set seen_at_ms = ${nowMs} where instance = ${instance}`;
  await sql`delete from streams where seen_at_ms < ${deadSinceMs}`;
}
