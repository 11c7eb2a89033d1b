import { Command } from 'commander';
import { withStorage } from './storage.ts';
import { printFields } from './terminal.ts';

export function restoredCommand(): Command {
  return new Command('restored')
    .description(
      'Begin a new generation after a backup was restored. Run it before the service starts, with all instances stopped. Ids continue far ahead, older positions in the history get 410, and webhooks get events that tell them to read the lists again.',
    )
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const { beginGeneration, newGeneration } = await import('../workspaces/generation.ts');
      const workspaces = await withStorage((db) => beginGeneration(db, Date.now()), { isAlone: true });
      if (workspaces === 0) throw new Error('The storage is empty. Restore a backup first.');
      if (json) printFields({ workspaces }, true);
      else console.log(`A new generation has begun in ${workspaces} workspaces: ${newGeneration}.`);
    });
}
