import { type Config, readConfig } from '../config.ts';
import type { Database } from '../db/database.ts';
import { openSqlite } from '../db/sqlite.ts';

/** Opens the storage that the configuration names. */
export const openStorage = (config: Pick<Config, 'dataDir'>): Promise<Database> => openSqlite(config.dataDir);

/** Runs a command's work on the storage that the environment names, and closes it. */
export async function withStorage<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = await openStorage(readConfig(process.env));
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
