import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, DatabaseError } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import { type Migration, pendingMigrations } from './migrations.ts';
import { attempt, isRace } from './postgres-errors.ts';
import type { Row } from './sql.ts';

/** How long one migration may take, and how long others wait for it. */
const patienceMs = 120_000;
const maxAttempts = 20;

type Query = (text: string, values?: number[]) => Promise<Row[]>;

/**
 * Brings the tables up to date. Of several that start at once, one does it while the others wait for the row that holds
 * the version. If there is nothing to do, it only reads that row. Throws StorageUnavailableError that names
 * DATABASE_URL, or a plain Error if the database is newer than this code.
 */
export async function migratePostgres(settings: ClientConfig): Promise<void> {
  const pending = pendingMigrations('postgres');
  try {
    const version = await withClient(settings, readVersion);
    if (pending(version).length === 0) return;
    const patient = { ...settings, query_timeout: patienceMs, lock_timeout: patienceMs };
    await withClient(patient, (query) => migrate(query, pending));
  } catch (error) {
    if (!(error instanceof DatabaseError || error instanceof StorageUnavailableError)) throw error;
    throw new StorageUnavailableError(`DATABASE_URL cannot be used: ${error.message}`, { cause: error });
  }
}

async function withClient<T>(settings: ClientConfig, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await attempt(async () => {
    const client = new Client({ ...settings, pipeline: false });
    // An error of the connection also fails the running statement, which reports it.
    client.on('error', () => {});
    await client.connect();
    return client;
  });
  try {
    return await work((text, values = []) =>
      attempt(async () => (await client.query<Row>({ text, values, rowMode: 'array' })).rows),
    );
  } finally {
    await client.end();
  }
}

/** Applies the pending migrations in one transaction. Engines report in several ways that another process does the same. */
async function migrate(query: Query, pending: (version: number) => Migration[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await query(
        'create table if not exists schema_version (id bigint primary key, version bigint not null)',
      );
      await query('insert into schema_version (id, version) values (1, 0) on conflict (id) do nothing');
      await query('begin');
      const [row] = await query('update schema_version set version = version where id = 1 returning version');
      for (const { version, sql } of pending(Number(row?.[0]))) {
        await query(sql);
        await query('update schema_version set version = $1 where id = 1', [version]);
      }
      await query('commit');
      return;
    } catch (error) {
      await query('rollback');
      if (!(isRace(error) || hasCode(error, existsAlready)) || tries === maxAttempts) throw error;
      await sleep(Math.random() * 50 * tries);
    }
  }
}

async function readVersion(query: Query): Promise<number> {
  try {
    const [row] = await query('select version from schema_version');
    return Number(row?.[0] ?? 0);
  } catch (error) {
    if (hasCode(error, undefinedTable)) return 0;
    throw error;
  }
}

const undefinedTable = ['42P01'];
/** A table, or the type of its rows. */
const existsAlready = ['42P07', '42710'];

const hasCode = (error: unknown, codes: string[]) =>
  error instanceof DatabaseError && codes.includes(error.code ?? '');
