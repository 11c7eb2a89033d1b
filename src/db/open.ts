import type { Config } from '../foundation/settings/config.ts';
import type { Database } from './database.ts';

/** How long requests wait for PostgreSQL, and writes in the queue. */
export const requestDeadlineMs = 5_000;

interface Options {
  /** On PostgreSQL, reads and writes that take longer fail. */
  deadlineMs?: number;
  /** Whether this is the service. Only one may use a SQLite folder; any number may share a PostgreSQL database. */
  isService?: boolean;
  /** Whether nothing else may use the PostgreSQL database. */
  isAlone?: boolean;
}

/** Opens the configured storage. */
export async function openStorage(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  { deadlineMs = requestDeadlineMs, isService = false, isAlone = false }: Options = {},
): Promise<Database> {
  if (databaseUrl === undefined) return (await import('./sqlite.ts')).openSqlite(dataDir, { isService });
  return (await import('./postgres.ts')).openPostgres(databaseUrl, deadlineMs, isAlone);
}

/** Opens a storage in memory. Its data is lost when it is closed. */
export async function openMemory(): Promise<Database> {
  return (await import('./sqlite.ts')).openSqliteMemory();
}
