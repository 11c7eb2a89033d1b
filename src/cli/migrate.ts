import { Command } from 'commander';
import { counted } from '../foundation/words.ts';
import { withStorage } from './storage.ts';

/** Opening the storage migrates it. This command exists so that a deployment can do that as a separate step. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'Migrate the database tables, before new instances start. Each start, and each other command that opens the storage, also does this.',
    )
    .action(async () => {
      const count = await withStorage(async ({ migrations = 0 }) => migrations);
      const done = count > 0 ? `Applied ${counted(count, 'migration')}` : 'Nothing to migrate';
      console.log(`${done}. The tables are up to date.`);
    });
}
