import { Command } from 'commander';
import type { Database } from '../db/database.ts';
import { openStorage } from '../db/open.ts';
import { readConfig, unknownVariable } from '../foundation/settings/config.ts';
import { aboutDataDir, earlierDataIn } from '../foundation/settings/data-dir.ts';
import { escapeTerminal } from '../foundation/terminal-text.ts';
import { counted } from '../foundation/words.ts';
import { printFields } from './terminal.ts';

/** Commands may count or delete many rows, so they may take longer than requests. */
const deadlineMs = 120_000;

/** Runs a command's work on the configured storage. `isAlone`: fails if a service uses the storage. */
export async function withStorage<T>(work: (db: Database) => Promise<T>, { isAlone = false } = {}) {
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

/** Opening the storage migrates it. This command exists so that a deployment can do that as a separate step. */
export const migrateCommand = () =>
  new Command('migrate')
    .description(
      'Migrate the database tables, before new instances start. Each start, and each other command that opens the storage, also does this.',
    )
    .action(async () => {
      const count = await withStorage(async ({ migrations = 0 }) => migrations);
      const done = count > 0 ? `Applied ${counted(count, 'migration')}` : 'Nothing to migrate';
      console.log(`${done}. The tables are up to date.`);
    });

export const restoredCommand = () =>
  new Command('restored')
    .description(
      'Run this after you restored a backup, before the service starts, with all instances stopped. It starts a new generation: new ids are much higher, older positions in the history get 410, and webhooks tell receivers to read the lists again.',
    )
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const { beginGeneration, newGeneration } = await import('../store/workspaces/after-restore.ts');
      const workspaces = await withStorage((db) => beginGeneration(db, Date.now()), { isAlone: true });
      if (workspaces === 0) throw new Error('The storage is empty. Restore a backup first.');
      if (json) printFields({ workspaces }, true);
      else
        console.log(`A new generation has started in ${counted(workspaces, 'workspace')}: ${newGeneration}.`);
    });
