import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, test } from 'node:test';
import { endInvite } from '../../src/accounts/invites.ts';
import { deleteClosed } from '../../src/accounts/members.ts';
import { dayMs, hourMs, minuteMs, newInvite, signUp } from '../support/accounts.ts';
import { emptyDatabase, startInstances } from '../support/instances.ts';
import { assertAdmitted } from '../support/limits.ts';
import type { JsonAnswer, Petstore } from '../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { clock } from '../support/sharing.ts';
import { until } from '../support/until.ts';
import { needsValkey, startValkey } from '../support/valkey.ts';

const withStatus = (answers: readonly JsonAnswer[], status: number) =>
  answers.filter((answer) => answer.status === status);

suite('sign-ups at three instances at once', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  test('of 100 people with a code for 30, exactly 30 get in, and each sees its own workspace alone', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster), undefined, { seed: false });
    const [first] = instances;
    const { id, code } = await newInvite(first);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        signUp(instances[i % 3] as Petstore, { invite: code, name: `Person ${i}` }),
      ),
    );
    const admitted = withStatus(answers, 201);
    assert.equal(admitted.length, 30);
    for (const { body } of withStatus(answers, 403)) assert.equal(body.code, 'invite_used_up');
    assert.deepEqual(await first.db.read`select used from invites where id = ${id}`, [[30]]);
    await Promise.all(
      admitted.map(async ({ body: { key, workspace } }, i) => {
        const store = instances[i % 3] as Petstore;
        assert.equal(
          (await store.call('POST', '/categories', { key, body: { name: workspace } })).status,
          201,
        );
        const { body } = await store.call('GET', '/categories?limit=100', { key });
        assert.equal(body.length, 8);
        assert.equal(body.at(-1).name, workspace);
      }),
    );
  });

  test('with Valkey each of the 30 keys gets exactly 60 of 80 requests in a minute', {
    ...needsValkey,
  }, async (t) => {
    const valkey = { urls: [(await startValkey(t)).url], timeoutMs: 5_000, connectWithinMs: 5_000, clock };
    const instances = await startInstances(t, await emptyDatabase(cluster), undefined, {
      seed: false,
      valkey,
    });
    const [first] = instances;
    for (const instance of instances) {
      instance.nowMs = clock();
      await instance.ready;
    }
    const { code } = await newInvite(first);
    const members = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        signUp(instances[i % 3] as Petstore, { invite: code, name: `Person ${i}` }),
      ),
    );
    for (const { body } of members) {
      const answers = await Promise.all(
        Array.from({ length: 80 }, (_, i) =>
          (instances[i % 3] as Petstore).call('GET', '/pets/1', { key: body.key }),
        ),
      );
      assertAdmitted(answers, 60);
    }
  });

  test('one person who asks all instances at once, with one Idempotency-Key, takes one use', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster), undefined, { seed: false });
    const [first] = instances;
    const { id, code } = await newInvite(first);
    const headers = { 'idempotency-key': randomUUID() };
    const send = (instance: Petstore) => signUp(instance, { invite: code, name: 'Ada' }, headers);
    const answers = await Promise.all(instances.map(send));
    assert.equal(new Set(withStatus(answers, 201).map(({ text }) => text)).size, 1);
    assert.deepEqual(await first.db.read`select used from invites where id = ${id}`, [[1]]);
    assert.equal((await send(instances[2])).text, withStatus(answers, 201)[0]?.text);
  });

  test('of 60 open sign-ups with room for 20, exactly 20 get in, and an address gets its five a day', async (t) => {
    const options = { seed: false, trustProxy: true, accounts: { signUp: true, maxSignUps: 20 } };
    const instances = await startInstances(t, await emptyDatabase(cluster), undefined, options);
    const [first] = instances;
    const join = (i: number, address: string) =>
      signUp(instances[i % 3] as Petstore, { name: 'Ada' }, { 'x-forwarded-for': address });
    const ofOne = await Promise.all(Array.from({ length: 12 }, (_, i) => join(i, '192.0.2.1')));
    assert.equal(withStatus(ofOne, 201).length, 5);
    const others = await Promise.all(Array.from({ length: 48 }, (_, i) => join(i, `192.0.2.${i + 2}`)));
    assert.equal(withStatus(others, 201).length, 15);
    assert.deepEqual(await first.db.read`select count(*) from members`, [[20]]);
  });

  test('last requests, expiry and eviction hold over all instances', async (t) => {
    const options = { seed: false, trustProxy: true, accounts: { signUp: true, maxSignUps: 3 } };
    const instances = await startInstances(t, await emptyDatabase(cluster), undefined, options);
    const [first, second] = instances;
    let addresses = 0;
    const join = () => signUp(first, { name: 'Ada' }, { 'x-forwarded-for': `192.0.2.${++addresses}` });
    const living = async () =>
      (
        await first.db.read`select id from members where closed_at_ms is null order by created_at_ms, id`
      ).flat();
    const later = (ms: number) => {
      for (const instance of instances) instance.nowMs += ms;
    };
    const sweep = () => Promise.all(instances.map(({ app }) => app.sweepAccounts()));
    const members = [(await join()).body, (await join()).body, (await join()).body];
    const ids = (some: typeof members) => some.map(({ keyId }) => keyId).sort();
    const [unused, idle, active] = members;
    await second.call('GET', '/pets/4711', { key: idle.key });
    later(1_000);
    for (const instance of instances) await instance.call('GET', '/pets', { key: active.key });
    await sweep();
    assert.deepEqual(
      await first.db.read`select last_request_at_ms, last_error from members where id = ${idle.keyId}`,
      [[second.nowMs - 1_000, 'not_found']],
    );

    later(hourMs + 2 * minuteMs);
    await sweep();
    assert.deepEqual((await living()).sort(), ids([idle, active]));
    const expired = instances.flatMap(({ log }) => log).filter((line) => line.includes('an account expired'));
    assert.deepEqual([expired.length, expired[0]?.includes(unused.keyId)], [1, true]);

    const newest = (await join()).body;
    for (const { key } of [active, newest]) await second.call('GET', '/pets', { key });
    await sweep();
    const full = await join();
    assert.deepEqual([full.status, full.body.code], [403, 'signup_closed']);
    assert.equal(Number(full.headers['retry-after']), (dayMs - hourMs) / 1_000 - 1);
    later(Number(full.headers['retry-after']) * 1_000);
    const last = await join();
    assert.equal(last.status, 201);
    assert.deepEqual((await living()).sort(), ids([active, newest, last.body]));
    await Promise.all(instances.map(({ db, nowMs }) => deleteClosed(db, nowMs)));
    assert.deepEqual(await first.db.read`select count(*) from workspaces`, [[4]]);
  });

  test('an account with a request at one instance is closed by no other: to make room, after an hour or after 30 days', async (t) => {
    const options = { seed: false, trustProxy: true, accounts: { signUp: true, maxSignUps: 6 } };
    const instances = await startInstances(t, await emptyDatabase(cluster), undefined, options);
    const [first, second, third] = instances;
    let addresses = 0;
    const join = (store: Petstore) =>
      signUp(store, { name: 'Ada' }, { 'x-forwarded-for': `192.0.2.${++addresses}` });
    const members = await Promise.all(Array.from({ length: 6 }, () => join(first)));
    for (const idleMs of [2 * hourMs, 2 * dayMs, 31 * dayMs]) {
      for (const instance of instances) {
        instance.nowMs += idleMs;
        instance.app.startOver();
      }
      const use = ({ body: { key } }: JsonAnswer) => second.call('GET', '/pets', { key });
      for (const { status } of await Promise.all(members.map(use))) assert.equal(status, 200);
      const [joined] = await Promise.all([join(first), third.app.sweepAccounts()]);
      assert.deepEqual([joined.status, joined.body.code], [403, 'signup_closed']);
      for (const { body } of members)
        assert.equal((await third.call('GET', '/pets', { key: body.key })).status, 200);
    }
  });

  test('who joins while the invite ends gets invite_invalid', async (t) => {
    const [first, second] = await startInstances(t, await emptyDatabase(cluster), undefined, { seed: false });
    const { id, code } = await newInvite(first);
    let joining: Promise<JsonAnswer> | undefined;
    await first.db.write(async (sql) => {
      await endInvite(sql, id, first.nowMs);
      joining = signUp(second, { invite: code, name: 'Ada' });
      await until(async () => (await first.db.read`select 1 from pg_locks where not granted`).length > 0);
    });
    assert.equal((await joining)?.body.code, 'invite_invalid');
  });
});
