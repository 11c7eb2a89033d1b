import { Command } from 'commander';
import { counted } from '../foundation/words.ts';
import { countUpTo } from './lab-rehearse.ts';
import { withStorage } from './storage.ts';
import { progressLine, statusOf, watchSignals } from './terminal.ts';
import { workspaceNamed } from './workspaces.ts';

const maxPets = 100_000_000;

export function seedCommand(): Command {
  return new Command('seed')
    .description('Add many realistic pets, with stock, to a workspace.')
    .requiredOption('--workspace <name>', 'workspace to fill; required')
    .requiredOption('--pets <n>', `how many pets to add, at most ${maxPets}; required`, countUpTo(maxPets))
    .action(async (options) => {
      const { pets, workspace } = options;
      const startedMs = Date.now();
      const { addPets } = await import('../store/demo/bulk.ts');
      const { signal, received } = watchSignals();
      const line = progressLine();
      let added = 0;
      const progress = (done: number) => {
        added = done;
        line.show(`${Math.floor((100 * done) / pets)} % ${done}/${pets}`);
      };
      await withStorage(async (db) => {
        const { id } = await workspaceNamed(db.read, workspace);
        await addPets(db, id, pets, { atMs: startedMs, workspaceId: id }, progress, signal);
      })
        .catch((error: Error) => {
          if (added === 0) throw error;
          const message = `${error.message} ${added} of ${pets} pets were added before this.`;
          throw new Error(message, { cause: error });
        })
        .finally(line.end);
      const took = ((Date.now() - startedMs) / 1000).toFixed(1);
      if (added === pets) return console.log(`Added ${counted(pets, 'pet')} to ${workspace} in ${took} s.`);
      const signalled = received() as NodeJS.Signals;
      endBy(signalled, `Added ${added} of ${pets} pets to ${workspace}. They stay there.`);
    });
}

/** Ends the process with the signal itself, so that a loop in a shell ends, too. */
function endBy(signal: NodeJS.Signals, text: string): void {
  console.error(`petstore: Stopped by ${signal}. ${text}`);
  process.exitCode = statusOf(signal);
  process.removeAllListeners(signal).kill(process.pid, signal);
}
