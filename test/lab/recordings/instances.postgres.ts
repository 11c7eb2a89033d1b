import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { deleteRemoved } from '../../../src/lab/recordings/store.ts';
import { deleteWorkspace } from '../../../src/store/workspaces/store.ts';
import { filledTables } from '../../support/content.ts';
import { emptyDatabase, load, patienceMs, startInstances } from '../../support/instances.ts';
import type { StoreSetup } from '../../support/petstore.ts';
import { PostgresCluster, whyNoPostgres } from '../../support/postgres-cluster.ts';
import { deletionsOf, recordedIn, recordingAt, startRecording, valuesOf } from '../../support/recordings.ts';
import { numbers } from '../../support/values.ts';

suite('recordings over three instances on one PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  const start = async (t: TestContext, options: StoreSetup = {}) =>
    startInstances(t, await emptyDatabase(cluster), patienceMs, { hasOthers: true, ...options });

  test('each request is kept once, from the response that starts a recording to the one that ends it', async (t) => {
    const instances = await start(t);
    const [first, second, third] = instances;
    // So that each instance has cached the key without a recording.
    for (const instance of instances) await instance.call('GET', '/pets/1');
    const recording = await startRecording(first);
    const answers = await load(instances, { clients: 12, requests: 150 }, (instance, n) =>
      n % 5 === 0
        ? instance.call('POST', '/store/orders', { body: { petId: 2 } })
        : instance.call('GET', '/pets/1'),
    );
    const ended = await second.send('POST', `${recording}/end`);
    assert.equal(ended.status, 200);
    assert.equal(ended.body.requests, 150);
    for (const instance of instances) await instance.call('GET', '/pets/2');
    const recorded = await recordedIn(third, recording);
    const answered = answers.map(({ headers }) => headers['x-request-id']);
    assert.deepEqual(valuesOf(recorded, 'requestId').sort(), answered.sort());
    assert.deepEqual(valuesOf(recorded, 'id'), numbers(150).map(String));
    assert.equal((await recordingAt(third, recording)).requests, 150);
  });

  for (const [whose, bound] of [
    ['one recording', 'maxRecorded'],
    ['a key in a day', 'maxRecordedPerDay'],
  ] as const)
    test(`together they keep exactly as many requests as ${whose} may`, async (t) => {
      const instances = await start(t, { recorderBounds: { [bound]: 50 } });
      const recording = await startRecording(instances[0]);
      await load(instances, { clients: 12, requests: 120 }, (instance) => instance.call('GET', '/pets/1'));
      const { body } = await instances[0].send('POST', `${recording}/end`);
      assert.deepEqual([body.requests, body.leftOut], [50, 70]);
      assert.equal((await recordedIn(instances[2], recording)).length, 50);
    });

  test('the requests of a removed recording are deleted 200 at once, and nobody sees a part of it', async (t) => {
    const [first, second] = await start(t);
    const { deleted, wasSeen } = await deletionsOf(first, 500, async (recording) => {
      assert.equal((await second.send('DELETE', recording)).status, 204);
      await deleteRemoved(first.db);
    });
    assert.deepEqual([deleted, wasSeen], [[200, 200, 100], false]);
    assert.deepEqual(await first.db.read`select id from recordings where key_id = ''`, []);
  });

  test('after a workspace is deleted during recording, no row of it remains', async (t) => {
    const instances = await start(t);
    const [first] = instances;
    await startRecording(first);
    const loading = load(instances, { clients: 12, requests: 200 }, (instance) =>
      instance.call('GET', '/pets/1'),
    );
    await first.change((sql) => deleteWorkspace(sql, 1));
    await loading;
    for (const instance of instances) await instance.app.close();
    const filled = await filledTables(first.db.read, 1);
    assert.ok(!filled.some((name) => name.startsWith('record')), filled.join());
    assert.doesNotMatch(first.log.join(), /cannot be recorded/);
  });
});
