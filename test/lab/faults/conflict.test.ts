import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertInvariants } from '../../support/invariants.ts';
import { assertTouched, rehearse } from '../../support/lab.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { startRecording } from '../../support/recordings.ts';

/** Resources with an ETag: the path, a change, and the state after the other writer and the change. */
const targets = [
  { path: '/pets/1', method: 'PATCH', body: { status: 'sold' }, sign: 'name' },
  { path: '/pets/1', method: 'PUT', body: { name: 'Rex', categoryId: 1 }, sign: 'name' },
  { path: '/categories/1', method: 'PUT', body: { name: 'Wolves' }, sign: 'name' },
  { path: '/store/orders/2', method: 'PATCH', body: { quantity: 1 }, sign: 'shipDate' },
  { path: '/inventory/1', method: 'PATCH', body: { quantity: 9 }, sign: 'quantity' },
] as const;

const read = async (store: Petstore, path: string) => {
  const answer = await store.call('GET', path);
  assert.equal(answer.status, 200, answer.text);
  return { etag: answer.headers.etag as string, body: answer.body };
};

const withoutId = ({ id: _, ...body }: Record<string, unknown>) => body;

for (const { path, method, body, sign } of targets) {
  test(`another writer changes ${path} before ${method}, and If-Match notices it`, async (t) => {
    const store = await startPetstore(t);
    const before = await read(store, path);
    const rehearsal = await rehearse(store, [{ fault: 'conflict', times: 2 }]);
    const send = (etag: string) => store.call(method, path, { body, headers: { 'if-match': etag } });

    const tags = [before.etag];
    for (let turn = 1; turn <= 2; turn++) {
      const refused = await send(tags.at(-1) as string);
      assert.equal(refused.status, 412, refused.text);
      assertTouched(refused, rehearsal, 'conflict');
      const now = await read(store, path);
      assert.notDeepEqual(now.body[sign], before.body[sign]);
      const changed = { [sign]: 0, status: 0 };
      assert.deepEqual({ ...now.body, ...changed }, { ...before.body, ...changed }, 'the rest stays');
      assert.ok(!tags.includes(now.etag), 'no earlier version comes back');
      tags.push(now.etag);
    }
    const events = await store.call('GET', '/store/events?limit=100');
    const its = events.body.filter(({ requestId }: { requestId: string }) => requestId === rehearsal.id);
    assert.ok(its.length >= 2, events.text);
    assert.equal((await send(tags.at(-1) as string)).status, 200);
    await assertInvariants(store.db.read, 1);
  });
}

for (const { path, method, sign } of targets) {
  test(`the report on ${method} ${path} says whether the change after 412 restored the old ${sign}`, async (t) => {
    const store = await startPetstore(t);
    for (const isUndone of [true, false]) {
      await rehearse(store, ['conflict']);
      const recording = await startRecording(store);
      const list = `${path.replace(/^(\/pets)\/(\d+)$/, '$1?id=$2')}`;
      const before = await read(store, path);
      const send = async (from: typeof before) => {
        const { [sign]: value = null } = from.body;
        const body = method === 'PUT' ? { ...from.body, [sign]: value } : { [sign]: value };
        const headers = { 'if-match': (await store.call('GET', list)).headers.etag as string };
        return store.call(method, path, { body: withoutId(body), headers });
      };
      assert.equal((await send(before)).status, 412);
      assert.equal((await send(isUndone ? before : await read(store, path))).status, 200);
      const { body } = await store.send('GET', `${recording}/report`);
      for (const name of ['updates.not-lost', 'conflict.read-again']) {
        const { result, because } = body.checks.find((check: { name: string }) => check.name === name);
        assert.equal(result, isUndone ? 'failed' : 'passed', because);
        if (isUndone) assert.match(because, new RegExp(`set ${sign} back to `));
      }
    }
  });
}

test("without If-Match the client's change wins", async (t) => {
  const store = await startPetstore(t);
  for (const { path, method, body } of targets) {
    const rehearsal = await rehearse(store, ['conflict']);
    const answer = await store.call(method, path, { body });
    assert.equal(answer.status, 200, answer.text);
    assertTouched(answer, rehearsal, 'conflict');
    for (const [name, value] of Object.entries(body)) assert.equal(answer.body[name], value);
  }
  await rehearse(store, ['conflict']);
  assert.equal((await store.call('DELETE', '/store/orders/2')).status, 204);
  await assertInvariants(store.db.read, 1);
});

test('another writer changes no missing or closed resource, and respects the limits of fields', async (t) => {
  const store = await startPetstore(t);
  const done = await store.call('POST', '/store/orders', { body: { complete: true } });
  const name = '🐕'.repeat(200);
  const longest = await store.call('POST', '/pets', { body: { name, categoryId: 1 } });
  const full = `/inventory/${longest.body.id}`;
  await store.call('PATCH', full, { body: { quantity: 2_147_483_647 } });
  const last = await store.call('POST', '/store/orders', { body: { shipDate: '9999-12-31T23:59:59Z' } });

  const before = await store.content();
  await rehearse(store, [{ fault: 'conflict', times: 9 }]);
  const closed = `/store/orders/${done.body.id}`;
  assert.equal((await store.call('PATCH', closed, { body: { quantity: 2 } })).body.code, 'order_complete');
  const none = { headers: { 'if-match': '"none"' } };
  assert.equal((await store.call('PATCH', closed, { ...none, body: { quantity: 2 } })).status, 412);
  assert.equal((await store.call('DELETE', '/pets/999')).status, 404);
  assert.equal(await store.content(), before);

  const pet = `/pets/${longest.body.id}`;
  assert.equal((await store.call('DELETE', pet, none)).status, 412);
  const renamed = await read(store, pet);
  assert.equal([...renamed.body.name].length, 200);
  assert.equal((await store.call('PUT', pet, { body: renamed.body })).status, 200);
  assert.equal((await store.call('PATCH', full, { ...none, body: { quantity: 1 } })).status, 412);
  assert.equal((await read(store, full)).body.quantity, 2_147_483_646);
  assert.equal((await store.call('DELETE', `/store/orders/${last.body.id}`, none)).status, 412);
  assert.equal((await read(store, `/store/orders/${last.body.id}`)).body.shipDate, '2026-06-02T12:00:00Z');
  await assertInvariants(store.db.read, 1);
});
