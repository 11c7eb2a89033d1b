import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqlite } from '../../src/db/sqlite.ts';
import { freePort } from '../../test/support/port.ts';
import { createShop } from './data.ts';
import { type LoadRequest, loadCore, onCore } from './load.ts';

export const workspace = 'bench';

const firstCore = 0;
const startTimeoutMs = 30_000;
const root = new URL('../..', import.meta.url).pathname;
/** What `npm start` of a version runs, after the name of Node.js. */
const startWordsOf = (project: string): string[] =>
  JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
    .scripts.start.replace(/^.*?node /, '')
    .split(' ');

/** A server in a process of its own. */
export interface Server {
  origin: string;
  child: ChildProcess;
}

/** Where a server runs. */
interface Place {
  env?: NodeJS.ProcessEnv;
  core?: number;
  /** The folder of the project; another one may hold another version of it. */
  project?: string;
  stdout?: number | 'pipe' | 'ignore';
}

/** Memory that a server holds (proc(5), VmRSS). */
export function residentBytes({ child }: Server): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

interface StartOptions extends Pick<Place, 'core' | 'project'> {
  settings?: Record<string, string>;
}

/** The servers of a run, and the folder with their data. `stop` ends and removes all of it. */
export class Servers {
  readonly folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  readonly #children: ChildProcess[] = [];

  stop(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true });
  }

  /** A data folder with the demonstration data and a key that no load uses up. */
  async prepareData(name: string): Promise<{ key: string; dataDir: string }> {
    const dataDir = join(this.folder, name);
    const db = await openSqlite(dataDir);
    const { key } = await createShop(db, workspace);
    await db.close();
    return { key, dataDir };
  }

  /** The same by the commands of the version in another folder, whose tables may be older. */
  prepareDataBy(project: string, name: string): { key: string; dataDir: string } {
    const dataDir = join(this.folder, name);
    return { key: prepareBy(project, workspace, { PETSTORE_DATA_DIR: dataDir }), dataDir };
  }

  /** The service as it is run, with a log of warnings alone. */
  startService(dataDir: string, { settings, ...place }: StartOptions = {}): Promise<Server> {
    return this.#startService(dataDir, { LOG_LEVEL: 'warn', ...settings }, place);
  }

  /** The service as it comes: with a log line for each request, in a file or read through a pipe. */
  async startLogging(dataDir: string, to: 'file' | 'pipe', project = root): Promise<Server> {
    const stdout = to === 'file' ? openSync(join(dataDir, 'log'), 'a') : 'pipe';
    const server = await this.#startService(dataDir, {}, { stdout, project });
    const reader = [...onCore(loadCore), 'cat'];
    if (to === 'pipe')
      this.#children.push(
        spawn(reader[0] as string, reader.slice(1), { stdio: [server.child.stdout, 'ignore', 'inherit'] }),
      );
    return server;
  }

  async #startService(
    dataDir: string,
    settings: Record<string, string>,
    place: Omit<Place, 'env'>,
  ): Promise<Server> {
    const port = await freePort();
    const env = {
      ...process.env,
      PORT: String(port),
      PETSTORE_DATA_DIR: dataDir,
      PETSTORE_DEMO: 'off',
      ...settings,
    };
    return this.#start(startWordsOf(place.project ?? root), port, '/readyz', { env, ...place });
  }

  /** A bare server that answers as another server answered a request. */
  async startBare({ origin }: Server, { method, path, headers, body }: LoadRequest): Promise<Server> {
    const answer = await fetch(origin + path, { method, headers, ...(body && { body }) });
    const ofConnection = ['connection', 'keep-alive', 'date'];
    const fields = Object.fromEntries([...answer.headers].filter(([name]) => !ofConnection.includes(name)));
    const text = await answer.text();
    return this.startKind('bare', JSON.stringify({ status: answer.status, headers: fields, body: text }));
  }

  /** One of the servers of `server.ts`. */
  async startKind(kind: string, argument: string): Promise<Server> {
    const port = await freePort();
    return this.#start(['bench/support/server.ts', kind, String(port), argument], port, '/v1/pets/1');
  }

  /** Other servers that answer one pet at `/pets/1`, as far as `npm ci --ignore-scripts --prefix bench/peers` has installed them. */
  async startPeers(): Promise<(Server & { name: string })[]> {
    const file = join(this.folder, 'pets.json');
    const pet = { id: 1, name: 'Bella', categoryId: 1, status: 'available' };
    writeFileSync(file, JSON.stringify({ pets: [pet] }));
    const peers = [
      { name: 'Prism mock', program: 'prism', args: ['mock', 'openapi.json', '--verboseLevel', 'error'] },
      { name: 'json-server', program: 'json-server', args: [file, '--quiet'] },
    ];
    const started: (Server & { name: string })[] = [];
    for (const { name, program, args } of peers) {
      const path = join(root, 'bench/peers/node_modules/.bin', program);
      if (!existsSync(path)) {
        console.log(`${name} is left out: "npm ci --ignore-scripts --prefix bench/peers" installs it.`);
        continue;
      }
      const port = await freePort();
      started.push({
        name,
        ...(await this.#start([path, ...args, '--port', String(port)], port, '/pets/1')),
      });
    }
    return started;
  }

  /** Starts a program on a core and waits until it answers. */
  async #start(
    words: string[],
    port: number,
    path: string,
    { env = process.env, core = firstCore, project = root, stdout = 'ignore' }: Place = {},
  ): Promise<Server> {
    const [command, ...args] = [...onCore(core), process.execPath, ...words] as [string, ...string[]];
    const child = spawn(command, args, { cwd: project, env, stdio: ['ignore', stdout, 'inherit'] });
    this.#children.push(child);
    const origin = `http://127.0.0.1:${port}`;
    for (const deadlineMs = Date.now() + startTimeoutMs; Date.now() < deadlineMs; await sleep(10)) {
      if (child.exitCode !== null) break;
      const answer = await fetch(origin + path).catch(() => undefined);
      if (answer && answer.status < 500) return { origin, child };
    }
    throw new Error(`${words.join(' ')} does not answer.`);
  }
}

/** Makes a workspace with the demonstration data by the commands of the version in a folder. Returns a key that no load uses up. */
export function prepareBy(project: string, workspace: string, settings: Record<string, string>): string {
  const run = (line: string) =>
    execFileSync(process.execPath, ['bin/petstore.js', ...line.split(' ')], {
      cwd: project,
      env: { ...process.env, ...settings },
      encoding: 'utf8',
    });
  run(`workspaces create ${workspace} --seed`);
  const limits = '--per-minute 100000000 --per-day 1000000000';
  return JSON.parse(run(`keys create --workspace ${workspace} --plan enterprise ${limits} --json`)).key;
}

/** Does `work` with servers, which end after it. */
export async function withServers(work: (servers: Servers) => Promise<void>): Promise<void> {
  const servers = new Servers();
  try {
    await work(servers);
  } finally {
    servers.stop();
  }
}
