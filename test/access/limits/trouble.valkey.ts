/** Limits with a server that responds and cannot work: a part of `npm test -- valkey`. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Redis } from 'iovalkey';
import { startPetstore } from '../../support/petstore.ts';
import { freePort } from '../../support/port.ts';
import { alone, clock, isShared, logged, metrics, shared } from '../../support/sharing.ts';
import { until } from '../../support/until.ts';
import { adminOf, needsValkey, startCluster, startValkey, type ValkeyServer } from '../../support/valkey.ts';

const timeoutMs = 1_000;

const single = async (t: TestContext, args: string[] = []) => [await startValkey(t, { args })];

type Harm = (admin: Redis) => Promise<() => Promise<unknown>>;

/** Sets a bad value, and then a good one. */
const setting = (name: string, bad: string, good: string, dropsClients = false): Harm => {
  return async (admin) => {
    await admin.config('SET', name, bad);
    if (dropsClients) await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    return () => admin.config('SET', name, good);
  };
};

/** The logged reason, how to cause and fix it, and the servers if one with defaults is not enough. */
const troubles: [string, Harm, ((t: TestContext) => Promise<ValkeyServer[]>)?][] = [
  ['OOM', setting('maxmemory', '1', '0')],
  ['NOAUTH', setting('requirepass', 'sesame', '', true)],
  ['NOREPLICAS', setting('min-replicas-to-write', '1', '0')],
  ['max number of clients reached', setting('maxclients', '1', '100', true)],
  [
    'MASTERDOWN',
    async (admin) => {
      await admin.config('SET', 'replica-serve-stale-data', 'no');
      await admin.replicaof('127.0.0.1', await freePort());
      return () => admin.replicaof('NO', 'ONE');
    },
  ],
  [
    'LOADING',
    async (admin) => {
      await admin.call('DEBUG', 'POPULATE', '2000');
      const isLoaded = admin.call('DEBUG', 'RELOAD');
      return () => isLoaded;
    },
    (t) =>
      single(t, [
        ...['--enable-debug-command', 'yes', '--key-load-delay', '1000'],
        ...['--loading-process-events-interval-bytes', '1024'],
      ]),
  ],
  [
    'CLUSTERDOWN',
    async (admin) => {
      await admin.call('CLUSTER', 'DELSLOTS', '0');
      return () => admin.call('CLUSTER', 'ADDSLOTS', '0');
    },
    startCluster,
  ],
];

for (const [reason, harm, start = single] of troubles) {
  test(`${reason}: an instance limits alone, says so once, and shares again`, needsValkey, async (t) => {
    const [server] = (await start(t)) as [ValkeyServer];
    const store = await startPetstore(t, { valkey: { urls: [server.url], timeoutMs, clock } });
    // New keys each time, since only a slot of the first server shows the cluster's state.
    const use = async () => {
      const keys = await Promise.all(Array.from({ length: 6 }, () => store.addKey('free')));
      return Promise.all(keys.map(({ key }) => store.call('GET', '/pets/1', { key })));
    };
    await use();
    assert.ok(isShared(store));
    const heal = await harm(adminOf(t, server));
    await until(async () => {
      assert.ok((await use()).every(({ status }) => status === 200 || status === 429));
      return !isShared(store);
    });
    await until(() => logged(store, reason) > 0);
    assert.equal((await metrics(store)).shared, 0);
    assert.equal((await store.send('GET', '/readyz', { key: null })).status, 200);
    await heal();
    await until(() => isShared(store));
    assert.deepEqual([logged(store, reason), logged(store, alone), logged(store, shared)], [1, 1, 2]);
  });
}

test('an unusable address is logged, and no other database is used', needsValkey, async (t) => {
  const { url } = await startValkey(t);
  const nobody = `redis://localhost:${await freePort()}`;
  for (const [address, reason] of [
    [`${url}/99`, 'DB index is out of range'],
    [nobody, 'ECONNREFUSED'],
  ] as const) {
    const store = await startPetstore(t, { valkey: { urls: [address], timeoutMs, clock } });
    assert.equal(isShared(store), false);
    assert.equal(logged(store, reason), 1);
  }
});
