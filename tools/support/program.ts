import { type SpawnOptionsWithoutStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operations } from '../../src/api/operations.ts';
import { labOperations } from '../../src/lab/petstore/petstore-api.ts';
import { asJson } from '../../src/reference/description/serve-description.ts';
import { documents } from '../../test/support/documents.ts';

/** A cold build with all its packages takes minutes on a busy machine. */
const timeout = 540_000;

/** A path within `tools/`. */
export const toolsPath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The programs of `tools/go`. */
export const go = (name: string, ...args: string[]) => ['go', '-C', toolsPath('go'), 'run', name, ...args];

/** Runs a program with this standard input. Returns its standard output; fails with all output if it fails. */
export async function runProgram(
  [program = '', ...args]: string[],
  input = '',
  options: SpawnOptionsWithoutStdio = {},
): Promise<string> {
  // In its own group, so that what it starts ends too.
  const child = spawn(program, args, { detached: true, ...options });
  const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), timeout);
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  // A program that ends early does not read its input. Its status says why.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [status] = await once(child, 'close').finally(() => clearTimeout(timer));
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${status}\n${output}${errors}`);
  return output;
}

/** Writes the documents that `isWanted` takes into a folder. Returns their paths by their names. */
export function writeDocuments(folder: string, isWanted = (_name: string) => true): Map<string, string> {
  mkdirSync(folder, { recursive: true });
  return new Map(
    Object.entries(documents)
      .filter(([name]) => isWanted(name))
      .map(([name, document]) => {
        const file = join(folder, `${name}.json`);
        writeFileSync(file, asJson(document));
        return [name, file];
      }),
  );
}

/** Whether a document of this name is one of OpenAPI. */
export const isOpenapi = (name: string) => /^(store|lab)-3/.test(name);

/** The ids of the operations that a document describes, in order. */
export const idsOf = (name: string): string[] =>
  (name.startsWith('store') ? operations : labOperations).map(({ id }) => id).sort();

/** The version of a package of Debian, without what Debian adds to it. */
export function debianVersion(name: string): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query replaces it
  const { stdout } = spawnSync('dpkg-query', ['--show', '--showformat', '${Version}', name], {
    encoding: 'utf8',
  });
  return (stdout ?? '').replace(/(?:\+dfsg|-).*/, '');
}
