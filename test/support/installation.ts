import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type CallOptions, fetchChecked, type JsonAnswer } from './petstore.ts';
import { bin, environment, petstore, type Service, startService } from './service.ts';

const clients = 24;
const ample = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];

type Environment = Record<string, string> & { PETSTORE_DATA_DIR: string };

/** Services as in production, with one storage and several workspaces. The first is the demo workspace. */
export class Installation {
  readonly #t: TestContext;
  readonly #env: Environment;
  readonly #origins: string[] = [];
  /** A key with ample limits to each workspace. */
  readonly keys = new Map<string, string>();

  constructor(t: TestContext, env: Environment) {
    this.#t = t;
    this.#env = env;
  }

  /** Starts a service. From then on it gets requests. */
  async start(env: Record<string, string> = {}): Promise<Service> {
    const service = await startService(this.#t, this.#env.PETSTORE_DATA_DIR, { ...this.#env, ...env });
    this.#origins.push(service.origin);
    return service;
  }

  /** Stops a service. It gets no more requests. */
  async stop(service: Service): Promise<void> {
    this.#origins.splice(this.#origins.indexOf(service.origin), 1);
    assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
  }

  /** The output of a command, which must succeed. */
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

  /** Creates workspaces with demo data. */
  addWorkspaces(names: string[]): void {
    this.keys.set('demo', this.addKey('demo'));
    for (const name of names) {
      this.command('workspaces', 'create', name, '--seed');
      this.keys.set(name, this.addKey(name));
    }
  }

  /** Sends a request to a service, in a workspace by its name or with its own key. Checks the response against the description. */
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

  /** The responses to 0, 1 and so on, as long as it continues, from 24 clients. Each client uses one service. */
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
