import type { Config } from './config.ts';
import type { Database } from './db/database.ts';

/** Requests do not wait longer than this for PostgreSQL, nor writes for their turn before. */
export const requestDeadlineMs = 5_000;

interface Options {
  /** Reads and writes that take longer on PostgreSQL fail. */
  deadlineMs?: number;
  /** Whether this is the service. Only one may use a SQLite folder; any number may share a PostgreSQL database. */
  isService?: boolean;
}

/** Opens the storage that the configuration names. */
export async function openStorage(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  { deadlineMs = requestDeadlineMs, isService = false }: Options = {},
): Promise<Database> {
  if (databaseUrl === undefined) return (await import('./db/sqlite.ts')).openSqlite(dataDir, { isService });
  return (await import('./db/postgres.ts')).openPostgres(databaseUrl, deadlineMs);
}

/** Opens a storage that is gone once it is closed, and leaves nothing behind. */
export async function openMemory(): Promise<Database> {
  return (await import('./db/sqlite.ts')).openMemory();
}
