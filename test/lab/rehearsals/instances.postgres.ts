import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { forgetOldRehearsals } from '../../../src/lab/rehearsals/store.ts';
import { deleteWorkspace } from '../../../src/store/workspaces/store.ts';
import { emptyDatabase, load, startInstances, withStatus } from '../../support/instances.ts';
import { assertTouched, assertUntouched, endRehearsal, performedOf, rehearse } from '../../support/lab.ts';
import { PostgresCluster, whyNoPostgres } from '../../support/postgres-cluster.ts';

suite('rehearsals of several instances over one PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  test('all instances apply a rehearsal as soon as one has confirmed it', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const [first, second, third] = instances;
    const answers = () => Promise.all(instances.map((instance) => instance.call('GET', '/pets?limit=1')));
    // All instances have cached the key now.
    for (const answer of await answers()) assertUntouched(answer);
    const rehearsal = await rehearse(second, [{ fault: 'unavailable', times: 5 }]);
    for (const answer of await answers()) assertTouched(answer, rehearsal, 'unavailable');
    const other = await rehearse(third, [{ fault: 'internal-error', times: 100 }]);
    for (const answer of await answers()) assertTouched(answer, other, 'internal-error');
    await endRehearsal(first, other.id);
    for (const answer of await answers()) assertUntouched(answer);
    assert.deepEqual(await performedOf(third, rehearsal.id), [3]);
  });

  test('100 requests at three instances at once: a fault is performed exactly ten times', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const [first] = instances;
    const rehearsal = await rehearse(first, [{ fault: 'internal-error', operation: 'listPets', times: 10 }]);
    const answers = await load(instances, { clients: 100, requests: 100 }, (instance) =>
      instance.call('GET', '/pets'),
    );
    assert.equal(withStatus(answers, 500).length, 10);
    assert.equal(withStatus(answers, 200).length, 90);
    assert.deepEqual(await performedOf(first, rehearsal.id), [10]);
  });

  test('concurrent changes at several instances meet their faults, and each is made once or not at all', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const [first] = instances;
    await rehearse(first, [{ fault: 'unavailable', operation: 'createCategory', times: 5, after: 3 }]);
    const before = (await first.call('GET', '/categories?limit=100')).body.length;
    const answers = await load(instances, { clients: 12, requests: 30 }, (instance, n) =>
      instance.call('POST', '/categories', { body: { name: `category ${n}` } }),
    );
    assert.deepEqual([withStatus(answers, 503).length, withStatus(answers, 201).length], [5, 25]);
    assert.equal((await first.call('GET', '/categories?limit=100')).body.length, before + 25);
  });

  test('a ban that one instance performs applies at all', async (t) => {
    const instances = await startInstances(t, await emptyDatabase(cluster));
    const [first, second, third] = instances;
    await rehearse(first, [{ fault: 'banned', operation: 'listPets', retryAfterSeconds: 10 }]);
    assert.equal((await third.call('GET', '/pets')).status, 403);
    assert.equal((await second.call('GET', '/store/orders')).status, 403);
    for (const instance of instances) instance.nowMs += 10_000;
    assert.equal((await second.call('GET', '/store/orders')).status, 200);
  });

  test('rehearsals are removed with their workspace, and when they are old', async (t) => {
    const [first, second] = await startInstances(t, await emptyDatabase(cluster));
    const { key } = await first.addWorkspace('second', false);
    await rehearse(first, ['unavailable'], { key });
    await rehearse(first, ['unavailable']);
    await first.change((sql) => deleteWorkspace(sql, 2), 2);
    assert.deepEqual(await second.db.read`select workspace_id from rehearsals`, [[1]]);
    await forgetOldRehearsals(second.db, second.nowMs + 86_400_000 + 600_000);
    assert.deepEqual(await second.db.read`select workspace_id from rehearsals`, []);
  });
});
