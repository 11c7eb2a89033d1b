import { after } from 'node:test';
import { Client } from 'pg';
import type { Database } from '../../src/db/database.ts';
import { openStorage } from '../../src/db/open.ts';
import { dataPlace, type Lifetime, temporaryFolder } from './folder.ts';
import { isPooled } from './postgres-cluster.ts';
import { until } from './until.ts';

/** The PostgreSQL database in which the tests run instead of SQLite. Each has a schema of its own in it. */
export const testDatabaseUrl = process.env.PETSTORE_TEST_DATABASE_URL;

/** Why a test about SQLite's own files is left out, if it is. */
export const aboutSqlite = testDatabaseUrl ? 'it is about the files of SQLite' : false;

const schemas: string[] = [];
after(async () => {
  for (const schema of schemas) await until(() => drop(schema));
});

/** PostgreSQL may still be at work for a service that was killed, and then refuses to wait for its locks. */
const drop = (schema: string) =>
  run(testDatabaseUrl as string, `drop schema "${schema}" cascade`).then(
    () => true,
    ({ code }) => code !== deadlock && Promise.reject(new Error(`${schema} cannot be dropped: ${code}`)),
  );
const deadlock = '40P01';

/** An empty folder for a petstore's data, removed when the test ends; on PostgreSQL also an empty schema. */
export async function temporaryStorage(t: Lifetime): Promise<string> {
  const folder = temporaryFolder(t, dataPlace());
  const schema = schemaOf(folder);
  if (testDatabaseUrl && schema) {
    await createSchema(testDatabaseUrl, schema);
    schemas.push(schema);
  }
  return folder;
}

/** The address of the database that belongs to a folder of temporaryStorage; undefined for SQLite. */
export function databaseUrlOf(folder: string): string | undefined {
  const schema = schemaOf(folder);
  return testDatabaseUrl && schema && withSchema(testDatabaseUrl, schema);
}

/** Longer than a busy machine makes a test wait for PostgreSQL. */
const deadlineMs = 30_000;

/** Opens the storage that belongs to a folder of temporaryStorage. */
export const openTestStorage = (folder: string): Promise<Database> =>
  openStorage({ dataDir: folder, databaseUrl: databaseUrlOf(folder) }, { deadlineMs });

/** Makes an empty schema. PgBouncer keeps no search path for a connection, so one behind it has a role of its own. */
export async function createSchema(databaseUrl: string, schema: string): Promise<void> {
  if (isPooled) {
    const { password } = new URL(databaseUrl);
    await run(databaseUrl, `create role "${schema}" login password '${password}'`);
  }
  await run(databaseUrl, `create schema "${schema}" ${isPooled ? `authorization "${schema}"` : ''}`);
}

/** The address of a database in which names without a schema are in that one. */
export function withSchema(databaseUrl: string, schema: string): string {
  const url = new URL(databaseUrl);
  // A role finds the schema of its own name first.
  if (isPooled) url.username = schema;
  else url.searchParams.set('options', `-csearch_path="${schema}"`);
  return url.href;
}

const schemaOf = (folder: string) => /petstore-\w{6}/.exec(folder)?.[0];

/** Runs statements on a connection of their own. */
export async function run(databaseUrl: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
