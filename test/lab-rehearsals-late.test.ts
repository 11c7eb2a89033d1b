import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailableError } from '../src/errors.ts';
import { assertTouched, assertUntouched, endRehearsal, performedOf, rehearse } from './support/lab.ts';
import { type Petstore, startPetstore } from './support/petstore.ts';

const delay = { fault: 'delay', delayMs: 1 };
const rename = (store: Petstore, path: string, body: object = { name: 'Rex' }) =>
  store.call('PATCH', path, { body });

test('what is refused before a fault acts neither carries its mark nor uses it up', async (t) => {
  const store = await startPetstore(t);
  const done = await store.call('POST', '/store/orders', { body: { complete: true } });
  for (const [fault, refused, touched] of [
    [
      { ...delay, operation: 'updatePet' },
      () => rename(store, '/pets/1', { name: 1 }),
      () => rename(store, '/pets/1'),
    ],
    [
      { fault: 'conflict', operation: 'updatePet' },
      () => rename(store, '/pets/999'),
      () => rename(store, '/pets/1'),
    ],
    [
      { fault: 'conflict', operation: 'updateOrder' },
      () => rename(store, `/store/orders/${done.body.id}`, { quantity: 2 }),
      () => rename(store, '/store/orders/2', { quantity: 1 }),
    ],
    [
      { fault: 'empty-page', operation: 'listEvents' },
      () => store.call('GET', '/store/events?after=99999'),
      () => store.call('GET', '/store/events'),
    ],
  ] as const) {
    const rehearsal = await rehearse(store, [fault]);
    const answer = await refused();
    assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
    assertUntouched(answer);
    assert.deepEqual(await performedOf(store, rehearsal.id), [0]);
    assertTouched(await touched(), rehearsal, fault.fault);
    assertUntouched(await touched());
    assert.deepEqual(await performedOf(store, rehearsal.id), [1]);
  }
});

test('faults that act late are performed in their order with others, after as many requests as they say', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [
    { fault: 'internal-error', after: 2, operation: 'updatePet' },
    { fault: 'conflict', after: 1, operation: 'updatePet' },
    { fault: 'unavailable', operation: 'updatePet' },
  ]);
  const marks = ['unavailable', 'conflict', 'internal-error', undefined, undefined];
  for (const mark of marks) {
    const answer = await rename(store, '/pets/1');
    if (mark) assertTouched(answer, rehearsal, mark);
    else assertUntouched(answer);
  }
});

test('of many changes at once exactly as many meet another writer as asked', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [{ fault: 'conflict', times: 5, operation: 'updatePet' }]);
  const paths = Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? '/pets/999' : `/pets/${1 + (i % 3)}`));
  const answers = await Promise.all(paths.map((path) => rename(store, path)));
  const marked = answers.filter(({ headers }) => headers['petstore-rehearsal']);
  assert.deepEqual(
    marked.map(({ status }) => status),
    Array(5).fill(200),
  );
  assert.deepEqual(await performedOf(store, rehearsal.id), [5]);
  const { body } = await store.call('GET', '/store/events?limit=100');
  const written = body.filter(({ requestId }: { requestId: string }) => requestId === rehearsal.id);
  assert.equal(written.length, 5, 'the other writer wrote as often');
});

test('a rehearsal that ends before its fault acts does nothing, and a fault that cannot be counted neither', async (t) => {
  const store = await startPetstore(t);
  for (const [atClaim, status] of [
    [undefined, 200],
    [() => Promise.reject(new StorageUnavailableError('The disk is full.')), 503],
  ] as const) {
    const rehearsal = await rehearse(store, [{ fault: 'conflict', operation: 'updatePet' }]);
    const { write } = store.db;
    const asIs: typeof write = write.bind(store.db);
    const first = async (...args: Parameters<typeof write>) => {
      Object.assign(store.db, { write });
      if (atClaim) return atClaim();
      await endRehearsal(store, rehearsal.id);
      return asIs(...args);
    };
    Object.assign(store.db, { write: first });
    const answer = await rename(store, '/pets/1');
    assert.equal(answer.status, status);
    assertUntouched(answer);
    assert.deepEqual(await performedOf(store, rehearsal.id), [0]);
  }
});
