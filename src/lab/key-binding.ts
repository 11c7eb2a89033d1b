import type { Caller } from '../access/keys/store.ts';
import { type Fragment, fragment, identifier, type Sql } from '../db/sql.ts';
import { ApiError } from '../foundation/errors.ts';
import { toTime } from '../foundation/time.ts';

/** The key that a rehearsal or a recording belongs to. */
export interface Owner {
  workspaceId: number;
  keyId: string;
}

/** Rehearsals or recordings: their table, and the column of `api_keys` that names the last one. */
interface Binding {
  rows: Fragment;
  column: Fragment;
  /** The id of the last one of a caller, which may be over. */
  of(caller: Pick<Caller, 'bindings'> | undefined): string | undefined;
  /** Throws `not_found`: the key has none with this id. */
  noSuch(): never;
}

/** The columns that each `Caller` brings with it. */
export const bindingColumns = ['rehearsal_id', 'recording_id'] as const;

const binding = (kind: 'rehearsal' | 'recording'): Binding => ({
  rows: identifier(`${kind}s`),
  column: identifier(`${kind}_id`),
  of: (caller) => caller?.bindings[`${kind}_id`],
  noSuch: () => {
    throw new ApiError('not_found', `This key has no ${kind} with this ${kind}Id.`);
  },
});

export const rehearsals = binding('rehearsal');
export const recordings = binding('recording');

const ofKey = ({ workspaceId, keyId }: Owner) =>
  fragment`workspace_id = ${workspaceId} and key_id = ${keyId}`;

export const isActive = (nowMs: number) => fragment`ended_at_ms is null and expires_at_ms > ${nowMs}`;

/** Ends the active one of a key, if there is one. */
export const endActive = (sql: Sql, { rows }: Binding, owner: Owner, nowMs: number) => sql`
  update ${rows} set ended_at_ms = ${nowMs} where ${ofKey(owner)} and ${isActive(nowMs)}`;

/** Binds a key to a new one. */
export const bind = (sql: Sql, { column }: Binding, { workspaceId, keyId }: Owner, id: string) => sql`
  update api_keys set ${column} = ${id} where workspace_id = ${workspaceId} and id = ${keyId}`;

/** Ends one of a key, unless it has ended, and unbinds the key. Throws `not_found` if the key has none with this id. */
export async function end(
  sql: Sql,
  binding: Binding,
  owner: Owner,
  id: string,
  nowMs: number,
): Promise<void> {
  const found = await sql`
    update ${binding.rows} set ended_at_ms = case when ${isActive(nowMs)} then ${nowMs} else ended_at_ms end
    where ${ofKey(owner)} and id = ${id} returning id`;
  if (found.length === 0) binding.noSuch();
  await unbind(sql, binding, owner, id);
}

/** Unbinds a key if it is bound to this id. */
export const unbind = (sql: Sql, { column }: Binding, { workspaceId, keyId }: Owner, id: string) => sql`
  update api_keys set ${column} = null
  where workspace_id = ${workspaceId} and id = ${keyId} and ${column} = ${id}`;

export async function findActive(
  sql: Sql,
  { rows }: Binding,
  owner: Owner,
  nowMs: number,
): Promise<{ id: string; expiresAt: string } | undefined> {
  const [row] = await sql`
    select id, expires_at_ms from ${rows} where ${ofKey(owner)} and ${isActive(nowMs)}
    order by created_at_ms desc, id desc limit 1`;
  return row && { id: String(row[0]), expiresAt: toTime(row[1]) };
}
