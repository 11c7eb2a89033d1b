import type { Database } from '../db/database.ts';
import { openStorage } from '../db/open.ts';
import { readConfig, unknownVariable } from '../foundation/settings/config.ts';
import { aboutDataDir, earlierDataIn } from '../foundation/settings/data-dir.ts';
import { escapeTerminal } from '../foundation/terminal-text.ts';

/** Commands may count or delete many rows, so they may take longer than requests. */
const deadlineMs = 120_000;

/** Runs a command's work on the configured storage. `isAlone`: fails if a service uses the storage. */
export async function withStorage<T>(
  work: (db: Database) => Promise<T>,
  { isAlone = false } = {},
): Promise<T> {
  const config = readConfig(process.env);
  for (const name of config.unknownVariables)
    console.error(`petstore: ${escapeTerminal(name)}: ${unknownVariable}`);
  const earlierData = earlierDataIn(process.env);
  if (earlierData) console.error(`petstore: ${earlierData}`);
  const db = await openStorage(config, { deadlineMs, isService: isAlone, isAlone });
  try {
    return await work(db);
  } catch (error) {
    throw config.databaseUrl === undefined ? aboutDataDir(config.dataDir, error) : error;
  } finally {
    await db.close();
  }
}
