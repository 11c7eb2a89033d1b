import { after } from 'node:test';
import { Client } from 'pg';
import type { Database } from '../../src/db/database.ts';
import { openStorage } from '../../src/db/open.ts';
import { dataPlace, type Lifetime, temporaryFolder } from './folder.ts';
import { isPooled } from './postgres-cluster.ts';
import { until } from './until.ts';

/** The PostgreSQL database for tests instead of SQLite. Each test has its own schema in it. */
export const testDatabaseUrl = process.env.PETSTORE_TEST_DATABASE_URL;

/** Why a test about SQLite's own files is skipped; false if it runs. */
export const aboutSqlite = testDatabaseUrl ? 'it is about the files of SQLite' : false;

const schemas: string[] = [];
after(async () => {
  for (const schema of schemas) await until(() => drop(schema));
});

/** PostgreSQL may still work for a killed service. Its locks can cause a deadlock, and then the removal is tried again. */
const drop = (schema: string) =>
  run(testDatabaseUrl as string, `drop schema "${schema}" cascade`).then(
    () => true,
    ({ code }) => code !== deadlock && Promise.reject(new Error(`${schema} cannot be dropped: ${code}`)),
  );
const deadlock = '40P01';

/** An empty folder for a petstore's data, removed when the test ends. On PostgreSQL also an empty schema. */
export async function temporaryStorage(t: Lifetime): Promise<string> {
  const folder = temporaryFolder(t, dataPlace());
  const schema = schemaOf(folder);
  if (testDatabaseUrl && schema) {
    await createSchema(testDatabaseUrl, schema);
    schemas.push(schema);
  }
  return folder;
}

/** The address of the database for a folder of temporaryStorage; undefined for SQLite. */
export function databaseUrlOf(folder: string): string | undefined {
  const schema = schemaOf(folder);
  return testDatabaseUrl && schema && withSchema(testDatabaseUrl, schema);
}

/** Longer than the delays of PostgreSQL on a busy machine. */
const deadlineMs = 30_000;

/** Opens the storage for a folder of temporaryStorage. */
export const openTestStorage = (folder: string): Promise<Database> =>
  openStorage({ dataDir: folder, databaseUrl: databaseUrlOf(folder) }, { deadlineMs });

/** Creates an empty schema. PgBouncer keeps no search path for a connection, so behind it the schema has its own role. */
export async function createSchema(databaseUrl: string, schema: string): Promise<void> {
  if (isPooled) {
    const { password } = new URL(databaseUrl);
    await run(databaseUrl, `create role "${schema}" login password '${password}'`);
  }
  await run(databaseUrl, `create schema "${schema}" ${isPooled ? `authorization "${schema}"` : ''}`);
}

/** The address of a database in which unqualified names belong to that schema. */
export function withSchema(databaseUrl: string, schema: string): string {
  const url = new URL(databaseUrl);
  // The search path of a role starts with the schema of its name.
  if (isPooled) url.username = schema;
  else url.searchParams.set('options', `-csearch_path="${schema}"`);
  return url.href;
}

const schemaOf = (folder: string) => /petstore-\w{6}/.exec(folder)?.[0];

/** Runs statements on a connection of their own, and returns the rows of the last. */
export async function run(databaseUrl: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}
