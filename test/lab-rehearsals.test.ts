import assert from 'node:assert/strict';
import test from 'node:test';
import { assertTouched, assertUntouched, rehearsalOf, rehearse } from './support/lab.ts';
import { startPetstore } from './support/petstore.ts';

test('a fault is performed as often as asked, and then no more', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [{ fault: 'internal-error', operation: 'getPet', times: 2 }]);
  for (const performed of [1, 2]) {
    const answer = await store.call('GET', '/pets/1');
    assert.equal(answer.status, 500);
    assertTouched(answer, rehearsal, 'internal-error');
    const [fault] = (await rehearsalOf(store, rehearsal.id)).faults;
    assert.deepEqual([fault?.performed, fault?.remaining], [performed, 2 - performed]);
  }
  const answer = await store.call('GET', '/pets/1');
  assert.equal(answer.status, 200);
  assertUntouched(answer);
});

for (const fault of ['rate-limited', 'rate-limited-date', 'banned', 'unavailable']) {
  test(`${fault} is over after the time told`, async (t) => {
    const store = await startPetstore(t);
    const rehearsal = await rehearse(store, [{ fault, retryAfterSeconds: 2 }]);
    assertTouched(await store.call('GET', '/pets/1'), rehearsal, fault);
    store.nowMs += 2_000;
    assertUntouched(await store.call('GET', '/pets/1'));
  });
}
