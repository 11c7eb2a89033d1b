/** Limits over a cluster that loses a master, and one whose slots move: a part of `npm run test:valkey`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Redis } from 'iovalkey';
import { accountName } from '../src/limits/shared-accounts.ts';
import { remaining, times } from './support/limits.ts';
import { ample, type Petstore } from './support/petstore.ts';
import { alone, clock, isShared, logged, metrics, startInstances, Traffic } from './support/sharing.ts';
import { until } from './support/until.ts';
import { adminOf, needsValkey, replicated, startCluster, type ValkeyServer } from './support/valkey.ts';

/** A master is taken for lost after two seconds, and then its replica is elected. */
const failoverMs = 15_000;
const timeoutMs = 1_000;
/** What a busy machine may add to a time. */
const marginMs = 2_000;
const patienceMs = 10_000;

test(
  'a cluster loses a master, and limits are exact once its replica has taken over',
  needsValkey,
  async (t) => {
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
    // Some of these keys are in the slots that are lost.
    await Promise.all(keys.map(({ key }) => store.call('GET', '/pets/1', { key })));
    await Promise.all(keys.map(({ key }) => other.call('GET', '/pets/1', { key })));
    assert.ok(!stores.some(isShared));
    await until(() => stores.every(isShared), failoverMs);
    await traffic.stop();
    assert.ok(traffic.answers.every(({ status }) => status === 200));
    assert.ok(traffic.longestMs < timeoutMs + marginMs, `${traffic.longestMs} ms`);
    for (const one of stores) assert.equal(logged(one, alone), 1);
    for (const { key } of keys) {
      const calls = Array.from({ length: 70 }, (_, i) =>
        (i % 2 ? store : other).call('GET', '/pets/1', { key }),
      );
      const answers = await Promise.all(calls);
      const left = answers.filter(({ status }) => status === 200).map(remaining);
      // Those that came while it was lost were counted there until the first was not answered.
      assert.ok([53, 54, 55].includes(left.length), `${left.length}`);
      assert.deepEqual(
        left.sort((a, b) => a - b),
        left.map((_, i) => i),
      );
      assert.ok(answers.every(({ status }) => status === 200 || status === 429));
    }
    for (const one of stores) assert.ok(isShared(one));
  },
);

test('slots move under load, and not one request is counted twice or not at all', needsValkey, async (t) => {
  const servers = await startCluster(t);
  const urls = servers.map(({ url }) => url);
  const stores = await startInstances(t, 3, { urls, timeoutMs: patienceMs, clock });
  const admins = servers.map((server) => adminOf(t, server));
  const { key, id } = await stores[0].addKey('enterprise', { perMinute: 100_000, perDay: 100_000 });
  const name = accountName({ workspaceId: 1, id });
  const slot = Number(await admins[0]?.call('CLUSTER', 'KEYSLOT', name));
  const traffic = new Traffic(stores, key);
  await traffic.more(30);
  // From its owner to the next server, three times, so that it comes back.
  const owner = Math.floor((slot * 3) / 16_384);
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

type Move = [[Redis, ValkeyServer], [Redis, ValkeyServer]];

/** Moves a slot with the one account in it, as `redis-cli --cluster reshard` does, with requests between the steps. */
async function moveSlot(slot: number, name: string, [[from], [to, target]]: Move, traffic: Traffic) {
  const [fromId, toId] = [await from.call('CLUSTER', 'MYID'), await to.call('CLUSTER', 'MYID')].map(String);
  // A server that does not know the script is asked in the middle of a move, too.
  await to.script('FLUSH');
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId as string);
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId as string);
  await traffic.more(50);
  await from.migrate('127.0.0.1', target.port, name, 0, patienceMs);
  await traffic.more(50);
  await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId as string);
  await from.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId as string);
  await traffic.more(50);
}
