import type { Config } from '../config.ts';
import type { Database } from './database.ts';

/** Requests do not wait longer than this for PostgreSQL. */
export const requestDeadlineMs = 5_000;

/** Opens the storage that the configuration names. Reads and writes fail that take PostgreSQL longer than `deadlineMs`. */
export async function openStorage(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  deadlineMs: number = requestDeadlineMs,
): Promise<Database> {
  if (databaseUrl === undefined) return (await import('./sqlite.ts')).openSqlite(dataDir);
  return (await import('./postgres.ts')).openPostgres(databaseUrl, deadlineMs);
}
