import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientConfig, DatabaseError } from 'pg';
import { type Migration, pendingMigrations } from './migrations.ts';
import type { GuardedClient } from './postgres-client.ts';
import { attemptPostgres, isRace } from './postgres-errors.ts';
import { beginWithin, type Limits, openConnection } from './postgres-pooler.ts';
import { assertPrimary } from './postgres-pools.ts';
import type { Row } from './sql.ts';

/** The time limit of a migration, and how long other instances wait for it. */
const patienceMs = 120_000;
const maxAttempts = 20;

type Query = (text: string, values?: (number | string)[]) => Promise<Row[]>;

/**
 * Brings the tables up to date, and returns the number of migrations. If several instances start at once, one does it, and the others
 * wait. Only reads the version if nothing is pending. Throws a plain Error if the database is newer.
 */
export async function migratePostgres(settings: ClientConfig, limits: Limits): Promise<number> {
  const pending = pendingMigrations('postgres');
  const version = await withClient(settings, readVersion);
  if (pending(version).length === 0) return 0;
  const begin = beginWithin({ ...limits, lock_timeout: patienceMs });
  return withClient({ ...settings, query_timeout: patienceMs }, (query) => migrate(query, begin, pending));
}

/** For this time the clients of PgBouncer are watched. An instance reads once a second. */
const watchSeconds = 2;

/**
 * Throws if an instance or a command is connected, by its name in `pg_stat_activity`. PgBouncer keeps connections of clients that have left,
 * so behind it only those count that are used while this transaction waits.
 */
export const assertAlone = (settings: ClientConfig, name: string): Promise<void> =>
  withClient(settings, async (query, { processID }) => {
    await query(`begin; select pg_sleep(${watchSeconds}) where pg_backend_pid() <> ${processID}`);
    const others = await query(
      `select pid from pg_stat_activity where datname = current_database() and application_name = $1
       and (pg_backend_pid() = ${processID} or state_change > now()) is not false`,
      [name],
    );
    await query('commit');
    if (others.length > 0)
      throw new Error('An instance or a command uses the database. Stop them all, and run this again.');
  });

type Work<T> = (query: Query, client: GuardedClient) => Promise<T>;

async function withClient<T>(settings: ClientConfig, work: Work<T>): Promise<T> {
  const client = await openConnection({ ...settings, pipeline: false });
  try {
    await attemptPostgres(() => assertPrimary(client));
    const query: Query = (text, values = []) =>
      attemptPostgres(async () => (await client.query<Row>({ text, values, rowMode: 'array' })).rows);
    return await work(query, client);
  } finally {
    await client.end();
  }
}

/** Applies the pending migrations in one transaction. Tries again on each error that a concurrent migration can cause. */
async function migrate(
  query: Query,
  begin: string,
  pending: (version: number) => Migration[],
): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      await query(
        'create table if not exists schema_version (id bigint primary key, version bigint not null)',
      );
      await query('insert into schema_version (id, version) values (1, 0) on conflict (id) do nothing');
      await query(begin);
      const [row] = await query('update schema_version set version = version where id = 1 returning version');
      const migrations = pending(Number(row?.[0]));
      for (const { version, sql } of migrations) {
        await query(sql);
        await query('update schema_version set version = $1 where id = 1', [version]);
      }
      await query('commit');
      return migrations.length;
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
/** The table, or the type of its rows, exists already. */
const existsAlready = ['42P07', '42710'];

const hasCode = (error: unknown, codes: string[]) =>
  error instanceof DatabaseError && codes.includes(error.code ?? '');
