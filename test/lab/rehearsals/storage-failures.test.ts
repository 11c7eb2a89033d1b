import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { StorageUnavailableError } from '../../../src/foundation/errors.ts';
import { clearWorkspace, deleteWorkspace } from '../../../src/store/workspaces/store.ts';
import { assertTouched, assertUntouched, endRehearsal, performedOf, rehearse } from '../../support/lab.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { statusesOf } from '../../support/values.ts';

const getPets = (store: Petstore, key = store.key) => store.call('GET', '/pets', { key });

/** Runs `act` while writes are blocked. */
async function withoutWrites<T>(store: Petstore, act: () => Promise<T>): Promise<T> {
  const { write } = store.db;
  const fail = () => Promise.reject(new StorageUnavailableError('The disk is full.'));
  Object.assign(store.db, { write: fail });
  try {
    return await act();
  } finally {
    Object.assign(store.db, { write });
  }
}

test('a fault that cannot be counted is not performed: the response is 503', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, ['banned']);
  const answer = await withoutWrites(store, () => getPets(store));
  assert.deepEqual([answer.status, answer.body.code], [503, 'unavailable']);
  assertUntouched(answer);
  assert.equal((await getPets(store)).status, 403);
  assert.deepEqual(await performedOf(store, rehearsal.id), [1]);
});

test('a condition still applies if it cannot be counted', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, ['sunset']);
  const logged = (text: string) => store.log.filter((line) => line.includes(text)).length;
  for (const turn of [1, 2]) {
    await withoutWrites(store, async () => {
      for (let i = 0; i < 2; i++) {
        const answer = await store.call('GET', '/pets/1');
        assert.equal(answer.status, 410);
        assertTouched(answer, rehearsal, 'sunset');
      }
    });
    assert.equal(logged('cannot be counted'), turn, 'the log says so once');
    assert.deepEqual(await performedOf(store, rehearsal.id), [turn - 1]);
    await store.call('GET', '/pets/1');
    assert.equal(logged('counted again'), turn);
  }
});

/** Runs `act` after a request has found its rehearsal, and before the request is counted. */
async function betweenClaim(
  t: TestContext,
  act: (store: Petstore, id: string, key: string) => Promise<unknown>,
) {
  const store = await startPetstore(t);
  const { key } = await store.addWorkspace('other', true);
  const { id } = await rehearse(store, ['unavailable'], { key });
  const read: typeof store.db.read = store.db.read.bind(store.db);
  let isFirst = true;
  Object.assign(store.db, {
    read: async (...statement: Parameters<typeof read>) => {
      const rows = await read(...statement);
      if (isFirst && statement[0].join('?').includes('rehearsal_progress')) {
        isFirst = false;
        await act(store, id, key);
      }
      return rows;
    },
  });
  const answer = await getPets(store, key);
  assert.ok(!isFirst);
  return { store, answer, id, key };
}

for (const [how, act, then] of [
  ['ends', endRehearsal, 200],
  ['is replaced', (store, _, key) => rehearse(store, ['internal-error'], { key }), 500],
] as [string, Parameters<typeof betweenClaim>[1], number][])
  test(`a rehearsal that ${how} during a request does not affect it`, async (t) => {
    const { store, answer, id, key } = await betweenClaim(t, act);
    assert.equal(answer.status, 200);
    assertUntouched(answer);
    assert.deepEqual(await performedOf(store, id, key), [0]);
    assert.equal((await getPets(store, key)).status, then);
  });

test('a workspace that is deleted during a request keeps no rehearsal', async (t) => {
  const { answer, store } = await betweenClaim(t, (store) =>
    store.change((sql) => deleteWorkspace(sql, 2), 2),
  );
  assertUntouched(answer);
  assert.ok([200, 401].includes(answer.status), answer.text);
  assert.deepEqual(await store.db.read`select id from rehearsals`, []);
});

test('a rehearsal survives a reset of its workspace', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [{ fault: 'unavailable', times: 2 }]);
  await getPets(store);
  await store.change((sql) => clearWorkspace(sql, 1));
  assertTouched(await getPets(store), rehearsal, 'unavailable');
  assert.deepEqual((await getPets(store)).body, []);
});

test('of 100 requests at once exactly ten are refused by a fault that is performed ten times', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [{ fault: 'internal-error', operation: 'listPets', times: 10 }]);
  const answers = await Promise.all(Array.from({ length: 100 }, () => getPets(store)));
  assert.deepEqual(statusesOf(answers).sort(), [...Array(90).fill(200), ...Array(10).fill(500)]);
  assert.deepEqual(await performedOf(store, rehearsal.id), [10]);
});
