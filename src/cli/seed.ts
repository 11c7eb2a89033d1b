import { Command } from 'commander';
import { counted } from '../foundation/words.ts';
import { countUpTo } from './lab-rehearse.ts';
import { withStorage } from './storage.ts';
import { statusOf, watchSignals } from './terminal.ts';
import { workspaceNamed } from './workspaces.ts';

const barWidth = 40;
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
      const bar = progressBar(pets);
      let added = 0;
      const progress = (done: number) => {
        added = done;
        bar(done);
      };
      await withStorage(async (db) => {
        const { id } = await workspaceNamed(db.read, workspace);
        await addPets(db, id, pets, { atMs: startedMs, workspaceId: id }, progress, signal);
      }).catch((error: Error) => {
        if (added === 0) throw error;
        throw new Error(`${error.message} ${added} of ${pets} pets were added before this.`, {
          cause: error,
        });
      });
      const took = ((Date.now() - startedMs) / 1000).toFixed(1);
      if (added === pets) console.log(`Added ${counted(pets, 'pet')} to ${workspace} in ${took} s.`);
      else
        endBy(
          received() as NodeJS.Signals,
          `Added ${added} of ${pets} pets to ${workspace}. They stay there.`,
        );
    });
}

/** Ends the process with the signal itself, so that a loop in a shell ends, too. */
function endBy(signal: NodeJS.Signals, text: string): void {
  console.error(`${process.stderr.isTTY ? '\n' : ''}petstore: Stopped by ${signal}. ${text}`);
  process.exitCode = statusOf(signal);
  process.removeAllListeners(signal).kill(process.pid, signal);
}

/** Draws the progress, on a terminal only. */
function progressBar(total: number): (done: number) => void {
  if (!process.stderr.isTTY) return () => {};
  return (done) => {
    const filled = Math.floor((done / total) * barWidth);
    const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
    const percent = Math.floor((done / total) * 100);
    process.stderr.write(`\r${bar} ${percent} % ${done}/${total}${done === total ? '\n' : ''}`);
  };
}
