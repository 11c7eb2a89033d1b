import { Command } from 'commander';
import { withStorage } from './storage.ts';

/** Opening the storage migrates it. This command exists so that a deployment can do that as a separate step. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'Migrate the database tables, before new instances start. Each start, and each other command that opens the storage, also does this.',
    )
    .action(async () => {
      await withStorage(async () => {});
      console.log('The tables are up to date.');
    });
}
