import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSameUnderFaults, assertSoundUnderFaults } from './support/lab-store.ts';

const seed = Date.now() % 1_000_000_000;

test('under any faults a careful client leaves the same behind as without', async (t) => {
  const met = await assertSameUnderFaults(t, { runs: 4, seed });
  assert.ok(met.size > 0, `only ${[...met]} were met`);
});

test('no faults break what always holds in the store', async (t) => {
  await assertSoundUnderFaults(t, { runs: 2, seed });
});
