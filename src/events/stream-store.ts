import type { Sql } from '../db/sql.ts';
import { unauthorized } from '../errors.ts';
import type { Bannable } from '../limits/limiter.ts';
import { maxStreams, type Plan } from '../limits/plans.ts';

/** A stream that is open on some instance. */
export interface OpenStream {
  workspaceId: number;
  id: string;
  keyId: string;
  instance: string;
}

/**
 * Adds a stream, in a transaction, and removes the oldest of its key beyond those that its plan allows at once. Throws
 * `unauthorized` if the key was revoked meanwhile.
 */
export async function addStream(
  sql: Sql,
  { workspaceId, id, keyId, instance }: OpenStream,
  nowMs: number,
): Promise<void> {
  // Locks the key, so that streams that open at once are counted one by one.
  const [key] = await sql`
    update api_keys set plan = plan where workspace_id = ${workspaceId} and id = ${keyId} and revoked_at_ms is null
    returning plan`;
  if (!key) throw unauthorized('The API key is unknown or revoked.', 'invalid_token');
  // Later than those before it, whatever the clock of its instance.
  await sql`
    insert into streams (workspace_id, id, key_id, instance, opened_at_ms, seen_at_ms)
    select ${workspaceId}, ${id}, ${keyId}, ${instance}, coalesce(max(opened_at_ms) + 1, ${nowMs}), ${nowMs} from streams
    where workspace_id = ${workspaceId} and key_id = ${keyId} and opened_at_ms >= ${nowMs}`;
  await sql`
    delete from streams where workspace_id = ${workspaceId} and key_id = ${keyId} and opened_at_ms < (
      select min(opened_at_ms) from (
        select opened_at_ms from streams where workspace_id = ${workspaceId} and key_id = ${keyId}
        order by opened_at_ms desc limit ${maxStreams[key[0] as Plan]}) newest)`;
}

/** How many streams a key has open on all instances. */
export async function countStreams(
  sql: Sql,
  { workspaceId, keyId }: Pick<OpenStream, 'workspaceId' | 'keyId'>,
): Promise<number> {
  const [row] = await sql`
    select count(*) from streams where workspace_id = ${workspaceId} and key_id = ${keyId}`;
  return Number(row?.[0]);
}

export async function removeStream(
  sql: Sql,
  { workspaceId, id }: Pick<OpenStream, 'workspaceId' | 'id'>,
): Promise<void> {
  await sql`delete from streams where workspace_id = ${workspaceId} and id = ${id}`;
}

/** The streams of an instance that may go on, by their ids, with their keys. Not those whose key was revoked or which were removed. */
export async function findStreams(sql: Sql, instance: string): Promise<Map<string, Bannable>> {
  const rows = await sql`
    select s.id, k.workspace_id, k.id, k.pardoned_at_ms from streams s
    join api_keys k on k.workspace_id = s.workspace_id and k.id = s.key_id
    where s.instance = ${instance} and k.revoked_at_ms is null`;
  return new Map(
    rows.map(([id, workspaceId, keyId, pardonedAtMs]) => [
      String(id),
      { workspaceId: Number(workspaceId), id: String(keyId), pardonedAtMs: Number(pardonedAtMs) },
    ]),
  );
}

export async function removeStreamsOf(sql: Sql, instance: string): Promise<void> {
  await sql`delete from streams where instance = ${instance}`;
}

/** Notes that an instance lives, and removes the streams of those that were not seen since `deadSinceMs`. */
export async function noteAlive(
  sql: Sql,
  instance: string,
  nowMs: number,
  deadSinceMs: number,
): Promise<void> {
  await sql`update streams set seen_at_ms = ${nowMs} where instance = ${instance}`;
  await sql`delete from streams where seen_at_ms < ${deadSinceMs}`;
}
