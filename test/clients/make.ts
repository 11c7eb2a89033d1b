import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileAt } from '../support/tree.ts';
import type { Client } from './clients.ts';
import { generation } from './guide.ts';

const clientsFile = (path: string) => fileAt(`test/clients/${path}`);
const nodeModules = fileAt('node_modules');
const stepTimeoutMs = 600_000;

/** A client that was generated and compiled. */
interface MadeClient {
  /** Runs shell commands in the folder of its program. */
  folder: string;
  env: NodeJS.ProcessEnv;
}

/** The missing toolchains that a client needs. */
export const missingFor = ({ needs }: Client) => needs.filter((tool) => spawnSync(tool, ['--help']).error);

/**
 * Generates a client in a new folder within `root` by the command of the guide, from a document of the service at `baseUrl`, and compiles it.
 * `programs` are folders to search first for commands.
 */
export async function makeClient(
  client: Client,
  root: string,
  baseUrl: string,
  programs: string[],
  document = 'openapi.json',
): Promise<MadeClient> {
  const bins = [nodeModules, clientsFile('node_modules')].map((modules) => join(modules, '.bin'));
  const path = [dirname(process.execPath), ...bins, ...programs, process.env.PATH];
  const env = { ...process.env, PATH: path.join(delimiter) };
  const folder = folderOf(root, client);
  // The programs of a package are in its folder, and those for all in the parent folder.
  if (existsSync(join(folder, 'package-lock.json'))) await run('npm ci', folder, env);
  else symlinkSync(clientsFile('node_modules'), join(folder, 'node_modules'));
  const command = generation(client.heading, baseUrl).replaceAll('/openapi.json', `/${document}`);
  for (const step of [command, ...client.build]) await run(step, folder, env);
  return { folder, env };
}

/** A copy of the folder of a client, and of the files that all share. */
function folderOf(root: string, { name }: Client): string {
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  cpSync(clientsFile('tours/tsconfig.json'), join(root, 'tsconfig.json'));
  if (!existsSync(join(root, 'node_modules'))) symlinkSync(nodeModules, join(root, 'node_modules'));
  cpSync(clientsFile(`tours/${name}`), join(root, name), { recursive: true });
  return join(root, name);
}

/** Installs the Python packages of a pinned list, once for each list. Returns the folder of their programs. */
export async function pythonPrograms(requirements = clientsFile('requirements.txt')): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(nodeModules, `.cache/clients/python-${hash}`);
  const isDone = join(folder, 'done');
  if (!existsSync(isDone)) {
    rmSync(folder, { recursive: true, force: true });
    await run(`python3 -m venv "${folder}"`, '.', process.env);
    const pip = `"${join(folder, 'bin/pip')}" install --quiet --no-deps --requirement "${requirements}"`;
    await run(pip, '.', process.env);
    writeFileSync(isDone, '');
  }
  return join(folder, 'bin');
}

/** Runs shell commands, and returns their standard output. On failure the error has all output. */
export async function run(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], { cwd, env, timeout: stepTimeoutMs });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${commands}\n${output}${errors}`);
  return output;
}
