import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { startReceiver } from '../../support/dispatching.ts';
import { type Event, Follower, readLists } from '../../support/history.ts';
import { type CallOptions, fetchChecked } from '../../support/petstore.ts';
import { ampleKey, bin, environment, petstore, type Service, startService } from '../../support/service.ts';
import { textOf } from '../../support/tree.ts';
import { until } from '../../support/until.ts';

const page = textOf('docs/operations/backup.md');

/** The commands below a heading of docs/operations/backup.md. */
export function documented(heading: string): string {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n#')[0] ?? '';
  const blocks = [...section.matchAll(/```sh\n(.+?)\n *```/gs)];
  assert.ok(blocks.length > 0, `${heading} has commands`);
  return blocks.map(([, commands]) => commands).join('\n');
}

type Environment = Record<string, string>;

/** An operator in a folder with `petstore-data` in it, who runs the commands of docs/operations/backup.md. */
export class Operator {
  readonly folder: string;
  readonly dataDir: string;
  readonly #env: Environment;
  readonly #t: TestContext;

  constructor(t: TestContext, folder: string, env: Environment) {
    this.#t = t;
    this.folder = folder;
    this.dataDir = join(folder, 'petstore-data');
    this.#env = { LOG_LEVEL: 'warn', ...env, PETSTORE_DATA_DIR: this.dataDir };
    const programs = join(folder, 'bin');
    mkdirSync(programs);
    // Only the Node.js of the tests is available, and no other package.
    const program = (name: string, text: string) => {
      writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(programs, name), 0o755);
    };
    program('npx', 'exec "$@"');
    program('petstore', `exec node "${bin}" "$@"`);
  }

  start(): Promise<Service> {
    return startService(this.#t, this.dataDir, this.#env);
  }

  /** Runs commands in a shell, each of which must succeed. */
  async run(commands: string, more = ''): Promise<string> {
    const env = environment(this.#env);
    const PATH = [join(this.folder, 'bin'), dirname(process.execPath), more, env.PATH].join(':');
    const options = { cwd: this.folder, env: { ...env, PATH } };
    const { stdout } = await promisify(execFile)('sh', ['-euc', commands], options);
    return stdout;
  }

  command(...args: string[]) {
    return petstore(args, this.#env);
  }

  /** Creates a key with ample limits. */
  addKey(): Promise<string> {
    return ampleKey(this.dataDir, this.#env);
  }
}

interface Steps {
  backUp: () => Promise<unknown>;
  /** Restores the backup, and runs the commands before the start. */
  restore: () => Promise<unknown>;
}

/** No id from before a restore is as large. */
const generation = 10 ** 12;

/**
 * Backs a store up, continues to write, restores it, and checks what readers and a webhook receiver with the lost
 * events see. Returns the service that runs then.
 */
export async function checkRestore(t: TestContext, operator: Operator, steps: Steps): Promise<Service> {
  const receiver = await startReceiver(t);
  const first = await operator.start();
  const key = await operator.addKey();
  let { origin } = first;
  const call = (method: string, path: string, options: CallOptions = {}) =>
    fetchChecked(origin, method, path, { ...options, key });
  const add = async (name: string, headers = {}): Promise<number> => {
    const { status, body, text } = await call('POST', '/categories', { body: { name }, headers });
    assert.equal(status, 201, text);
    return body.id;
  };
  const hasArrived = (name: string) => receiver.messages.some(({ body }) => body.includes(name));
  const received = () => receiver.messages.map(({ headers }) => String(headers['webhook-id']));

  assert.equal((await call('POST', '/store/webhooks', { body: { url: receiver.url } })).status, 201);
  const kept = await add('Kept', { 'idempotency-key': 'kept' });
  await until(() => hasArrived('Kept'));
  const keptPosition = JSON.parse(receiver.messages.at(-1)?.body as string).id;
  await steps.backUp();

  const lost: number[] = [];
  for (const name of ['Lost 1', 'Lost 2', 'Lost 3']) lost.push(await add(name));
  await until(() => hasArrived('Lost 3'));
  assert.equal((await call('POST', '/store/webhooks/1/ping')).status, 202);
  await until(() => hasArrived('"ping"'));
  const lostPosition = keptPosition + lost.length;
  const receivedBefore = new Set(received());
  assert.deepEqual(await first.stop('SIGTERM'), { code: 0, signal: null });
  await steps.restore();

  const second = await operator.start();
  origin = second.origin;
  for (const position of [0, keptPosition, keptPosition + 1, lostPosition, lostPosition + 1]) {
    const list = await call('GET', `/store/events?after=${position}`);
    assert.deepEqual([list.status, list.body.code], [410, 'events_expired'], `after ${position}`);
    assert.match(list.headers.link as string, /\/store\/events>; rel="first"/);
    const headers = { 'last-event-id': String(position) };
    const stream = await call('GET', '/store/events/stream', { headers });
    assert.deepEqual([stream.status, stream.body.code], [410, 'events_expired'], `stream after ${position}`);
  }
  const begins: Event[] = (await call('GET', '/store/events')).body;
  assert.deepEqual(
    begins.map(({ type }) => type),
    ['workspace.reset', 'workspace.seeded'],
  );
  assert.ok((begins[0] as Event).id > generation, String(begins[0]?.id));
  const follower = new Follower(await readLists((path) => call('GET', path)), begins.at(-1)?.id);

  assert.equal((await call('GET', `/categories/${lost[0]}`)).status, 404);
  assert.equal(await add('Kept', { 'idempotency-key': 'kept' }), kept, 'an answer of the backup is replayed');
  for (const name of ['New 1', 'New 2', 'New 3', 'New 4']) assert.ok((await add(name)) > generation);
  assert.equal((await call('POST', '/store/webhooks/1/ping')).status, 202);
  const isPing = ({ body }: { body: string }) => JSON.parse(body).type === 'ping';
  await until(() => hasArrived('New 4') && receiver.messages.filter(isPing).length === 2);
  const after = receiver.messages.slice(receivedBefore.size);
  const unseen = after.filter(({ headers }) => !receivedBefore.has(String(headers['webhook-id'])));
  const events = (await call('GET', '/store/events')).body as Event[];
  assert.deepEqual(
    unseen.filter((message) => !isPing(message)).map(({ body }) => JSON.parse(body)),
    events,
    'a receiver that drops what it knows gets every event',
  );
  assert.equal(new Set(received()).size, received().length, 'no message has the id of another');
  for (const event of events.slice(begins.length)) follower.follow(event);
  assert.deepEqual(follower.lists, await readLists((path) => call('GET', path)));
  return second;
}
