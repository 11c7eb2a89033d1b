import { Command } from 'commander';
import { withStorage } from './storage.ts';

/** Opening the storage does the work. This command only has a name that a deployment can call. */
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
