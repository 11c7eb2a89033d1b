import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, type TestContext, test } from 'node:test';
import { deleteClosed } from '../../src/accounts/members.ts';
import { listWorkspaces } from '../../src/store/workspaces/store.ts';
import { newMember } from '../support/accounts.ts';
import { emptyDatabase, startInstances } from '../support/instances.ts';
import { remaining, times } from '../support/limits.ts';
import { changeKey, changePlan, deleteOwn, ownAccount } from '../support/own-account.ts';
import type { Petstore } from '../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../support/postgres-cluster.ts';
import { clock } from '../support/sharing.ts';
import { needsValkey, startValkey } from '../support/valkey.ts';
import { statusesOf } from '../support/values.ts';

const ask = (store: Petstore, key: string) => store.call('GET', '/pets/1', { key });

suite('the own key at three instances with one PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();
  const start = async (t: TestContext) => startInstances(t, await emptyDatabase(cluster));

  test('when a change of plan is answered, every instance applies it', async (t) => {
    const instances = await start(t);
    const { key } = await newMember(instances[0], { upgrades: ['free', 'pro'] });
    for (const [i, plan] of (['pro', 'free', 'pro'] as const).entries()) {
      for (const instance of instances) await ask(instance, key);
      assert.equal((await changePlan(instances[i] as Petstore, key, plan)).status, 200);
      const limits = await Promise.all(
        instances.map(async (instance) => (await ask(instance, key)).headers['x-ratelimit-limit']),
      );
      assert.deepEqual(limits, Array(3).fill(plan === 'pro' ? '300' : '60'));
    }
  });

  test('of two new secrets at once at two instances one is made, and no old one acts where it is still cached', async (t) => {
    const instances = await start(t);
    const [first, second, third] = instances;
    const { key } = await newMember(first);
    for (const instance of instances) assert.equal((await ask(instance, key)).status, 200);
    const answers = await Promise.all([first, second].map((instance) => changeKey(instance, key)));
    assert.deepEqual(statusesOf(answers).sort(), [201, 409]);
    const made = answers.find(({ status }) => status === 201)?.body.key;
    assert.equal((await deleteOwn(third, key)).status, 409);
    const ended = await changeKey(first, made, { revokeOldNow: true });
    assert.equal(ended.status, 201);
    for (const instance of instances)
      assert.deepEqual(statusesOf([await ask(instance, key), await ask(instance, made)]), [401, 200]);
  });

  test('a repetition of a new secret at another instance returns the same one', async (t) => {
    const [first, second] = await start(t);
    const { key } = await newMember(first);
    const again = { 'Idempotency-Key': randomUUID() };
    const answers = await Promise.all([first, second].map((instance) => changeKey(instance, key, {}, again)));
    answers.push(await changeKey(second, key, {}, again));
    assert.deepEqual(statusesOf(answers), [201, 201, 201]);
    assert.equal(new Set(answers.map(({ body }) => body.key)).size, 1);
  });

  test('ten changes in an hour are counted over all instances', async (t) => {
    const instances = await start(t);
    const { key } = await newMember(instances[0], { upgrades: ['free', 'pro'] });
    const answers = [];
    for (let i = 0; i < 11; i++)
      answers.push(await changePlan(instances[i % 3] as Petstore, key, i % 2 === 0 ? 'pro' : 'free'));
    assert.deepEqual(statusesOf(answers), [...Array(10).fill(200), 429]);
  });

  test('a deletion among requests at all instances: after its response each refuses the key, and three sweeps at once leave nothing', async (t) => {
    const instances = await start(t);
    const before = await listWorkspaces(instances[0].db.read);
    const { key } = await newMember(instances[0]);
    const [deletion, ...answers] = await Promise.all([
      deleteOwn(instances[0], key),
      ...instances.flatMap((instance) => [
        ...Array.from({ length: 8 }, () => ask(instance, key)),
        ...Array.from({ length: 8 }, () => instance.call('POST', '/store/orders', { key, body: {} })),
      ]),
    ]);
    assert.equal(deletion.status, 204);
    for (const status of statusesOf(answers)) assert.ok([200, 201, 401].includes(status), String(status));
    for (const instance of instances) assert.equal((await ask(instance, key)).status, 401);
    await Promise.all(instances.map(({ db, nowMs }) => deleteClosed(db, nowMs)));
    assert.deepEqual(await listWorkspaces(instances[0].db.read), before);
  });

  test(
    'with Valkey a Free key gets exactly 60, and after its upgrade exactly 240 more, over all instances',
    needsValkey,
    async (t) => {
      const valkey = await startValkey(t);
      const shared = { urls: [valkey.url], timeoutMs: 60_000, connectWithinMs: 60_000, clock };
      const instances = await startInstances(t, await emptyDatabase(cluster), undefined, { valkey: shared });
      await Promise.all(instances.map(({ ready }) => ready));
      const { key } = await newMember(instances[0], { upgrades: ['free', 'pro'] });
      const all = (count: number) =>
        Promise.all(Array.from({ length: count }, (_, i) => ask(instances[i % 3] as Petstore, key)));
      const admitted = (answers: { status: number }[]) =>
        answers.filter(({ status }) => status === 200).length;
      assert.equal(admitted(await all(90)), 60);
      assert.equal((await changePlan(instances[1], key, 'pro')).body.minute.remaining, 240);
      const more = await all(270);
      assert.equal(admitted(more), 240);
      assert.deepEqual(new Set(statusesOf(more)), new Set([200, 429]));
      const { minute, strikes, ban } = await ownAccount(instances[2], key);
      assert.deepEqual([minute.remaining, strikes, ban.since], [0, 60, undefined]);
      assert.equal((await changePlan(instances[0], key, 'free')).body.minute.remaining, 0);
      const [refused] = await times(1, () => ask(instances[1], key));
      assert.deepEqual(
        [refused?.body.code, remaining(refused as never)],
        ['key_banned', 0],
        'the 61st strike',
      );
    },
  );
});
