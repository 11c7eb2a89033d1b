import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createKey } from '../../../src/access/keys/store.ts';
import type { Quota } from '../../../src/foundation/settings/plans.ts';
import { clockAt } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { remaining, restart, startWithKey, times } from '../../support/limits.ts';
import { fetchChecked, startPetstore } from '../../support/petstore.ts';
import { startService } from '../../support/service.ts';
import { isShared } from '../../support/sharing.ts';
import { openTestStorage, temporaryStorage } from '../../support/storage.ts';
import { until } from '../../support/until.ts';
import { needsValkey, startValkey } from '../../support/valkey.ts';

const clock = clockAt(Date.parse('2026-06-01T12:00:00Z'));

/** A service that kill -9 ends and that starts again, within one minute of its clock. */
async function startInOneMinute(t: TestContext) {
  const folder = await temporaryStorage(t);
  let service = await startService(t, folder, clock.env);
  return {
    async addKey(quota: Quota): Promise<string> {
      const db = await openTestStorage(folder);
      const { key } = await db.write((sql) =>
        createKey(sql, { workspaceId: 1, plan: 'enterprise', quota }, clock.now()),
      );
      await db.close();
      return key;
    },
    /** A request of a key, or without one. */
    ask: (key?: string) =>
      fetchChecked(service.origin, 'GET', '/pets/1', key === undefined ? { key: 'none' } : { key }),
    async crash() {
      await service.stop('SIGKILL');
      service = await startService(t, folder, clock.env);
    },
  };
}

test('used-up windows and bans survive kill -9 once a response has reported them', async (t) => {
  const service = await startInOneMinute(t);
  const keys = [
    await service.addKey({ perMinute: 20, perDay: 100 }),
    await service.addKey({ perMinute: 100, perDay: 5 }),
    undefined,
  ];
  const banned = await service.addKey({ perMinute: 2, perDay: 100 });
  for (const [i, count] of [20, 5, 60].entries()) await times(count - 1, () => service.ask(keys[i]));
  await times(12, () => service.ask(banned));
  const [ban, ...lasts] = await Promise.all([banned, ...keys].map((key) => service.ask(key)));
  assert.equal(ban?.status, 403);
  for (const last of lasts)
    assert.deepEqual([last.status, remaining(last)], [last === lasts[2] ? 401 : 200, 0]);
  await service.crash();
  for (const key of keys) {
    const { status, headers } = await service.ask(key);
    assert.deepEqual([status, headers['x-ratelimit-remaining']], [429, '0']);
  }
  const { body, headers } = await service.ask(banned);
  assert.deepEqual([body.code, headers['retry-after']], ['key_banned', '60']);
});

test('a reported limit or ban survives kill -9, whichever of many concurrent responses reported it first', async (t) => {
  const service = await startInOneMinute(t);
  for (const [refusedWith, count] of [
    [429, 35],
    [403, 60],
  ] as const) {
    const key = await service.addKey({ perMinute: 20, perDay: 100 });
    await new Promise<void>((resolve, reject) => {
      const many = Array.from({ length: count }, async () => {
        const { status } = await service.ask(key);
        if (status === refusedWith) resolve();
      });
      // Requests without a response fail when the service is killed.
      Promise.all(many).then(
        () => reject(new Error(`none got ${refusedWith}`)),
        () => {},
      );
    });
    await service.crash();
    assert.equal((await service.ask(key)).status, refusedWith);
  }
});

test('while the storage accepts no write, responses about a used-up window or a ban wait only for a bounded time', async (t) => {
  const few = { perMinute: 2, perDay: 100 };
  const { store, ask, statuses } = await startWithKey(t, few);
  const { key: other, id } = await store.addKey('enterprise', few);
  await ask();
  const { db } = store;
  const { promise: never, reject } = Promise.withResolvers<never>();
  const write = t.mock.method(db, 'write', () => never);
  assert.deepEqual(await statuses(13), [200, ...Array(10).fill(429), 403, 403]);
  write.mock.mockImplementation(() => Promise.reject(new Error('The disk is full.')));
  reject(new Error('The disk is full.'));
  await until(() => store.log.some((line) => line.includes('cannot be saved')));
  const failing = await times(13, () => store.call('GET', '/pets/1', { key: other }));
  assert.equal(failing.at(-1)?.status, 403);
  write.mock.restore();
  await store.saveLimits();
  const stored = await db.read`select bans from limit_accounts where id = ${id}`;
  assert.deepEqual(stored, [[1]], 'it is saved once the storage is back');
});

test('windows that are used up together are saved by one write, and each only once', async (t) => {
  const store = await startPetstore(t, { trustProxy: true });
  await store.holdLimits();
  const from = (address: string) =>
    store.call('GET', '/pets/1', { key: null, headers: { 'x-forwarded-for': address } });
  const addresses = Array.from({ length: 50 }, (_, i) => `198.51.100.${i}`);
  for (const address of addresses) await times(59, () => from(address));
  const { writes } = store.db.counts;
  assert.ok((await Promise.all(addresses.map(from))).every((answer) => remaining(answer) === 0));
  assert.ok(store.db.counts.writes - writes <= 10);
  const after = store.db.counts.writes;
  for (const address of addresses) await times(3, () => from(address));
  assert.equal(store.db.counts.writes, after);
});

test('a ban survives kill -9 of a Valkey server with an append-only file', needsValkey, async (t) => {
  const args = ['--appendonly', 'yes', '--dir', temporaryFolder(t)];
  const server = await startValkey(t, { args });
  const valkey = { urls: [server.url], timeoutMs: 60_000, connectWithinMs: 60_000, clock: clock.now };
  const { store, key, ask } = await startWithKey(t, { perMinute: 2, perDay: 100 }, { valkey });
  await until(() => isShared(store));
  await times(13, ask);
  await server.kill();
  await startValkey(t, { args, port: server.port });
  const other = await restart(t, store, { beside: true, valkey });
  await until(() => isShared(other));
  assert.equal((await other.call('GET', '/pets/1', { key })).status, 403);
});
