import { Command } from 'commander';
import { counted } from '../foundation/words.ts';
import { withStorage } from './storage.ts';
import { printFields } from './terminal.ts';

export function restoredCommand(): Command {
  return new Command('restored')
    .description(
      'Run this after you restored a backup, before the service starts, with all instances stopped. It starts a new generation: new ids are much higher, older positions in the history get 410, and webhooks tell receivers to read the lists again.',
    )
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const { beginGeneration, newGeneration } = await import('../store/workspaces/generation.ts');
      const workspaces = await withStorage((db) => beginGeneration(db, Date.now()), { isAlone: true });
      if (workspaces === 0) throw new Error('The storage is empty. Restore a backup first.');
      if (json) printFields({ workspaces }, true);
      else
        console.log(`A new generation has started in ${counted(workspaces, 'workspace')}: ${newGeneration}.`);
    });
}
