import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { revokeKeysOf } from '../../access/keys/store.ts';
import type { Database, Transaction, WriteContext } from '../../db/database.ts';
import { restartIds } from '../../db/ids.ts';
import { type Fragment, fragment, identifier, type Row, type Sql } from '../../db/sql.ts';
import {
  type ContentKind,
  type Counted,
  contentKinds,
  contentTables,
  counts,
  keptTables,
  leafTables,
  rowKinds,
  tables,
} from '../../db/tables.ts';
import { event } from '../history/event.ts';
import { recordEvent } from '../history/record.ts';

/** The demo workspace, and the default of commands. */
export const demoWorkspace = 'demo';

/** The rule for names of workspaces, to follow "must be" in a message. */
export const workspaceNameRule = '1 to 63 characters: a-z, 0-9 and "-", but no "-" at the start';

export const isWorkspaceName = (text: unknown): text is string =>
  typeof text === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(text);

/** A workspace as the operator sees it. Times are milliseconds since 1970. */
export interface Workspace {
  id: number;
  name: string;
  createdAtMs: number;
}

type Named = Pick<Workspace, 'id' | 'name'>;

const Nothing = Type.Object({}, { description: 'An empty object.' });

export const workspaceReset = event({
  type: 'workspace.reset',
  data: Nothing,
  meaning:
    'All or part of the data was removed, or the service was restored from a backup. Read the lists again. The history continues.',
});

export const workspaceSeeded = event({
  type: 'workspace.seeded',
  data: Nothing,
  meaning: 'Many resources were added at once, without an event for each. Read the lists again.',
});

export const workspaceEvents = [workspaceReset, workspaceSeeded] as const;

/** This many rows of maximum length are deleted in 20 ms. Other writes wait that long. */
const rowsPerTransaction = 1_000;
/** Longer than 5 ms, the interval in which another process tries to lock SQLite. */
const pauseMs = 10;

/** Creates an empty workspace. Its name must be free. */
export async function createWorkspace(sql: Sql, name: string, nowMs: number): Promise<Workspace> {
  const [row] = await sql`
    insert into workspaces (name, created_at_ms) values (${name}, ${nowMs}) returning id`;
  const id = Number(row?.[0]);
  await restartIds(sql, id, rowKinds);
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

/** Locks a workspace until the transaction ends. Throws if it was deleted, also if another one has its name now. */
export async function assertStillThere(sql: Sql, { id, name }: Named): Promise<void> {
  const [row] = await sql`update workspaces set created_at_ms = created_at_ms where id = ${id} returning id`;
  if (!row) throw new Error(`There is no workspace ${name} any more: it was deleted meanwhile.`);
}

/** All workspaces in the order of creation, or the one with a name, with their counts. */
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

/** The number of rows of content in a workspace, by table. Counts no table beyond `atMost`. */
export async function countContent(
  sql: Sql,
  workspaceId: number,
  atMost: number,
): Promise<Record<ContentKind, number>> {
  const counted = contentKinds.map(async (table) => {
    const [row] = await sql`
      select count(*) from (
        select 1 from ${identifier(table)} where workspace_id = ${workspaceId} limit ${atMost}) some_rows`;
    return [table, Number(row?.[0])];
  });
  return Object.fromEntries(await Promise.all(counted));
}

/** Removes all but keys, limits and history, and restarts ids at 1. Kept answers about removed content become void. */
export async function clearWorkspace(sql: Transaction, workspaceId: number): Promise<void> {
  await sql`update workspaces set resets = resets + 1 where id = ${workspaceId}`;
  // Same lock order as requests. Once the sequences are locked, nobody can add a row: the second deletion removes the rest.
  await deleteRows(sql, workspaceId, leafTables);
  await restartIds(sql, workspaceId, contentKinds);
  await deleteRows(sql, workspaceId, contentTables);
  recordEvent(sql, workspaceId, workspaceReset, {});
}

/** Removes a workspace with everything in it, and its keys. */
export async function deleteWorkspace(sql: Transaction, workspaceId: number): Promise<void> {
  await clearWorkspace(sql, workspaceId);
  await deleteRows(sql, workspaceId, keptTables);
  await sql`delete from workspaces where id = ${workspaceId}`;
}

/** Removes all workspaces with everything in them, the accounts of addresses, and all invites. */
export async function deleteAllWorkspaces(sql: Sql): Promise<void> {
  for (const { name } of tables) await sql`delete from ${identifier(name)}`;
  await sql`delete from workspaces`;
  await sql`delete from invites`;
}

/** Categories of the remaining pets must stay. */
const unusedCategories = fragment`and not exists (
  select 1 from pets where pets.workspace_id = categories.workspace_id and pets.category_id = categories.id)`;

/**
 * Removes most content of a large workspace in short transactions, so that others can write meanwhile. Call clearWorkspace or
 * deleteWorkspace afterwards to remove the rest. `onDeleted` gets the number of rows of each transaction.
 */
export async function deleteInBatches(
  db: Database,
  workspace: Named,
  context: WriteContext,
  onDeleted = (_rows: number) => {},
): Promise<void> {
  const workspaceId = workspace.id;
  for (const table of contentTables) {
    const unused = table === 'categories' ? unusedCategories : fragment``;
    // Ids do not show how many rows there are: after a restore they continue far ahead.
    for (let from = 0; ; ) {
      const [next] = await db.read`
        select id from ${identifier(table)} where workspace_id = ${workspaceId} and id >= ${from}
        order by id limit 1 offset ${rowsPerTransaction}`;
      if (!next) break;
      const [first, behind] = [from, Number(next[0])];
      const deleted = await db.write(async (sql) => {
        await assertStillThere(sql, workspace);
        const rows = await sql`
          delete from ${identifier(table)}
          where workspace_id = ${workspaceId} and id >= ${first} and id < ${behind} ${unused}
          returning id`;
        recordEvent(sql, workspaceId, workspaceReset, {});
        return rows.length;
      }, context);
      from = behind;
      onDeleted(deleted);
      await sleep(pauseMs);
    }
  }
}

/** Tables with many long rows, and the key of a row within the workspace. */
const longTables = [
  { name: 'idempotency_keys', row: fragment`key` },
  { name: 'recorded_requests', row: fragment`recording_id, number` },
  { name: 'deliveries', row: fragment`id` },
  { name: 'events', row: fragment`id` },
] as const satisfies { name: (typeof keptTables)[number]; row: Fragment }[];
const longRowsPerTransaction = 200;

/**
 * Begins to delete a workspace. Revokes its keys, so that no request uses it meanwhile, and removes its long rows in short transactions.
 * Call deleteInBatches and deleteWorkspace afterwards. `onDeleted` gets the number of rows of each transaction.
 */
export async function closeWorkspace(
  db: Database,
  workspace: Named,
  context: WriteContext,
  onDeleted = (_rows: number) => {},
): Promise<void> {
  const workspaceId = workspace.id;
  await db.write(async (sql) => {
    await assertStillThere(sql, workspace);
    await endAccess(sql, workspaceId, context.atMs);
  }, context);
  for (const { name, row } of longTables) {
    const table = identifier(name);
    for (let count = longRowsPerTransaction; count === longRowsPerTransaction; await sleep(pauseMs)) {
      const rows = await db.write(
        (sql) => sql`
          delete from ${table} where workspace_id = ${workspaceId} and (${row}) in (
            select ${row} from ${table} where workspace_id = ${workspaceId} limit ${longRowsPerTransaction})
          returning 1`,
        context,
      );
      count = rows.length;
      onDeleted(count);
    }
  }
}

/** Deletes a workspace with everything in it, in short transactions, so that others can write meanwhile. Begins with its keys. */
export async function deleteWhole(
  db: Database,
  workspace: Named,
  nowMs: number,
  onDeleted?: (rows: number) => void,
): Promise<void> {
  const context = { atMs: nowMs, workspaceId: workspace.id };
  await closeWorkspace(db, workspace, context, onDeleted);
  await deleteInBatches(db, workspace, context, onDeleted);
  await db.write(async (sql) => {
    await assertStillThere(sql, workspace);
    await deleteWorkspace(sql, workspace.id);
  }, context);
}

/** Ends every use of a workspace: revokes its keys and removes its webhooks. */
export async function endAccess(sql: Sql, workspaceId: number, nowMs: number): Promise<void> {
  await deleteRows(sql, workspaceId, ['webhooks']);
  await revokeKeysOf(sql, workspaceId, nowMs);
}

async function deleteRows(sql: Sql, workspaceId: number, tables: readonly string[]): Promise<void> {
  for (const table of tables) await sql`delete from ${identifier(table)} where workspace_id = ${workspaceId}`;
}

const toWorkspace = ([id, name, createdAtMs]: Row): Workspace => ({
  id: Number(id),
  name: String(name),
  createdAtMs: Number(createdAtMs),
});
