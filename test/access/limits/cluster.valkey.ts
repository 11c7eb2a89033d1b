/** Limits over a cluster that loses a master, and one whose slots move: a part of `npm test -- valkey`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Redis } from 'iovalkey';
import { accountName } from '../../../src/access/limits/shared-accounts.ts';
import { remaining, times } from '../../support/limits.ts';
import { ample, type Petstore } from '../../support/petstore.ts';
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
import { until } from '../../support/until.ts';
import { adminOf, needsValkey, replicated, startCluster, type ValkeyServer } from '../../support/valkey.ts';

/** After two seconds a master counts as lost, and then its replica is elected. */
const failoverMs = 15_000;
const timeoutMs = 1_000;
/** The delay that a busy machine may add. */
const marginMs = 2_000;
const patienceMs = 10_000;

test('once a replica has taken over from a lost master, limits are exact', needsValkey, async (t) => {
  const servers = await startCluster(t, { hasReplicas: true });
  const urls = servers.map(({ url }) => url);
  const stores = await startInstances(t, 2, { urls, timeoutMs, clock });
  const [store, other] = stores as [Petstore, Petstore];
  const { key: busy } = await store.addKey('enterprise', ample);
  const keys = await Promise.all(Array.from({ length: 12 }, () => store.addKey('free')));
  for (const { key } of keys) await times(5, () => other.call('GET', '/pets/1', { key }));
  for (const master of servers.slice(0, 3)) await replicated(adminOf(t, master));
  const traffic = new Traffic(stores, busy);
  await traffic.more(20);
  const lost = servers[0] as ValkeyServer;
  await lost.kill();
  // Some of these keys are in the lost slots.
  await Promise.all(keys.map(({ key }) => store.call('GET', '/pets/1', { key })));
  await Promise.all(keys.map(({ key }) => other.call('GET', '/pets/1', { key })));
  assert.ok(!stores.some(isShared));
  await until(() => stores.every(isShared), failoverMs);
  // Not all servers know the new master at once, so sharing may stop and start until they do.
  const others = servers.filter((server) => server !== lost).map((server) => adminOf(t, server));
  const isWell = async (server: Redis) =>
    /^cluster_state:ok/m.test(String(await server.call('CLUSTER', 'INFO')));
  await until(async () => (await Promise.all(others.map(isWell))).every(Boolean), failoverMs);
  await until(() => stores.every(isShared), failoverMs);
  await traffic.stop();
  assert.ok(traffic.answers.every(({ status }) => status === 200));
  assert.ok(traffic.longestMs < timeoutMs + marginMs, `${traffic.longestMs} ms`);
  for (const one of stores) {
    const goes = logged(one, alone);
    assert.ok(goes > 0);
    assert.equal(logged(one, shared), 1 + goes, 'one line when it goes, and one when it is back');
  }
  for (const { key } of keys) {
    const calls = Array.from({ length: 70 }, (_, i) =>
      (i % 2 ? store : other).call('GET', '/pets/1', { key }),
    );
    const answers = await Promise.all(calls);
    const left = answers.filter(({ status }) => status === 200).map(remaining);
    // Requests during the loss were counted locally, until the first one got no response.
    assert.ok([53, 54, 55].includes(left.length), `${left.length}`);
    assert.deepEqual(
      left.sort((a, b) => a - b),
      left.map((_, i) => i),
    );
    assert.ok(answers.every(({ status }) => status === 200 || status === 429));
  }
  for (const one of stores) assert.ok(isShared(one));
});

test('while slots move under load, each request is counted exactly once', needsValkey, async (t) => {
  const servers = await startCluster(t);
  const urls = servers.map(({ url }) => url);
  const stores = await startInstances(t, 3, { urls, timeoutMs: patienceMs, clock });
  const admins = servers.map((server) => adminOf(t, server));
  const { key, id } = await stores[0].addKey('enterprise', { perMinute: 100_000, perDay: 100_000 });
  const { name, slot, owner } = await placeOf(admins[0] as Redis, id);
  const traffic = new Traffic(stores, key);
  await traffic.more(30);
  // From its owner to the next server, three times, so that it returns.
  for (let i = owner; i < owner + 3; i++)
    await moveSlot(slot, name, [i % 3, (i + 1) % 3].map((n) => [admins[n], servers[n]]) as Move, traffic);
  await traffic.stop();
  assert.ok(traffic.answers.length > 300);
  assert.deepEqual(
    traffic.answers.map(remaining).sort((a, b) => b - a),
    traffic.answers.map((_, i) => 99_999 - i),
  );
  for (const store of stores) assert.equal((await metrics(store)).fallbacks, 0);
});

test('the service continues when a server is lost to which slots are moving', needsValkey, async (t) => {
  const servers = await startCluster(t);
  const urls = servers.map(({ url }) => url);
  const [store] = await startInstances(t, 1, { urls, timeoutMs, clock });
  const { key, id } = await store.addKey('pro');
  const { slot, owner } = await placeOf(adminOf(t, servers[0] as ValkeyServer), id);
  const [from, to] = [servers[owner], servers[(owner + 1) % 3]] as [ValkeyServer, ValkeyServer];
  await beginMove(slot, adminOf(t, from), adminOf(t, to));
  await to.kill();
  // The other server does not have this account yet, so the owner redirects to it.
  assert.equal((await store.call('GET', '/pets/1', { key })).status, 200);
  assert.equal(isShared(store), false);
  assert.equal((await store.call('GET', '/pets/1', { key })).status, 200);
});

/** The slot of the account of a key, and which server of a new cluster has it. */
async function placeOf(admin: Redis, id: string) {
  const name = accountName({ workspaceId: 1, id });
  const slot = Number(await admin.call('CLUSTER', 'KEYSLOT', name));
  return { name, slot, owner: Math.floor((slot * 3) / 16_384) };
}

async function beginMove(slot: number, from: Redis, to: Redis): Promise<string> {
  const [fromId, toId] = [await from.call('CLUSTER', 'MYID'), await to.call('CLUSTER', 'MYID')].map(String);
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId as string);
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId as string);
  return toId as string;
}

type Move = [[Redis, ValkeyServer], [Redis, ValkeyServer]];

/** Moves a slot with the one account in it, as `redis-cli --cluster reshard` does, with requests between the steps. */
async function moveSlot(slot: number, name: string, [[from], [to, target]]: Move, traffic: Traffic) {
  // During a move, a server without the script also gets a request.
  await to.script('FLUSH');
  const toId = await beginMove(slot, from, to);
  await traffic.more(50);
  await from.migrate('127.0.0.1', target.port, name, 0, patienceMs);
  await traffic.more(50);
  await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  await from.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  await traffic.more(50);
}
