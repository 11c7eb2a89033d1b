/** Petstore on Citus, a coordinator and two workers: `npm run proof -- citus`. The extension must be installed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { openPostgres } from '../src/db/postgres.ts';
import { tables } from '../src/db/tables.ts';
import { startCitus, whyNoCitus } from '../test/support/citus-cluster.ts';
import { contentOf, filledTables } from '../test/support/content.ts';
import { startReceiver } from '../test/support/dispatching.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import {
  assertEventsOf,
  type Event,
  Follower,
  type Lists,
  readEvents,
  readLists,
} from '../test/support/history.ts';
import { proveHistories, type Request, request } from '../test/support/history-proof.ts';
import { patienceMs, withStatus } from '../test/support/instances.ts';
import { assertInvariants } from '../test/support/invariants.ts';
import { remaining, roomInMinute } from '../test/support/limits.ts';
import { type CallOptions, fetchChecked, type JsonAnswer, Petstore } from '../test/support/petstore.ts';
import type { PostgresCluster } from '../test/support/postgres-cluster.ts';
import { bin, environment, petstore, type Service, startService } from '../test/support/service.ts';
import { run } from '../test/support/storage.ts';
import { until } from '../test/support/until.ts';
import { startValkey } from '../test/support/valkey.ts';

const reason = whyNoCitus();
if (reason) {
  console.error(`npm run proof -- citus: ${reason}.`);
  process.exit(1);
}

const others = ['ash', 'birch', 'cedar', 'elm', 'fir'];
const loadMs = 5_000;
const seed = 20_261_122;

const clients = 24;
const ample = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];

type Environment = Record<string, string> & { PETSTORE_DATA_DIR: string };

/** Services as in production, with one storage and several workspaces. The first is the demo workspace. */
class Installation {
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

const upTo = (count: number) => (n: number) => n < count;

test('Petstore on Citus', async (t) => {
  const cluster = await startCitus();
  t.after(() => cluster.remove());
  const { url } = cluster.coordinator;
  const env = { DATABASE_URL: url, VALKEY_URL: (await startValkey(t)).url, LOG_LEVEL: 'warn' };
  const petstore = new Installation(t, { ...env, PETSTORE_DATA_DIR: temporaryFolder(t) });
  await petstore.stop(await petstore.start());
  const db = await openPostgres(url, patienceMs);
  t.after(() => db.close());

  await t.test('distributing the tables keeps their content, and a second run changes nothing', async (t) => {
    const before = await contentOf(db.read);
    cluster.distribute();
    assert.equal(await contentOf(db.read), before);
    const readSpread = () => db.read`
      select logicalrelid::text, partmethod::text, colocationid from pg_dist_partition order by 1`;
    const spread = await readSpread();
    const namesOf = (kind: string) => spread.filter(([, method]) => method === kind).map(([table]) => table);
    const distributed = tables.map(({ name }) => name).filter((name) => name !== 'api_keys');
    assert.deepEqual([namesOf('h'), namesOf('n')], [distributed.sort(), ['api_keys', 'workspaces']]);
    assert.equal(new Set(spread.map(([, , group]) => group)).size, 2, 'what is distributed lies together');
    cluster.distribute();
    assert.deepEqual(await readSpread(), spread, 'a second run changes nothing');
    t.diagnostic(`${namesOf('h').length} distributed tables, ${namesOf('n').length} reference tables`);
  });

  petstore.addWorkspaces(others);
  const idOf = async (workspace: string) =>
    Number((await db.read`select id from workspaces where name = ${workspace}`)[0]?.[0]);
  for (let i = 0; i < 3; i++) await petstore.start();
  // A start reads the version of the tables. Only the coordinator has that table.
  await run(url, `select create_reference_table('schema_version')`);
  const viaWorker = await petstore.start({ DATABASE_URL: cluster.workers[0].url });

  /** Each workspace with the port of its worker. */
  const homes = await db.read`
    select w.name, n.nodeport from workspaces w, pg_dist_placement p join pg_dist_node n on n.groupid = p.groupid
    where p.shardid = get_shard_id_for_distribution_column('pets', w.id) order by w.id`;
  const workspacesOn = ({ port }: PostgresCluster) =>
    homes.filter(([, home]) => home === port).map(([name]) => String(name));

  await t.test('both workers have workspaces', async (t) => {
    const [first, second] = cluster.workers.map((worker) => workspacesOn(worker).length);
    assert.ok(first && second && first + second === petstore.keys.size, `${first} and ${second}`);
    t.diagnostic(`${first} and ${second} workspaces`);
  });

  await t.test('400 orders on a stock of 100: exactly 100 are accepted', async (t) => {
    await petstore.call(0, 'PATCH', '/inventory/1', { body: { quantity: 100 } });
    let again = 0;
    const answers = await petstore.load(upTo(400), async (i, n) => {
      const order = { body: { petId: 1 }, headers: { 'idempotency-key': `order-${n}` } };
      for (;;) {
        const answer = await petstore.call(i, 'POST', '/store/orders', order);
        // On a busy machine the wait for the shared row may time out.
        if (answer.status !== 503) return answer;
        again++;
      }
    });
    assert.equal(withStatus(answers, 201).length, 100);
    assert.equal(answers.filter(({ body }) => body.code === 'insufficient_stock').length, 300);
    const { body } = await petstore.call(1, 'GET', '/inventory/1');
    assert.deepEqual(body, { petId: 1, quantity: 0, status: 'pending' });
    t.diagnostic(`${again} had to be sent again after 503`);
  });

  await t.test('one Idempotency-Key from all instances at once creates one thing', async () => {
    for (const text of ['a', 'b', 'c', 'd', 'e']) {
      const pet = { body: { name: 'Zed', categoryId: 1 }, headers: { 'idempotency-key': text } };
      const answers = await petstore.load(upTo(24), (i) => petstore.call(i, 'POST', '/pets', pet));
      const created = withStatus(answers, 201);
      assert.equal(created.filter(({ headers }) => !headers['idempotency-replayed']).length, 1);
      assert.equal(new Set(created.map(({ text }) => text)).size, 1);
      assert.equal(created.length + withStatus(answers, 409).length, 24);
    }
    assert.equal((await petstore.call(0, 'GET', '/pets?limit=100')).body.length, 25);
  });

  await t.test('a workspace keeps its invariants if it is reset while others write to it', async () => {
    let reset: Promise<void> | undefined;
    const answers = await petstore.load(upTo(300), (i, n) => {
      if (n === 100) reset = petstore.commandBeside('workspaces', 'reset', 'demo', '--yes');
      return petstore.call(i, 'POST', '/store/orders', { body: { petId: 13 } });
    });
    await reset;
    for (const { status, text } of answers) assert.ok([201, 400, 409, 503].includes(status), text);
    const id = await idOf('demo');
    await assertInvariants(db.read, id);
    const [row] = await db.read`
      select sum(quantity) from orders where workspace_id = ${id} and pet_id = 13 and complete = 0`;
    const { quantity } = (await petstore.call(0, 'GET', '/inventory/13')).body;
    assert.equal(quantity + Number(row?.[0]), 40, 'stock and orders add up');
  });

  await t.test('each history is complete and in order, and its events add up to the lists', async (t) => {
    const requests = fc.sample(request, { numRuns: 600, seed });
    const getIn = (workspace: string) => (path: string) =>
      petstore.call(Math.floor(Math.random() * 4), 'GET', path, { workspace });
    const seeded = await readLists(getIn('ash'));
    let isWritten = false;
    const reading = others.map((workspace) => follow(getIn(workspace), seeded, () => isWritten));
    const answered = new Map<string, JsonAnswer[]>(others.map((workspace) => [workspace, []]));
    await petstore.load(upTo(requests.length), async (i, n) => {
      const workspace = others[n % others.length] as string;
      const { method, path, nth, body, idempotencyKey } = requests[n] as Request;
      const headers = { ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) };
      const at = nth === undefined ? path : `${path}/${nth + 1}`;
      const answer = await petstore.call(i, method, at, { workspace, body, headers });
      assert.ok(answer.status < 500, answer.text);
      answered.get(workspace)?.push(answer);
      return answer;
    });
    isWritten = true;
    let count = 0;
    for (const [i, { lists, events }] of (await Promise.all(reading)).entries()) {
      const workspace = others[i] as string;
      assert.deepEqual(lists, await readLists(getIn(workspace)));
      assertEventsOf(answered.get(workspace) as JsonAnswer[], events.slice(1));
      await assertInvariants(db.read, await idOf(workspace));
      count += events.length;
    }
    t.diagnostic(`${count} events in ${others.length} workspaces`);
  });

  await t.test(
    'ten random histories are complete and in order, as in `npm run proof -- history`',
    async () => {
      const store = new Petstore(await openPostgres(url, patienceMs), '');
      // The services would forget older events.
      store.nowMs = Date.now();
      await proveHistories(store, 10, seed).finally(() => store.close());
    },
  );

  await t.test('a webhook gets the events of all instances once each, in order', async (t) => {
    const receiver = await startReceiver(t);
    const body = { url: receiver.url, types: ['category.created'] };
    assert.equal((await petstore.call(0, 'POST', '/store/webhooks', { body })).status, 201);
    const answers = await petstore.load(upTo(120), (i, n) =>
      petstore.call(i, 'POST', '/categories', { body: { name: `Category ${n}` } }),
    );
    await until(() => receiver.messages.length >= answers.length, patienceMs);
    const ids = answers.map((answer) => answer.body.id).sort((a, b) => a - b);
    assert.deepEqual(
      receiver.messages.map((message) => JSON.parse(message.body).data.id),
      ids,
    );
    await petstore.call(0, 'DELETE', '/store/webhooks/1');
  });

  await t.test('a Pro key has its 300 requests a minute, counted in Valkey', async () => {
    const key = petstore.addKey('fir', ['--plan', 'pro']);
    await roomInMinute(15_000);
    const answers = await petstore.load(upTo(480), (i) => petstore.call(i, 'GET', '/pets/1', { key }));
    const left = withStatus(answers, 200).map(remaining);
    assert.deepEqual(
      left.sort((a, b) => a - b),
      Array.from({ length: 300 }, (_, i) => i),
    );
  });

  await t.test(
    'all instances perform a rehearsal that one instance started, count each use once, and stop when it ends',
    async () => {
      const key = petstore.addKey('ash', ['--plan', 'pro']);
      const body = { faults: [{ fault: 'internal-error', operation: 'getPet', times: 20 }] };
      const begun = await petstore.call(0, 'POST', '/rehearsals', { key, body, start: '/lab' });
      assert.equal(begun.status, 201, begun.text);
      const ask = (i: number) => petstore.call(i, 'GET', '/pets/1', { key });
      const answers = await petstore.load(upTo(40), ask);
      assert.deepEqual([withStatus(answers, 500).length, withStatus(answers, 200).length], [20, 20]);
      const ended = await petstore.call(1, 'DELETE', `/rehearsals/${begun.body.id}`, { key, start: '/lab' });
      assert.equal(ended.body.faults[0].performed, 20);
      assert.equal(
        (await petstore.load(upTo(8), ask)).every(({ status }) => status === 200),
        true,
      );
    },
  );

  await t.test('a workspace is listed, and its deletion removes all of its rows', async () => {
    const id = await idOf('elm');
    const listed: { name: string; pets: number }[] = JSON.parse(
      petstore.command('workspaces', 'list', '--json'),
    );
    assert.deepEqual(
      listed.map(({ name, pets }) => [name, pets > 0]),
      ['demo', ...others].map((name) => [name, true]),
    );
    petstore.command('workspaces', 'delete', 'elm', '--yes');
    assert.deepEqual(await filledTables(db.read, id), []);
    await until(async () => (await petstore.call(3, 'GET', '/pets/1', { workspace: 'elm' })).status === 401);
    petstore.keys.delete('elm');
  });

  await petstore.stop(viaWorker);

  await t.test(
    'while a worker is down, its workspaces get 503, others work, and no acknowledged write is lost',
    async () => {
      const [worker, other] = cluster.workers;
      const [at, elsewhere] = [worker, other].map((one) =>
        workspacesOn(one).find((name) => petstore.keys.has(name)),
      );
      const place = async (workspace = '') =>
        petstore.call(0, 'POST', '/store/orders', { workspace, body: {} });
      const { body } = await place(at);
      await worker.stop('immediate');
      assert.deepEqual([(await place(at)).status, (await place(elsewhere)).status], [503, 201]);
      await worker.start();
      await until(async () => (await place(at)).status === 201);
      // A coordinator process notices its lost connection to the worker at its next use.
      await until(async () => {
        const answers = await petstore.load(upTo(96), (i) =>
          petstore.call(i, 'POST', '/store/orders', { workspace: at as string, body: {} }),
        );
        return answers.every(({ status }) => status === 201);
      });
      const kept = await petstore.call(0, 'GET', `/store/orders/${body.id}`, { workspace: at as string });
      assert.deepEqual(kept.body, body);
    },
  );

  await t.test('for five seconds every write gets 201', async (t) => {
    const written = [...petstore.keys.keys()];
    const endMs = performance.now() + loadMs;
    const answers = await petstore.load(
      () => performance.now() < endMs,
      (i, n) => {
        const workspace = written[i % written.length] as string;
        return n % 2
          ? petstore.call(i, 'POST', '/store/orders', { workspace, body: {} })
          : petstore.call(i, 'POST', '/categories', { workspace, body: { name: `Category ${n}` } });
      },
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    t.diagnostic(`${answers.length} writes by 24 clients in ${written.length} workspaces`);
  });
});

/** Reads page after page until all is written and read, and checks each event against those before it. */
async function follow(get: (path: string) => Promise<JsonAnswer>, seeded: Lists, isWritten: () => boolean) {
  const follower = new Follower();
  const events: Event[] = [];
  for (let isLast = false; ; isLast = isWritten()) {
    for (const event of await readEvents(get, follower.position)) {
      events.push(event);
      follower.follow(event);
      if (event.type === 'workspace.seeded') follower.lists = new Map(seeded);
    }
    if (isLast) return { lists: follower.lists, events };
  }
}
