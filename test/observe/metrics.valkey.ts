import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from '../support/petstore.ts';
import { needsValkey, startValkey } from '../support/valkey.ts';
import { valueIn } from './metrics.ts';

test('the time of each limit decision in Valkey is counted', needsValkey, async (t) => {
  const { url } = await startValkey(t);
  const patienceMs = 60_000;
  const store = await startPetstore(t, {
    valkey: { urls: [url], timeoutMs: patienceMs, connectWithinMs: patienceMs },
  });
  for (let i = 0; i < 5; i++) assert.equal((await store.call('GET', '/pets/1')).status, 200);
  const text = await store.metrics();
  assert.equal(valueIn(text, 'petstore_valkey_duration_seconds_count'), 5);
  assert.ok(valueIn(text, 'petstore_valkey_duration_seconds_sum') > 0);
  assert.equal(valueIn(text, 'petstore_limits_shared'), 1);
});
