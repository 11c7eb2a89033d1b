import type { Config } from './config.ts';
import type { Database } from './db/database.ts';

/** Requests do not wait longer than this for PostgreSQL. */
export const requestDeadlineMs = 5_000;

interface Options {
  /** Reads and writes fail that take PostgreSQL longer. */
  deadlineMs?: number;
  /** Whether this is the service: one at most has a folder of SQLite. Any number share a PostgreSQL. */
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
