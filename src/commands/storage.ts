import { readConfig } from '../config.ts';
import type { Database } from '../db/database.ts';
import { openStorage } from '../db/open.ts';

/** Runs a command's work on the storage that the environment names, and closes it. */
export async function withStorage<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = await openStorage(readConfig(process.env));
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
