import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type CallOptions, fetchChecked, type JsonAnswer } from './petstore.ts';
import { bin, environment, petstore, type Service, startService } from './service.ts';

const clients = 24;
const ample = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];

type Environment = Record<string, string> & { PETSTORE_DATA_DIR: string };

/** Services as they are run, over one storage with several workspaces, the first of which is the demonstration. */
export class Installation {
  readonly #t: TestContext;
  readonly #env: Environment;
  readonly #origins: string[] = [];
  /** A key to each workspace that no test uses up. */
  readonly keys = new Map<string, string>();

  constructor(t: TestContext, env: Environment) {
    this.#t = t;
    this.#env = env;
  }

  /** Starts a service, which is one of those that are asked from then on. */
  async start(env: Record<string, string> = {}): Promise<Service> {
    const service = await startService(this.#t, this.#env.PETSTORE_DATA_DIR, { ...this.#env, ...env });
    this.#origins.push(service.origin);
    return service;
  }

  /** Ends a service, which is not asked any more. */
  async stop(service: Service): Promise<void> {
    this.#origins.splice(this.#origins.indexOf(service.origin), 1);
    assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
  }

  /** What a command writes, which must succeed. */
  command(...args: string[]): string {
    const { status, stdout, stderr } = petstore(args, this.#env);
    assert.equal(status, 0, stderr);
    return stdout;
  }

  /** A command that runs while this process sends requests. */
  async commandBeside(...args: string[]): Promise<void> {
    await promisify(execFile)(process.execPath, [bin, ...args], { env: environment(this.#env) });
  }

  addKey(workspace: string, plan = ample): string {
    return JSON.parse(this.command('keys', 'create', '--workspace', workspace, ...plan, '--json')).key;
  }

  /** Makes workspaces with the demonstration data. */
  addWorkspaces(names: string[]): void {
    this.keys.set('demo', this.addKey('demo'));
    for (const name of names) {
      this.command('workspaces', 'create', name, '--seed');
      this.keys.set(name, this.addKey(name));
    }
  }

  /** Asks a service, in a workspace by its name or by a key of its own. The answer is held against the description. */
  call(
    service: number,
    method: string,
    path: string,
    {
      workspace = 'demo',
      ...options
    }: CallOptions & { key?: string; workspace?: string; start?: string } = {},
  ): Promise<JsonAnswer> {
    const origin = this.#origins[service % this.#origins.length] as string;
    const key = options.key ?? (this.keys.get(workspace) as string);
    return fetchChecked(origin, method, path, { ...options, key });
  }

  /** What is answered for 0, 1 and so on, as long as it goes on, asked by 24 clients, each of a service of its own. */
  async load(
    goesOn: (n: number) => boolean,
    ask: (service: number, n: number) => Promise<JsonAnswer>,
  ): Promise<JsonAnswer[]> {
    const answers: JsonAnswer[] = [];
    let next = 0;
    const client = async (_: unknown, i: number) => {
      while (goesOn(next)) answers.push(await ask(i, next++));
    };
    await Promise.all(Array.from({ length: clients }, client));
    return answers;
  }
}

export const upTo = (count: number) => (n: number) => n < count;
