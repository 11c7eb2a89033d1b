import type { Config } from '../settings/config.ts';
import type { Database } from './database.ts';

/** Requests wait at most this long for PostgreSQL, and writes at most this long for their turn. */
export const requestDeadlineMs = 5_000;

interface Options {
  /** Longer reads and writes fail on PostgreSQL. */
  deadlineMs?: number;
  /** Whether this is the service. Only one may use a SQLite folder; any number may share a PostgreSQL database. */
  isService?: boolean;
}

/** Opens the configured storage. */
export async function openStorage(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  { deadlineMs = requestDeadlineMs, isService = false }: Options = {},
): Promise<Database> {
  if (databaseUrl === undefined) return (await import('./sqlite.ts')).openSqlite(dataDir, { isService });
  return (await import('./postgres.ts')).openPostgres(databaseUrl, deadlineMs);
}

/** Opens a storage in memory. Its data is lost when it is closed. */
export async function openMemory(): Promise<Database> {
  return (await import('./sqlite.ts')).openMemory();
}
