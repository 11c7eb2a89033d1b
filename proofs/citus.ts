// npm run proof:citus: Petstore on Citus, a coordinator and two workers, whose extension must be installed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { openPostgres } from '../src/db/postgres.ts';
import { tables } from '../src/db/tables.ts';
import { CitusCluster, whyNoCitus } from '../test/support/citus-cluster.ts';
import { contentOf, filledTables } from '../test/support/content.ts';
import { startReceiver } from '../test/support/dispatching.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import {
  assertToldOf,
  type Event,
  Follower,
  type Lists,
  readEvents,
  readLists,
} from '../test/support/history.ts';
import { proveHistories } from '../test/support/history-proof.ts';
import { type Request, request } from '../test/support/history-steps.ts';
import { patienceMs, withStatus } from '../test/support/instances.ts';
import { assertInvariants } from '../test/support/invariants.ts';
import { remaining, roomInMinute } from '../test/support/limits.ts';
import { type CallOptions, fetchChecked, type JsonAnswer, Petstore } from '../test/support/petstore.ts';
import type { PostgresCluster } from '../test/support/postgres-cluster.ts';
import { bin, environment, petstore, startService } from '../test/support/service.ts';
import { until } from '../test/support/until.ts';
import { startValkey } from '../test/support/valkey.ts';

const reason = whyNoCitus();
if (reason) {
  console.error(`proof:citus: ${reason}.`);
  process.exit(1);
}

const clients = 24;
const workspaces = ['demo', 'ash', 'birch', 'cedar', 'elm', 'fir'];
const loadMs = 5_000;
const ample = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];

test('Petstore on Citus', async (t) => {
  const cluster = await CitusCluster.start();
  t.after(() => cluster.remove());
  const env = {
    PETSTORE_DATA_DIR: temporaryFolder(t),
    DATABASE_URL: cluster.coordinator.url,
    VALKEY_URL: (await startValkey(t)).url,
    LOG_LEVEL: 'warn',
  };
  const start = (url: string) => startService(t, env.PETSTORE_DATA_DIR, { ...env, DATABASE_URL: url });

  const command = (...args: string[]): string => {
    const { status, stdout, stderr } = petstore(args, env);
    assert.equal(status, 0, stderr);
    return stdout;
  };
  /** A command that runs while this process sends requests. */
  const commandBeside = (...args: string[]) =>
    promisify(execFile)(process.execPath, [bin, ...args], { env: environment(env) });
  const newKey = (workspace: string, plan = ample): string =>
    JSON.parse(command('keys', 'create', '--workspace', workspace, ...plan, '--json')).key;

  await (await start(cluster.coordinator.url)).stop('SIGTERM');
  const db = await openPostgres(cluster.coordinator.url, patienceMs);
  t.after(() => db.close());

  await t.test('what a start of Petstore made is spread as it was', async (t) => {
    const before = await contentOf(db.read);
    cluster.distribute();
    assert.equal(await contentOf(db.read), before);
    const spread = () => db.read`
      select logicalrelid::text, partmethod::text, repmodel::text, colocationid from pg_dist_partition order by 1`;
    const nodes = await spread();
    const ofKind = (kind: string) => nodes.filter(([, method]) => method === kind);
    assert.deepEqual(
      ofKind('h').map(([table]) => table),
      tables
        .map(({ name }) => name)
        .filter((name) => name !== 'api_keys')
        .sort(),
    );
    assert.equal(new Set(ofKind('h').map(([, , , group]) => group)).size, 1, 'they lie together');
    assert.deepEqual(
      ofKind('n').map(([table]) => table),
      ['api_keys', 'schema_version', 'workspaces'],
    );
    cluster.distribute();
    assert.deepEqual(await spread(), nodes, 'a second run changes nothing');
    t.diagnostic(`${tables.length - 1} distributed tables, ${ofKind('n').length} reference tables`);
  });

  for (const name of workspaces.slice(1)) command('workspaces', 'create', name, '--seed');
  const keys = new Map(workspaces.map((name) => [name, newKey(name)]));
  const keyOf = (workspace: string) => keys.get(workspace) as string;
  const idOf = async (workspace: string) =>
    Number((await db.read`select id from workspaces where name = ${workspace}`)[0]?.[0]);
  // The last one is asked through a worker.
  const nodes = [cluster.coordinator, cluster.coordinator, cluster.coordinator, cluster.workers[0]];
  const origins: string[] = [];
  for (const { url } of nodes) origins.push((await start(url)).origin);

  /** Asks one of the instances, by the key of the first workspace unless it is another's. */
  const call = (instance: number, method: string, path: string, options: CallOptions = {}) => {
    const origin = origins[instance % origins.length] as string;
    return fetchChecked(origin, method, path, { ...options, key: options.key ?? keyOf('demo') });
  };
  /** What is answered for 0, 1 and so on, asked by many clients, each of its own instance. */
  const load = async (
    goesOn: (n: number) => boolean,
    ask: (client: number, n: number) => Promise<JsonAnswer>,
  ) => {
    const answers: JsonAnswer[] = [];
    let next = 0;
    const client = async (_: unknown, i: number) => {
      while (goesOn(next)) answers.push(await ask(i, next++));
    };
    await Promise.all(Array.from({ length: clients }, client));
    return answers;
  };
  const times = (count: number) => (n: number) => n < count;

  /** Each workspace with the port of the worker that has it. */
  const homes = await db.read`
    select w.name, n.nodeport from workspaces w, pg_dist_placement p join pg_dist_node n on n.groupid = p.groupid
    where p.shardid = get_shard_id_for_distribution_column('pets', w.id) order by w.id`;
  const thoseOn = ({ port }: PostgresCluster) =>
    homes.filter(([, other]) => other === port).map(([name]) => String(name));

  await t.test('the workspaces lie on both workers', async (t) => {
    const [first, second] = cluster.workers.map((worker) => thoseOn(worker).length);
    assert.ok(first && second && first + second === workspaces.length, `${first} and ${second}`);
    t.diagnostic(`${first} and ${second} workspaces`);
  });

  await t.test('1,000 orders on a stock of 100: exactly 100 are accepted', async () => {
    await call(0, 'PATCH', '/inventory/1', { body: { quantity: 100 } });
    const answers = await load(times(1000), (i) => call(i, 'POST', '/store/orders', { body: { petId: 1 } }));
    assert.equal(withStatus(answers, 201).length, 100);
    assert.equal(answers.filter(({ body }) => body.code === 'insufficient_stock').length, 900);
    const { body } = await call(1, 'GET', '/inventory/1');
    assert.deepEqual(body, { petId: 1, quantity: 0, status: 'pending' });
  });

  await t.test('one Idempotency-Key from all instances at once creates one thing', async () => {
    for (const text of ['a', 'b', 'c', 'd', 'e']) {
      const pet = { body: { name: 'Zed', categoryId: 1 }, headers: { 'idempotency-key': text } };
      const answers = await load(times(clients), (i) => call(i, 'POST', '/pets', pet));
      const created = withStatus(answers, 201);
      assert.equal(created.filter(({ headers }) => !headers['idempotency-replayed']).length, 1);
      assert.equal(new Set(created.map(({ text }) => text)).size, 1);
      assert.equal(created.length + withStatus(answers, 409).length, clients);
    }
    assert.equal((await call(0, 'GET', '/pets?limit=100')).body.length, 25);
  });

  await t.test('a workspace that is reset while others write to it keeps its rules', async () => {
    let reset: Promise<unknown> | undefined;
    const answers = await load(times(600), (i, n) => {
      if (n === 200) reset = commandBeside('workspaces', 'reset', 'demo', '--yes');
      return call(i, 'POST', '/store/orders', { body: { petId: 13 } });
    });
    await reset;
    for (const { status, text } of answers) assert.ok([201, 400, 409].includes(status), text);
    await assertInvariants(db.read, 1);
    const [row] = await db.read`
      select sum(quantity) from orders where workspace_id = 1 and pet_id = 13 and complete = 0`;
    const { quantity } = (await call(0, 'GET', '/inventory/13')).body;
    assert.equal(quantity + Number(row?.[0]), 40, 'what is gone from stock stands in orders');
  });

  await t.test(
    'the history of each workspace has no gap, is in order, and leads to what the lists show',
    async (t) => {
      const requests = fc.sample(request, { numRuns: 900, seed: 20_261_122 });
      const written = workspaces.slice(1);
      const get = (workspace: string) => (path: string) =>
        call(Math.floor(Math.random() * origins.length), 'GET', path, { key: keyOf(workspace) });
      const seeded = await readLists(get('ash'));
      let isWritten = false;
      const reading = written.map((workspace) => follow(get(workspace), seeded, () => isWritten));
      const sent = new Map<string, JsonAnswer[]>(written.map((workspace) => [workspace, []]));
      await load(times(requests.length), async (i, n) => {
        const workspace = written[n % written.length] as string;
        const { method, path, nth, body, idempotencyKey } = requests[n] as Request;
        const headers = { ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) };
        const at = nth === undefined ? path : `${path}/${nth + 1}`;
        const answer = await call(i, method, at, { key: keyOf(workspace), body, headers });
        assert.ok(answer.status < 500, answer.text);
        sent.get(workspace)?.push(answer);
        return answer;
      });
      isWritten = true;
      let count = 0;
      for (const [i, { lists, events }] of (await Promise.all(reading)).entries()) {
        const workspace = written[i] as string;
        assert.deepEqual(lists, await readLists(get(workspace)));
        assertToldOf(sent.get(workspace) as JsonAnswer[], events.slice(1));
        await assertInvariants(db.read, await idOf(workspace));
        count += events.length;
      }
      t.diagnostic(`${count} events in ${written.length} workspaces`);
    },
  );

  await t.test('histories of steps at random, as by proof:history', async () => {
    const store = new Petstore(await openPostgres(cluster.coordinator.url, patienceMs), '');
    try {
      await proveHistories(store, 10, 20_261_122);
    } finally {
      await store.close();
    }
  });

  await t.test('events that all instances write reach a webhook once each, in order', async () => {
    const receiver = await startReceiver(t);
    const body = { url: receiver.url, types: ['category.created'] };
    assert.equal((await call(0, 'POST', '/store/webhooks', { body })).status, 201);
    const { body: last } = await call(0, 'POST', '/categories', { body: { name: 'First' } });
    await load(times(120), (i, n) => call(i, 'POST', '/categories', { body: { name: `Category ${n}` } }));
    await until(() => receiver.messages.length >= 121);
    const categories = receiver.messages.map((message) => JSON.parse(message.body).data.id);
    assert.deepEqual(
      categories,
      Array.from({ length: 121 }, (_, i) => last.id + i),
    );
  });

  await t.test('300 requests of a Pro key are admitted in a minute, counted in Valkey', async () => {
    const key = newKey('fir', ['--plan', 'pro']);
    await roomInMinute(15_000);
    const answers = await load(times(480), (i) => call(i, 'GET', '/pets/1', { key }));
    const left = withStatus(answers, 200).map(remaining);
    assert.deepEqual(
      left.sort((a, b) => a - b),
      Array.from({ length: 300 }, (_, i) => i),
    );
    assert.equal(left.length + withStatus(answers, 429).length + withStatus(answers, 403).length, 480);
  });

  await t.test(
    'a workspace is listed with what it holds, and nothing of it is left once it is deleted',
    async () => {
      const id = await idOf('elm');
      const listed = JSON.parse(command('workspaces', 'list', '--json'));
      assert.deepEqual(listed.map(({ name }: { name: string }) => name).sort(), workspaces.toSorted());
      assert.ok(listed.every(({ pets }: { pets: number }) => pets > 0));
      command('workspaces', 'delete', 'elm', '--yes');
      assert.deepEqual(await filledTables(db.read, id), []);
      await until(async () => (await call(3, 'GET', '/pets/1', { key: keyOf('elm') })).status === 401);
    },
  );

  await t.test(
    'while a worker is away only its workspaces are refused, and what was answered is kept',
    async (t) => {
      const [worker, other] = cluster.workers;
      const [at = '', elsewhere = ''] = [thoseOn(worker)[0], thoseOn(other)[0]];
      // Of an instance that does not ask through that worker.
      const place = (name: string) => call(0, 'POST', '/store/orders', { key: keyOf(name), body: {} });
      const { body } = await place(at);
      await worker.stop('immediate');
      const statuses = [(await place(at)).status, (await place(elsewhere)).status];
      t.diagnostic(`its own: ${statuses[0]}, others: ${statuses[1]}`);
      await worker.start();
      await until(async () => (await place(at)).status === 201);
      const kept = await call(0, 'GET', `/store/orders/${body.id}`, { key: keyOf(at) });
      assert.deepEqual(kept.body, body);
      assert.deepEqual(statuses, [503, 201]);
      await until(async () => (await call(3, 'GET', '/pets/1')).status === 200);
    },
  );

  await t.test('for five seconds every write is answered 201', async (t) => {
    const written = [...keys.keys()].filter((name) => name !== 'elm');
    const endMs = performance.now() + loadMs;
    const answers = await load(
      () => performance.now() < endMs,
      (i, n) => {
        const key = keyOf(written[i % written.length] as string);
        return n % 2
          ? call(i, 'POST', '/store/orders', { key, body: {}, headers: { 'idempotency-key': `k${n}` } })
          : call(i, 'POST', '/categories', { key, body: { name: `Category ${n}` } });
      },
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    t.diagnostic(`${answers.length} writes by ${clients} clients in ${written.length} workspaces`);
  });
});

/** Reads page after page until all is written and read, and holds each event against those before it. */
async function follow(get: (path: string) => Promise<JsonAnswer>, seeded: Lists, isWritten: () => boolean) {
  const follower = new Follower();
  const events: Event[] = [];
  for (let isLast = false; ; isLast = isWritten()) {
    const page = await readEvents(get, follower.position);
    for (const event of page) {
      events.push(event);
      follower.follow(event);
      if (event.type === 'workspace.seeded') follower.lists = new Map(seeded);
    }
    if (isLast) return { lists: follower.lists, events };
  }
}
