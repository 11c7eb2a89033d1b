import { fragment, identifier, type Sql } from '../../src/db/sql.ts';
import { tables } from '../../src/db/tables.ts';

/** All stored rows of one workspace, or of all of them, to see whether something changed. */
export async function contentOf(sql: Sql, workspaceId?: number): Promise<string> {
  const where = workspaceId === undefined ? fragment`` : fragment`where workspace_id = ${workspaceId}`;
  const rows = tables
    .filter(({ dataKind }) => dataKind !== 'access')
    .map(({ name }) => sql`select * from ${identifier(name)} ${where} order by 1, 2`);
  return JSON.stringify(await Promise.all(rows));
}

/** The tables that have rows of a workspace. */
export async function filledTables(sql: Sql, workspaceId: number): Promise<string[]> {
  const names = tables.map(({ name }) => name);
  const rows = names.map(
    (name) => sql`select 1 from ${identifier(name)} where workspace_id = ${workspaceId} limit 1`,
  );
  const found = await Promise.all(rows);
  return names.filter((_, i) => found[i]?.length);
}
