import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clearBan } from '../../../src/access/keys/store.ts';
import { accountName } from '../../../src/access/limits/shared-accounts.ts';
import {
  assertAdmitted,
  remaining,
  restart,
  roomInMinute,
  startWithKey,
  times,
} from '../../support/limits.ts';
import { fetchChecked, startPetstore } from '../../support/petstore.ts';
import { freePort } from '../../support/port.ts';
import { receive } from '../../support/receiver.ts';
import { command, createKeyWith, petstore, printed, startService } from '../../support/service.ts';
import {
  alone,
  clock,
  isShared,
  logged,
  metrics,
  shared,
  startInstances,
  Traffic,
} from '../../support/sharing.ts';
import { temporaryStorage, testDatabaseUrl } from '../../support/storage.ts';
import { until } from '../../support/until.ts';
import {
  adminOf,
  needsValkey,
  nodeOf,
  serverKinds,
  startCluster,
  startValkey,
  type ValkeyServer,
} from '../../support/valkey.ts';
import { numbers, statusesOf } from '../../support/values.ts';

/** A timeout for requests that must not fail on a busy machine. */
const patienceMs = 10_000;
/** A timeout for tests of an outage of Valkey. */
const timeoutMs = 100;
/** The delay that a busy machine may add. */
const marginMs = 2_000;

for (const [name, start] of serverKinds) {
  test(`with ${name}, three instances admit exactly 300 requests a minute`, needsValkey, async (t) => {
    const urls = (await start(t)).slice(0, 1).map(({ url }) => url);
    const stores = await startInstances(t, 3, { urls, timeoutMs: patienceMs, clock });
    const { key } = await stores[0].addKey('pro');
    const origins = await Promise.all(stores.map((store) => store.listen()));
    const client = (_: unknown, i: number) =>
      times(8, () => fetchChecked(origins[i % 3] as string, 'GET', '/pets/1', { key }));
    const answers = (await Promise.all(Array.from({ length: 60 }, client))).flat();
    assertAdmitted(answers, 300);
    for (const store of stores) assert.equal((await metrics(store)).fallbacks, 0);
  });
}

test('a ban on one instance applies on all, and clearing it reaches all', needsValkey, async (t) => {
  const { url } = await startValkey(t);
  const stores = await startInstances(t, 3, { urls: [url], timeoutMs: patienceMs, clock });
  const { key, id } = await stores[0].addKey('enterprise', { perMinute: 1, perDay: 100 });
  const statuses = () =>
    Promise.all(stores.map(async (store) => (await store.call('GET', '/pets/1', { key })).status));
  const counted = (await times(4, statuses)).flat().sort();
  assert.deepEqual(counted, [200, 403, ...Array(10).fill(429)]);
  assert.deepEqual(await statuses(), [403, 403, 403]);
  await stores[0].db.write((sql) => clearBan(sql, id, clock()));
  await sleep(600);
  assert.ok(!(await statuses()).includes(403));
});

test('instances with different clocks share one window, by the server clock', needsValkey, async (t) => {
  const { url } = await startValkey(t);
  const stores = await startInstances(t, 2, { urls: [url], timeoutMs: patienceMs });
  const { key } = await stores[0].addKey('free');
  await roomInMinute(10_000);
  const minuteEndsAt = String(Math.ceil(Date.now() / 60_000) * 60);
  for (const [i, store] of stores.entries()) {
    store.nowMs += i * 45_000;
    const answer = await store.call('GET', '/pets/1', { key });
    assert.deepEqual([remaining(answer), answer.headers['x-ratelimit-reset']], [59 - i, minuteEndsAt]);
  }
});

test('concurrent requests of a key share a round trip, and each is counted', needsValkey, async (t) => {
  const { url } = await startValkey(t);
  const store = await startPetstore(t, { valkey: { urls: [url], timeoutMs: patienceMs, clock } });
  const { key } = await store.addKey('free');
  const { key: other } = await store.addKey('free');
  await Promise.all([key, other].map((key) => store.call('GET', '/pets/1', { key })));
  const before = (await metrics(store)).roundTrips;
  const arriving = [...Array(70).fill(key), ...Array(5).fill(other)];
  const answers = await Promise.all(arriving.map((key) => store.call('GET', '/pets/1', { key })));
  assert.equal((await metrics(store)).roundTrips, before + 2);
  const [own, others] = [answers.slice(0, 70), answers.slice(70)];
  assert.deepEqual(statusesOf(own), [...Array(59).fill(200), ...Array(11).fill(429)]);
  assert.deepEqual(own.slice(0, 59).map(remaining), numbers(59, 0).reverse());
  assert.deepEqual(others.map(remaining), [58, 57, 56, 55, 54]);
});

test('counts survive restarts, and each request costs one round trip', needsValkey, async (t) => {
  const { url } = await startValkey(t);
  const valkey = { urls: [url], timeoutMs: patienceMs, clock };
  const { store, key, ask } = await startWithKey(t, 'free', { valkey });
  const before = (await metrics(store)).roundTrips;
  await times(7, ask);
  assert.equal((await metrics(store)).roundTrips, before + 7);
  const next = await restart(t, store, { valkey });
  assert.equal(remaining(await next.call('GET', '/pets/1', { key })), 52);
});

test('a server that has lost the script gets it again', needsValkey, async (t) => {
  const server = await startValkey(t);
  const valkey = { urls: [server.url], timeoutMs: patienceMs, clock };
  const { store, ask } = await startWithKey(t, 'free', { valkey });
  await ask();
  await adminOf(t, server).script('FLUSH');
  assert.equal(remaining(await ask()), 58);
  assert.equal((await metrics(store)).fallbacks, 0);
});

test('when the server dies, every instance continues, and shares when it is back', needsValkey, async (t) => {
  const first = await startValkey(t);
  const stores = await startInstances(t, 3, { urls: [first.url], timeoutMs, clock });
  const { key } = await stores[0].addKey('business');
  const traffic = new Traffic([...stores, ...stores], key);
  await sleep(200);
  await first.kill();
  await until(() => stores.every((store) => !isShared(store)));
  await traffic.more(100);
  for (const store of stores) {
    const { shared, fallbacks } = await metrics(store);
    assert.equal(shared, 0);
    assert.ok(fallbacks > 0);
    assert.equal(logged(store, alone), 1);
  }
  await startValkey(t, { port: first.port });
  await until(() => stores.every(isShared));
  await traffic.stop();
  assert.ok(traffic.answers.every(({ status }) => [200, 429, 403].includes(status)));
  assert.ok(traffic.longestMs < timeoutMs + marginMs, `${traffic.longestMs} ms`);
  for (const store of stores) {
    assert.equal((await metrics(store)).shared, 1);
    assert.equal(logged(store, shared), 2);
  }
  const other = (await stores[0].addKey('free')).key;
  const left = await times(3, async () =>
    Promise.all(stores.map(async (store) => remaining(await store.call('GET', '/pets/1', { key: other })))),
  );
  assert.deepEqual(
    left.flat().sort((a, b) => a - b),
    numbers(9, 51),
  );
});

test('a server that stops responding causes one time-out, and loses no count', needsValkey, async (t) => {
  const { url, child } = await startValkey(t);
  const { store, ask } = await startWithKey(t, 'free', { valkey: { urls: [url], timeoutMs, clock } });
  const { key: banned } = await store.addKey('enterprise', { perMinute: 1, perDay: 100 });
  await times(20, ask);
  assert.equal((await times(12, () => store.call('GET', '/pets/1', { key: banned }))).at(-1)?.status, 403);
  child.kill('SIGSTOP');
  const startedMs = performance.now();
  const together = await Promise.all(Array.from({ length: 20 }, ask));
  const waitedMs = performance.now() - startedMs;
  assert.ok(waitedMs < timeoutMs + marginMs, `${waitedMs} ms`);
  assert.deepEqual(
    together.map(remaining).sort((a, b) => a - b),
    numbers(20, 20),
    'this instance counts on from where the shared count was',
  );
  assert.equal((await store.call('GET', '/pets/1', { key: banned })).status, 403);
  const { shared, roundTrips } = await metrics(store);
  assert.equal(shared, 0);
  await times(20, ask);
  assert.equal((await metrics(store)).roundTrips, roundTrips, 'nothing is asked while it is away');
  child.kill('SIGCONT');
  await until(() => isShared(store));
  assert.equal((await store.call('GET', '/pets/1', { key: banned })).status, 403);
});

test('with a port that accepts connections and never responds, only the start waits', async (t) => {
  let open = 0;
  const { port } = await receive(t, (socket) => {
    open++;
    socket.resume().on('close', () => open--);
  });
  const store = await startPetstore(t, { valkey: { urls: [`redis://127.0.0.1:${port}`], timeoutMs, clock } });
  assert.equal(logged(store, alone), 1);
  const startedMs = performance.now();
  await times(50, async () => assert.equal((await store.call('GET', '/pets/1')).status, 200));
  assert.ok(performance.now() - startedMs < 50 * timeoutMs);
  await sleep(3_000);
  assert.ok(open <= 2, `${open} connections are open`);
});

test('without a server the service starts, says so, and shares once one is there', needsValkey, async (t) => {
  const port = await freePort();
  const env = { VALKEY_URL: `redis://127.0.0.1:${port}` };
  const service = await startService(t, await temporaryStorage(t), env);
  assert.ok(service.output().includes(alone));
  assert.ok(service.output().includes('ECONNREFUSED'));
  assert.equal((await fetch(`${service.origin}/readyz`)).status, 200);
  await startValkey(t, { port });
  await until(() => service.output().includes(shared));
  assert.equal((await service.stop('SIGTERM')).code, 0);
});

test('a lost node of a cluster ends sharing until it is back', needsValkey, async (t) => {
  const servers = await startCluster(t);
  const [, lost] = servers as [ValkeyServer, ValkeyServer];
  const store = await startPetstore(t, { valkey: { urls: servers.map(({ url }) => url), timeoutMs, clock } });
  // Only the lost node counts the last of them.
  const keys: string[] = [];
  for (let node: number | undefined; node !== 1; ) {
    const { key, id } = await store.addKey('free');
    keys.push(key);
    node = await nodeOf(t, lost, accountName({ workspaceId: 1, id }));
  }
  await until(() => isShared(store));
  const before = logged(store, alone);
  lost.child.kill('SIGSTOP');
  const use = async (key: string) => (await store.call('GET', '/pets/1', { key })).status;
  assert.equal(await use(keys.at(-1) as string), 200);
  assert.equal(isShared(store), false);
  await sleep(1_500);
  for (const key of keys) assert.equal(await use(key), 200);
  assert.equal(logged(store, alone), before + 1, 'it is not found to be back before its own slots are');
  lost.child.kill('SIGCONT');
  await until(() => isShared(store));
});

test('a password opens the server and is never printed', needsValkey, async (t) => {
  const { port } = await startValkey(t, { args: ['--requirepass', 'sesame/1'] });
  const start = (password: string) => {
    const urls = [`redis://:${password}@127.0.0.1:${port}`];
    return startPetstore(t, { valkey: { urls, timeoutMs: patienceMs } });
  };
  const [right, wrong] = [await start('sesame%2F1'), await start('guessed')];
  assert.ok(isShared(right));
  assert.equal(logged(wrong, 'WRONGPASS'), 1);
  assert.equal(logged(wrong, 'guessed'), 0);
  assert.equal(logged(right, 'sesame'), 0);
  const { status, stderr } = petstore(['serve'], { VALKEY_URL: 'redis://:sesame@localhost/x' });
  assert.equal(status, 1);
  assert.ok(!stderr.includes('sesame'));
});

test('a password that a server repeats is not shown on the command line', needsValkey, async (t) => {
  const { port } = await startValkey(t, { args: ['--rename-command', 'AUTH', ''] });
  const VALKEY_URL = `redis://bob:sesame%2F1@127.0.0.1:${port}`;
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t), VALKEY_URL };
  await command(['workspaces', 'create', 'first'], env);
  const { id } = await printed(['keys', 'create', '--plan', 'free', '--workspace', 'first'], env);
  const { status, stderr } = petstore(['keys', 'show', id], env);
  assert.equal(status, 1);
  assert.match(stderr, /^petstore: .*Valkey.*unknown command.*\*\*\*.*\n$/);
  assert.doesNotMatch(stderr, /sesame|bob/);
});

test('the command line shows and changes shared limits, by the server clock', needsValkey, async (t) => {
  const valkey = await startValkey(t);
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder, VALKEY_URL: valkey.url, VALKEY_TIMEOUT_MS: String(patienceMs) };
  const services = [await startService(t, folder, env)];
  // Only one service can use a folder of SQLite. Any number can share a PostgreSQL.
  if (testDatabaseUrl) services.push(await startService(t, folder, env));
  const { id, key } = await createKeyWith(2, 100, env);
  const statuses = async (count: number) => {
    const answers = Array.from({ length: count }, (_, i) =>
      fetchChecked(services[i % services.length]?.origin as string, 'GET', '/pets/1', { key }),
    );
    return (await Promise.all(answers)).map(({ status }) => status).sort();
  };
  const show = () => petstore(['keys', 'show', id, '--json'], env);
  // All in one minute, so that no strike expires meanwhile.
  await roomInMinute(15_000);
  assert.deepEqual(await statuses(6), [200, 200, 429, 429, 429, 429]);
  const used = JSON.parse(show().stdout);
  assert.deepEqual([used.minuteUsed, used.dayRemaining, used.strikes, used.bans], [2, 98, 4, 0]);
  assert.ok((await statuses(8)).includes(403));
  assert.ok(Date.parse(JSON.parse(show().stdout).bannedUntil) > Date.now() + 40_000);
  assert.equal(petstore(['keys', 'unban', id], env).status, 0);
  await sleep(1_000);
  assert.ok(!(await statuses(2)).includes(403));
  await valkey.kill();
  const { status, stdout, stderr } = show();
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^petstore: .*Valkey.*ECONNREFUSED.*\n$/);
});
