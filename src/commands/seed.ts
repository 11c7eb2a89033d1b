import { Command, InvalidArgumentError } from 'commander';
import { withStorage } from './storage.ts';
import { workspaceNamed } from './workspaces.ts';

const barWidth = 40;
const maxPets = 100_000_000;

export function seedCommand(): Command {
  return new Command('seed')
    .description('Add many plausible pets, with stock, to a workspace.')
    .requiredOption('--workspace <name>', 'workspace to fill; required')
    .requiredOption('--pets <n>', `how many pets to add, ${maxPets} at most; required`, parsePets)
    .action(async (options) => {
      const startedMs = Date.now();
      const { addPets } = await import('../demo/bulk.ts');
      const bar = progressBar(options.pets);
      await withStorage(async (db) => {
        const { id } = await workspaceNamed(db.read, options.workspace);
        await addPets(db, id, options.pets, { atMs: startedMs, workspaceId: id }, bar);
      });
      const seconds = (Date.now() - startedMs) / 1000;
      console.log(`Added ${options.pets} pets to ${options.workspace} in ${seconds.toFixed(1)} s.`);
    });
}

function parsePets(text: string): number {
  const pets = Number(text);
  if (!/^\d+$/.test(text) || pets < 1 || pets > maxPets) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maxPets}.`);
  }
  return pets;
}

/** Draws how far the work is, on a terminal alone. */
function progressBar(total: number): (done: number) => void {
  if (!process.stderr.isTTY) return () => {};
  return (done) => {
    const filled = Math.floor((done / total) * barWidth);
    const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
    const percent = Math.floor((done / total) * 100);
    process.stderr.write(`\r${bar} ${percent} % ${done}/${total}${done === total ? '\n' : ''}`);
  };
}
