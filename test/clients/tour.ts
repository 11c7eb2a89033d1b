import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ampleKey, petstore, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';
import type { Client } from './clients.ts';
import { generation } from './guide.ts';

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const nodeModules = fileAt('../../node_modules');
const stepTimeoutMs = 600_000;

/** What each tour prints. */
const tour = readFileSync(fileAt('tours/tour.txt'), 'utf8');

/** The toolchains that a client needs and this machine does not have. */
export const missingFor = ({ needs }: Client) => needs.filter((tool) => spawnSync(tool, ['--help']).error);

/**
 * Makes a client by the command of the guide, from a service of its own, compiles it, and takes the tour. `programs` are
 * folders in which commands are looked for first.
 */
export async function takeTour(t: TestContext, client: Client, programs: string[]): Promise<void> {
  const root = await temporaryStorage(t);
  const dataDir = join(root, 'data');
  const { origin } = await startService(t, dataDir);
  const baseUrl = `${origin}/v1`;
  const freeKey = ['keys', 'create', '--plan', 'free', '--json'];
  const bins = [nodeModules, fileAt('node_modules')].map((modules) => join(modules, '.bin'));
  const path = [dirname(process.execPath), ...bins, ...programs, process.env.PATH];
  const env = {
    ...process.env,
    PATH: path.join(delimiter),
    PETSTORE_URL: baseUrl,
    PETSTORE_API_KEY: ampleKey(dataDir),
    PETSTORE_FREE_KEY: JSON.parse(petstore(freeKey, { PETSTORE_DATA_DIR: dataDir }).stdout).key,
  };
  const folder = folderOf(root, client);
  // The programs of a package stand in its folder, and those that all need in the one above.
  if (existsSync(join(folder, 'package-lock.json'))) await run('npm ci', folder, env);
  else symlinkSync(fileAt('node_modules'), join(folder, 'node_modules'));
  const outputs: string[] = [];
  for (const step of [generation(client.heading, baseUrl), ...client.steps])
    outputs.push(await run(step, folder, env));
  assert.equal(outputs.at(-1), tour);
}

/** A copy of the folder of a client, beside what all of them share. */
function folderOf(root: string, { name }: Client): string {
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  cpSync(fileAt('tours/tsconfig.json'), join(root, 'tsconfig.json'));
  symlinkSync(nodeModules, join(root, 'node_modules'));
  cpSync(fileAt(`tours/${name}`), join(root, name), { recursive: true });
  return join(root, name);
}

/** Installs the Python packages that are pinned, once for each list of them. Returns the folder of their programs. */
export async function pythonPrograms(): Promise<string> {
  const requirements = fileAt('requirements.txt');
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

/** Runs shell commands, and returns what they print. Throws all that they said if one fails. */
async function run(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], { cwd, env, timeout: stepTimeoutMs });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const [status] = await once(child, 'close');
  assert.equal(status, 0, `${commands}\n${output}${errors}`);
  return output;
}
