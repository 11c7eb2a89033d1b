import assert from 'node:assert/strict';
import type { Row, Sql } from '../../src/db/sql.ts';
import { tables } from '../../src/db/tables.ts';

/** The catalog of an engine: each column as table, name, whether it is an integer and whether it is in the key. */
interface Catalog {
  columns: (sql: Sql) => Promise<Row[]>;
  /** Each foreign key as the referring table and the referenced one. */
  references: (sql: Sql) => Promise<Row[]>;
}

export const sqliteCatalog: Catalog = {
  columns: (sql) => sql`
    select t.name, c.name, c.type = 'INTEGER', c.pk > 0 from sqlite_master t, pragma_table_info(t.name) c
    where t.type = 'table' order by t.name, c.cid`,
  references: (sql) => sql`
    select t.name, k."table" from sqlite_master t, pragma_foreign_key_list(t.name) k where t.type = 'table'`,
};

export const postgresCatalog: Catalog = {
  columns: (sql) => sql`
    select t.relname, c.attname, (c.atttypid = 'bigint'::regtype)::integer, (c.attnum = any(k.indkey))::integer
    from pg_class t
    join pg_attribute c on c.attrelid = t.oid and c.attnum > 0
    join pg_index k on k.indrelid = t.oid and k.indisprimary
    where t.relkind = 'r' and t.relnamespace = current_schema()::text::regnamespace order by t.relname, c.attnum`,
  references: (sql) => sql`
    select t.relname, o.relname from pg_constraint k
    join pg_class t on t.oid = k.conrelid join pg_class o on o.oid = k.confrelid
    where k.contype = 'f' and t.relnamespace = current_schema()::text::regnamespace`,
};

/** Compares the declarations of `src/db/tables.ts` with the tables of a database. */
export async function assertDeclared(sql: Sql, { columns, references }: Catalog): Promise<void> {
  const byTable = Map.groupBy(await columns(sql), ([table]) => String(table));
  const ofWorkspaces = [...byTable.keys()].filter((table) =>
    byTable.get(table)?.some(([, name]) => name === 'workspace_id'),
  );
  assert.deepEqual(tables.map(({ name }) => name).sort(), ofWorkspaces.sort());

  for (const table of tables) {
    const columns = byTable.get(table.name) as Row[];
    const [first, second] = columns;
    assert.deepEqual(first, [table.name, 'workspace_id', 1, 1]);
    assert.match(
      columns.map(([, , , isKey]) => isKey).join(''),
      /^111?0*$/,
      `the key of ${table.name} comes first`,
    );
    const hasIds = second?.[1] === 'id' && second[2] === 1;
    assert.equal(hasIds, 'hasIds' in table, `${table.name} has ids`);
  }

  assert.match(
    tables.map(({ dataKind }) => dataKind).join(' '),
    /^responses (content )+sequences( content)*( access)+( responses)?( history)*$/,
  );
  const placeOf = (table: unknown) => tables.findIndex(({ name }) => name === table);
  const between = (await references(sql)).filter(([, to]) => placeOf(to) >= 0);
  assert.ok(between.length > 0);
  for (const [from, to] of between) {
    assert.ok(placeOf(from) < placeOf(to), `${from}, which refers to ${to}, stands above it`);
    assert.ok(placeOf('sequences') < placeOf(to), `${to}, to which ${from} refers, stands below sequences`);
  }
}
