import { type Fragment, fragment, identifier, type Sql } from '../db/sql.ts';
import { toTime } from '../instant.ts';
import { maxKept } from './bounds.ts';

/** Whose rehearsal or recording it is. */
export interface Owner {
  workspaceId: number;
  keyId: string;
}

/** What a key is bound to: its rows, and the column of the key that names the active one. */
interface Kind {
  rows: Fragment;
  column: Fragment;
}

export const rehearsals: Kind = { rows: identifier('rehearsals'), column: identifier('rehearsal_id') };
export const recordings: Kind = { rows: identifier('recordings'), column: identifier('recording_id') };

const ofKey = ({ workspaceId, keyId }: Owner) =>
  fragment`workspace_id = ${workspaceId} and key_id = ${keyId}`;

const isActive = (nowMs: number) => fragment`ended_at_ms is null and expires_at_ms > ${nowMs}`;

/** Ends the active one of a key, if there is one. */
export const endActive = (sql: Sql, { rows }: Kind, owner: Owner, nowMs: number) => sql`
  update ${rows} set ended_at_ms = ${nowMs} where ${ofKey(owner)} and ${isActive(nowMs)}`;

/** Binds a key to a new one. Removes the oldest that are too many, and returns their ids. */
export async function bind(sql: Sql, { rows, column }: Kind, owner: Owner, id: string): Promise<string[]> {
  const { workspaceId, keyId } = owner;
  const removed = await sql`
    delete from ${rows} where ${ofKey(owner)} and id <> ${id} and id not in (
      select id from ${rows} where ${ofKey(owner)} and id <> ${id}
      order by created_at_ms desc, id desc limit ${maxKept - 1})
    returning id`;
  await sql`
    update api_keys set ${column} = ${id} where workspace_id = ${workspaceId} and id = ${keyId}`;
  return removed.map(([old]) => String(old));
}

/** Ends one of a key, unless it is over, and unbinds the key. Returns whether the key has it. */
export async function end(sql: Sql, kind: Kind, owner: Owner, id: string, nowMs: number): Promise<boolean> {
  const found = await sql`
    update ${kind.rows} set ended_at_ms = case when ${isActive(nowMs)} then ${nowMs} else ended_at_ms end
    where ${ofKey(owner)} and id = ${id} returning id`;
  if (found.length > 0) await unbind(sql, kind, owner, id);
  return found.length > 0;
}

/** Unbinds a key, if it is bound to this one. */
export const unbind = (sql: Sql, { column }: Kind, { workspaceId, keyId }: Owner, id: string) => sql`
  update api_keys set ${column} = null
  where workspace_id = ${workspaceId} and id = ${keyId} and ${column} = ${id}`;

/** The active one of a key. */
export async function findActive(
  sql: Sql,
  { rows }: Kind,
  owner: Owner,
  nowMs: number,
): Promise<{ id: string; expiresAt: string } | undefined> {
  const [row] = await sql`
    select id, expires_at_ms from ${rows} where ${ofKey(owner)} and ${isActive(nowMs)}
    order by created_at_ms desc, id desc limit 1`;
  return row && { id: String(row[0]), expiresAt: toTime(row[1]) };
}
