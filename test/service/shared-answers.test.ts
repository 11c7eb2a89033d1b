import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Petstore, startPetstore } from '../support/petstore.ts';
import { statusesOf } from '../support/values.ts';

const anonymous = { key: null };

/** A petstore whose time passes only when the test says so. */
async function startAtRest(t: TestContext): Promise<Petstore> {
  const store = await startPetstore(t);
  store.stopwatch = () => 0;
  return store;
}

test('the text of /metrics is built at most once a second, for any number of clients', async (t) => {
  const store = await startAtRest(t);
  const ask = () => store.send('GET', '/metrics', anonymous);
  const counted = (text: string) =>
    Number(/^petstore_requests_total\{operation="getPet".*\} (\d+)$/m.exec(text)?.[1]);
  await store.call('GET', '/pets/1');
  const first = await Promise.all(Array.from({ length: 50 }, () => ask()));
  await store.call('GET', '/pets/1');
  store.aheadMs += 900;
  first.push(await ask());
  for (const { text } of first) assert.equal(text, first[0]?.text);
  assert.equal(counted(first[0]?.text ?? ''), 1);
  store.aheadMs += 100;
  const second = await Promise.all(Array.from({ length: 50 }, () => ask()));
  for (const { text } of second)
    assert.equal(counted(text), 2, 'a request for a stale text gets the new one');
});

test('/readyz queries the storage at most four times a second, for any number of clients', async (t) => {
  const store = await startAtRest(t);
  const ask = (method = 'GET') => store.send(method, '/readyz', anonymous);
  const before = store.db.counts.reads;
  for (const [passedMs, reads] of [
    [0, 1],
    [249, 1],
    [1, 2],
    [249, 2],
    [1, 3],
  ] as const) {
    store.aheadMs += passedMs;
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(i % 2 ? 'HEAD' : 'GET')));
    for (const { status } of answers) assert.equal(status, 200);
    assert.equal(store.db.counts.reads - before, reads);
  }
});

test('/readyz shows within a second that the storage fails or is back, and shares failures too', async (t) => {
  const store = await startAtRest(t);
  const statuses = async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => store.send('GET', '/readyz', anonymous)),
    );
    return [...new Set(statusesOf(answers))];
  };
  assert.deepEqual(await statuses(), [200]);
  await store.db.write((sql) => sql`alter table workspaces rename to places`);
  store.aheadMs += 250;
  const before = store.db.counts.reads;
  assert.deepEqual(await statuses(), [500]);
  assert.equal(store.db.counts.reads - before, 1);
  await store.db.write((sql) => sql`alter table places rename to workspaces`);
  store.aheadMs += 250;
  assert.deepEqual(await statuses(), [200]);
});

test('/readyz is 503 in time while the storage hangs, and 200 when it continues', async (t) => {
  const store = await startPetstore(t, { readyMs: 100 });
  const stands = Promise.withResolvers<void>();
  t.mock.method(store.db, 'touch', () => stands.promise);
  const ask = async () => (await store.send('GET', '/readyz', anonymous)).status;
  assert.equal(await ask(), 503);
  store.aheadMs += 250;
  assert.equal(await ask(), 503);
  stands.resolve();
  assert.equal(await ask(), 200);
});
