import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeKey } from '../../../src/access/keys/store.ts';
import { addCategory } from '../../support/dispatching.ts';
import { emptyDatabase, load, patienceMs, startInstances } from '../../support/instances.ts';
import type { StoreSetup } from '../../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../../support/postgres-cluster.ts';
import { clock } from '../../support/sharing.ts';
import { openStream, Reader } from '../../support/streams.ts';
import { until } from '../../support/until.ts';
import { needsValkey, startValkey } from '../../support/valkey.ts';
import { numbers } from '../../support/values.ts';

suite('streams of several instances', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  /** Instances over one database with an empty history, and their URLs. */
  async function start(t: TestContext, options: StoreSetup = {}, deadlineMs = patienceMs) {
    const setup = { ...options, seed: false };
    const [first, second] = await startInstances(t, await emptyDatabase(cluster), deadlineMs, setup);
    return { first, second, key: first.key, origins: [await first.listen(), await second.listen()] as const };
  }

  test('a reader that changes instances gets each event once, in order, while instances write', async (t) => {
    const { first, second, key, origins } = await start(t);
    const steady = await Promise.all(origins.map((origin) => openStream(t, origin, { key })));
    const requests = 300;
    const writing = load([first, second], { clients: 12, requests }, (instance, n) =>
      addCategory(instance, `${n}`),
    );
    const ids: number[] = [];
    for (let i = 0; ids.length < requests; i++) {
      const headers = { 'last-event-id': String(ids.at(-1) ?? 0) };
      const reader = new Reader(origins[i % 2] as string, { key, headers });
      const cutAt = performance.now() + Math.random() * 100;
      const left = requests - ids.length;
      await until(() => reader.ids.length >= left || (reader.status !== 0 && performance.now() > cutAt));
      ids.push(...reader.ids);
      reader.cut();
    }
    await writing;
    const all = numbers(requests);
    assert.deepEqual(ids, all);
    for (const reader of steady) await reader.untilIds(all);
  });

  test('the stream limit of a key counts all instances, even when many streams open at once', async (t) => {
    const { first, origins } = await start(t);
    const { key } = await first.addKey('free');
    const readers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => openStream(t, origins[i % 2] as string, { key })),
    );
    const open = () => readers.filter(({ ended }) => ended === 'no').length;
    await until(() => open() === 2);
    await sleep(600);
    assert.equal(open(), 2);
    assert.equal((await first.db.read`select id from streams`).length, 2);
  });

  test('a key that is revoked on one instance ends its streams on another', async (t) => {
    const { first, origins } = await start(t);
    const { key, id } = await first.addKey('pro');
    const reader = await openStream(t, origins[1], { key });
    await first.db.write((sql) => revokeKey(sql, id, first.nowMs));
    await reader.untilEnded();
  });

  test('a ban on one instance ends the streams of the key on another', needsValkey, async (t) => {
    const { url } = await startValkey(t);
    const valkey = { urls: [url], timeoutMs: patienceMs, clock };
    const { first, key: other, origins } = await start(t, { valkey });
    const { key } = await first.addKey('enterprise', { perMinute: 2, perDay: 100 });
    const reader = await openStream(t, origins[1], { key });
    const reading = await openStream(t, origins[1], { key: other });
    let status = 0;
    while (status !== 403) ({ status } = await first.call('GET', '/pets', { key }));
    await reader.untilEnded();
    assert.equal(reading.ended, 'no');
  });

  test('the streams of a dead instance are no longer counted', async (t) => {
    const { first, second, key, origins } = await start(t);
    await first.db.write(
      (sql) => sql`
        insert into streams (workspace_id, id, key_id, instance, opened_at_ms, seen_at_ms)
        values (1, 'lost', 'key_lost', 'dead', 0, ${clock() - 10 * 60_000})`,
    );
    await openStream(t, origins[1], { key });
    second.aheadMs += 20_000;
    await until(async () => (await first.db.read`select id from streams where id = 'lost'`).length === 0);
    assert.equal((await first.db.read`select id from streams`).length, 1);
  });

  test('streams survive a database outage, and continue afterwards', async (t) => {
    const { first, key, origins } = await start(t, {}, 1_000);
    const readers = [await openStream(t, origins[0], { key }), await openStream(t, origins[1], { key })];
    await cluster.stop('fast');
    const refused = await first.call('GET', '/store/events/stream');
    assert.equal(refused.status, 503);
    await sleep(1_000);
    await cluster.start();
    await until(async () => (await addCategory(first)).status === 201);
    for (const reader of readers) await until(() => reader.ids.length === 1);
    assert.ok(readers.every(({ ended }) => ended === 'no'));
  });
});
