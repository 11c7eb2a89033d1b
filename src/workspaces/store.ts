import type { Cause, Database, Transaction } from '../db/database.ts';
import { ForeignKeyError, fragment, identifier, type Row, type Sql } from '../db/sql.ts';
import {
  type Counted,
  contentKinds,
  contentTables,
  counts,
  type Kind,
  keptTables,
  kinds,
  leafTables,
  tables,
  thinnedTables,
} from '../db/tables.ts';
import { unauthorized } from '../errors.ts';
import { record } from '../history/record.ts';

/** The workspace of the demonstration, which commands use if none is named. */
export const demoWorkspace = 'demo';

/** A workspace as the operator sees it. Times are milliseconds since 1970. */
export interface Workspace {
  id: number;
  name: string;
  createdAtMs: number;
}

type Named = Pick<Workspace, 'id' | 'name'>;

const rowsPerTransaction = 10_000;

/** Creates a workspace without content. Its name must be free. */
export async function createWorkspace(sql: Sql, name: string, nowMs: number): Promise<Workspace> {
  const [row] = await sql`
    insert into workspaces (name, created_at_ms) values (${name}, ${nowMs}) returning id`;
  const id = Number(row?.[0]);
  await restartSequences(sql, id, kinds);
  return { id, name, createdAtMs: nowMs };
}

export async function findWorkspace(sql: Sql, name: string): Promise<Workspace | undefined> {
  const [row] = await sql`select id, name, created_at_ms from workspaces where name = ${name}`;
  return row && toWorkspace(row);
}

/** The workspace with this name, locked until the transaction ends. */
export async function lockWorkspace(sql: Sql, name: string): Promise<Workspace | undefined> {
  const [row] = await sql`
    update workspaces set created_at_ms = created_at_ms where name = ${name} returning id, name, created_at_ms`;
  return row && toWorkspace(row);
}

/** Locks a workspace until the transaction ends. Throws if it was deleted, also if another has its name now. */
export async function assertStillThere(sql: Sql, { id, name }: Named): Promise<void> {
  const [row] = await sql`update workspaces set created_at_ms = created_at_ms where id = ${id} returning id`;
  if (!row) throw new Error(`There is no workspace ${name} any more: it was deleted meanwhile.`);
}

/** Every workspace with its counts, in the order of creation, or the one with this name. */
export async function listWorkspaces(
  sql: Sql,
  name?: string,
): Promise<(Workspace & Record<Counted, number>)[]> {
  const named = name === undefined ? fragment`` : fragment`where name = ${name}`;
  const rows = await sql`select id, name, created_at_ms from workspaces ${named} order by id`;
  const workspaces = rows.map(toWorkspace);
  const of = name === undefined ? fragment`` : fragment`where workspace_id = ${workspaces[0]?.id ?? 0}`;
  const counted = counts.map(async ([table, countedAs]) => {
    const numbers =
      await sql`select workspace_id, count(*) from ${identifier(table)} ${of} group by workspace_id`;
    return [countedAs, new Map(numbers.map(([id, count]) => [id, Number(count)]))] as const;
  });
  const all = await Promise.all(counted);
  return workspaces.map((workspace) => {
    const own = all.map(([countedAs, numbers]) => [countedAs, numbers.get(workspace.id) ?? 0]);
    return { ...workspace, ...(Object.fromEntries(own) as Record<Counted, number>) };
  });
}

/** How many rows of content a workspace holds, by table. None is counted beyond `atMost`. */
export async function countContent(
  sql: Sql,
  workspaceId: number,
  atMost: number,
): Promise<Record<(typeof contentTables)[number], number>> {
  const counted = contentTables.map(async (table) => {
    const [row] = await sql`
      select count(*) from (
        select 1 from ${identifier(table)} where workspace_id = ${workspaceId} limit ${atMost}) some_rows`;
    return [table, Number(row?.[0])];
  });
  return Object.fromEntries(await Promise.all(counted));
}

/** Removes everything in a workspace except its keys, their limits and its history, and restarts its ids at 1. */
export async function clearWorkspace(sql: Transaction, workspaceId: number): Promise<void> {
  // Rows are locked in the order in which requests lock them. Once the sequences are locked, nobody can add a
  // row, and rows that other connections added before are removed, too.
  await deleteContent(sql, workspaceId, leafTables);
  await restartSequences(sql, workspaceId, contentKinds);
  await deleteContent(sql, workspaceId, contentTables);
  record(sql, workspaceId, 'workspace.reset', {});
}

/** Removes a workspace, what is in it, and its keys. */
export async function deleteWorkspace(sql: Transaction, workspaceId: number): Promise<void> {
  await clearWorkspace(sql, workspaceId);
  await deleteRows(sql, workspaceId, ['idempotency_keys', 'sequences', ...keptTables]);
  await sql`delete from workspaces where id = ${workspaceId}`;
}

/** Removes all workspaces with all that is in them, and what is kept of addresses. */
export async function deleteAllWorkspaces(sql: Sql): Promise<void> {
  for (const { name } of tables) await sql`delete from ${identifier(name)}`;
  await sql`delete from workspaces`;
}

/**
 * Removes most of a large workspace in short transactions, so that others can write meanwhile. What remains is left to
 * clearWorkspace or deleteWorkspace.
 */
export async function thinOut(db: Database, workspace: Named, cause: Cause): Promise<void> {
  const workspaceId = workspace.id;
  for (const table of thinnedTables) {
    const [row] = await db.read`
      select last_id from sequences where workspace_id = ${workspaceId} and kind = ${table}`;
    for (let upTo = rowsPerTransaction; upTo < Number(row?.[0] ?? 0); upTo += rowsPerTransaction) {
      await db.write(async (sql) => {
        await assertStillThere(sql, workspace);
        await sql`delete from ${identifier(table)} where workspace_id = ${workspaceId} and id <= ${upTo}`;
        record(sql, workspaceId, 'workspace.reset', {});
      }, cause);
    }
  }
}

/** Webhooks and what the lab holds outlive their workspace's content. Requests that made or changed them must not happen twice. */
async function deleteContent(sql: Sql, workspaceId: number, tables: readonly string[]): Promise<void> {
  await sql`
    delete from idempotency_keys where workspace_id = ${workspaceId}
      and fingerprint not like '/v1/store/webhooks%' and fingerprint not like '/lab/%'`;
  await deleteRows(
    sql,
    workspaceId,
    tables.filter((table) => table !== 'idempotency_keys'),
  );
}

async function deleteRows(sql: Sql, workspaceId: number, tables: string[]): Promise<void> {
  for (const table of tables) await sql`delete from ${identifier(table)} where workspace_id = ${workspaceId}`;
}

/** Restarts the ids of some kinds at 1, also of kinds that are newer than the workspace, and locks their sequences. */
async function restartSequences(sql: Sql, workspaceId: number, some: readonly Kind[]): Promise<void> {
  for (const kind of some) {
    await sql`
      insert into sequences (workspace_id, kind, last_id) values (${workspaceId}, ${kind}, 0)
      on conflict (workspace_id, kind) do update set last_id = 0`;
  }
}

/**
 * The first of `count` new ids, taken in the transaction that uses them. No id is used twice. A statement that is sent with this
 * one finds the last of them in `sequences`. Throws `unauthorized` if the workspace was deleted while a request on it was under
 * way.
 */
export async function allocateIds(sql: Sql, workspaceId: number, kind: Kind, count = 1): Promise<number> {
  // A workspace may be older than a kind of rows, and has no sequence for it then. One that is gone breaks the foreign key.
  const [row] = await sql`
    insert into sequences (workspace_id, kind, last_id) values (${workspaceId}, ${kind}, ${count})
    on conflict (workspace_id, kind) do update set last_id = sequences.last_id + excluded.last_id
    returning last_id`.catch(refuseDeleted);
  return Number(row?.[0]) - count + 1;
}

function refuseDeleted(error: unknown): never {
  if (!(error instanceof ForeignKeyError)) throw error;
  throw unauthorized('The workspace of this API key was deleted.', 'invalid_token');
}

const toWorkspace = ([id, name, createdAtMs]: Row): Workspace => ({
  id: Number(id),
  name: String(name),
  createdAtMs: Number(createdAtMs),
});
