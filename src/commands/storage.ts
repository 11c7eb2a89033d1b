import { readConfig, unknownVariable } from '../config.ts';
import type { Database } from '../db/database.ts';
import { printable } from '../printable.ts';
import { openStorage } from '../storage.ts';

/** Commands may count or remove a lot at once, which no caller waits for. */
const deadlineMs = 120_000;

/** Runs a command's work on the storage that the environment names, and closes it. */
export async function withStorage<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const config = readConfig(process.env);
  for (const name of config.unknownVariables)
    console.error(`petstore: ${printable(name)}: ${unknownVariable}`);
  const db = await openStorage(config, { deadlineMs });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
