/**
 * Runs a program of a folder: `npm run bench -- webhooks --check`, `npm run proof -- crash --rounds 5`. Without a name it
 * lists the programs, except in a folder with a `default.ts`.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [folder, ...args] = process.argv.slice(2) as [string, ...string[]];
const path = fileURLToPath(new URL(`../${folder}/`, import.meta.url));
const names = globSync('*.ts', { cwd: path })
  .map((file) => basename(file, '.ts'))
  .sort();
const isNamed = args[0] !== undefined && !args[0].startsWith('-');
const [name, ...options] = isNamed ? args : ['default', ...args];

if (names.includes(name as string) && !args.includes('--help')) {
  const program = join(path, `${name}.ts`);
  const { status } = spawnSync(process.execPath, [...process.execArgv, program, ...options], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else {
  for (const known of names) console.log(`${known.padEnd(12)}${summary(join(path, `${known}.ts`))}`);
  process.exitCode = args.includes('--help') ? 0 : 1;
}

/** The first sentence of the comment at the top of a program. */
function summary(file: string): string {
  const comment = /^(?:\/\*\*?([\s\S]*?)\*\/|((?:\/\/.*\n)+))/.exec(readFileSync(file, 'utf8'));
  const text = (comment?.[1] ?? comment?.[2] ?? '')
    .replaceAll(/^\s*(?:\*|\/\/) ?/gm, '')
    .replaceAll('\n', ' ');
  return text.trim().replace(/(?:: `npm run|(?<=\.)\s).*/, '');
}
