import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { after, type TestContext } from 'node:test';
import { createKey } from '../../src/access/keys/store.ts';
import { openStorage } from '../../src/db/open.ts';
import { freePort } from './port.ts';
import { databaseUrlOf } from './storage.ts';
import { compileCache, fileAt } from './tree.ts';
import { until } from './until.ts';

export const bin = fileAt('bin/petstore.js');
const endOfWelcome = '/pets?limit=2"\n';
/** Long, since a test's machine may be busy. A failed start ends its process at once, without this wait. */
const startTimeoutMs = 120_000;
const commandTimeoutMs = 120_000;

type Environment = Record<string, string>;

const { PATH, HOME, PETSTORE_TEST_VALKEY_URL: VALKEY_URL = '' } = process.env;

/** By default the storage is that of the folder, and limits are shared as in the test run. */
export function environment(env: Environment) {
  // Node.js would turn an object into "[object Object]", and the service would create a folder of that name.
  for (const [name, value] of Object.entries(env))
    assert.equal(typeof value, 'string', `${name} must be a string`);
  const databaseUrl = databaseUrlOf(env.PETSTORE_DATA_DIR ?? '');
  return {
    PATH,
    HOME,
    VALKEY_URL,
    VALKEY_TIMEOUT_MS: '5000',
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    // Instances that share a database need it; others store theirs in the folder.
    ...((databaseUrl || env.DATABASE_URL) && { PETSTORE_SECRET_KEY: 'a key of an installation for tests' }),
    ...env,
  };
}

/** Runs a command of the command line and waits for its end, by the program `by` if one is given. */
export function petstore(args: string[], env: Environment = {}, by: string[] = []) {
  const [program, ...rest] = [...by, process.execPath, bin, ...args] as [string, ...string[]];
  const { status, stdout, stderr } = spawnSync(program, rest, {
    env: environment(env),
    encoding: 'utf8',
    timeout: commandTimeoutMs,
  });
  return { status, stdout, stderr };
}

type Ended = ReturnType<typeof petstore> & { args: string[] };

let calls: ChildProcess | undefined;
after(() => calls?.kill('SIGKILL'));

let previous: Promise<unknown> = Promise.resolve();

/** Runs a command in a process that all commands of a test file share, and waits for its end. A new process takes a second to start. */
export function command(args: string[], env: Environment = {}): Promise<Ended> {
  const ended = previous.then(() => call({ args, env: environment(env) }));
  previous = ended.catch(() => {});
  return ended;
}

async function call(message: { args: string[]; env: NodeJS.ProcessEnv }): Promise<Ended> {
  calls ??= fork(fileAt('test/support/calls.ts'), {
    execArgv: ['--import', compileCache],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  calls.send(message);
  const [ended] = await once(calls, 'message', { signal: AbortSignal.timeout(commandTimeoutMs) });
  return ended;
}

/** Runs commands like `command`, one after the other. */
export const commands = (all: string[][], env: Environment = {}): Promise<Ended[]> =>
  Promise.all(all.map((args) => command(args, env)));

/** The parsed output of a command with `--json`. It must succeed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read what commands print
export async function printed(args: string[], env: Environment = {}): Promise<any> {
  const { status, stdout, stderr } = await command([...args, '--json'], env);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** Creates a key with these limits by the command line, and returns what that prints. */
export function createKeyWith(perMinute: number, perDay: number, env: Environment) {
  const quota = ['--per-minute', String(perMinute), '--per-day', String(perDay)];
  return printed(['keys', 'create', '--plan', 'enterprise', ...quota], env);
}

/** Starts a command in a process of its own, which is killed with the test, and collects what it writes. */
export function startCommand(t: TestContext, args: string[], env: Environment = {}) {
  const child = spawn(process.execPath, [bin, ...args], { env: environment(env) });
  t.after(() => child.kill('SIGKILL'));
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text) => (written[stream] += text));
  return { child, ended: once(child, 'close'), written };
}

/** The status of the response to a GET, or 0 without a response. */
export const statusAt = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
  (await fetch(url, { headers }).catch(() => undefined))?.status ?? 0;

/** The service in a process of its own. */
export type Service = Awaited<ReturnType<typeof startService>>;

interface StartOptions {
  by?: [string, ...string[]];
  atOnce?: (child: ChildProcess) => void;
}

/** Creates a key to the demo workspace with ample limits. */
export async function ampleKey(dataDir: string, env: Environment = {}): Promise<string> {
  const { DATABASE_URL: databaseUrl = databaseUrlOf(dataDir) } = env;
  const db = await openStorage({ dataDir, databaseUrl });
  const quota = { perMinute: 1_000_000, perDay: 10_000_000 };
  const { key } = await db.write((sql) =>
    createKey(sql, { workspaceId: 1, plan: 'enterprise', quota }, Date.now()),
  );
  await db.close();
  return key;
}

/**
 * Starts the service on a free port, by the Node.js that `by` calls, and waits until it is ready. `atOnce` gets the process
 * before its first output.
 */
export async function startService(
  t: TestContext,
  dataDir: string,
  env: Environment = {},
  { by = [process.execPath], atOnce = () => {} }: StartOptions = {},
) {
  const port = Number(env.PORT ?? (await freePort()));
  const [program, ...args] = by;
  const child = spawn(program, [...args, bin, 'serve'], {
    env: environment({ PORT: String(port), PETSTORE_DATA_DIR: dataDir, ...env }),
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  atOnce(child);
  const ended = once(child, 'close');
  const exited = once(child, 'exit');
  t.after(() => {
    child.kill('SIGKILL');
    return exited;
  });
  const origin = `http://127.0.0.1:${port}`;
  // The welcome ends a start with demo data. It may arrive later than a response.
  const hasSaidAll = () =>
    env.PETSTORE_DEMO === 'off' || child.stdout.destroyed || output.includes(endOfWelcome);
  await until(async () => {
    const answer = await fetch(`${origin}/readyz`).catch(() => undefined);
    return child.exitCode !== null || (answer?.ok === true && hasSaidAll());
  }, startTimeoutMs).catch(() => child.kill('SIGKILL'));
  if (child.exitCode !== null || child.killed) {
    await ended;
    throw new Error(`The service did not start: ${output}`);
  }
  return {
    child: child as ChildProcess,
    origin,
    /** Its output on standard output and standard error so far. */
    output: () => output,
    /** Sends a signal and waits for the process to end. */
    async stop(signal: NodeJS.Signals) {
      child.kill(signal);
      const [code, by] = (await ended) as [number | null, string | null];
      return { code, signal: by };
    },
  };
}
