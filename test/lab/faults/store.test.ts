import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSameUnderFaults, assertSoundUnderFaults } from '../../support/lab-store.ts';

/** Always the same here. `npm run proof -- lab` uses other seeds. */
const seed = 347_318_055;

test('under any faults a careful client leaves the same data as without', async (t) => {
  const met = await assertSameUnderFaults(t, { runs: 4, seed });
  assert.ok(met.size > 0, `only ${[...met]} were met`);
});

test('no fault breaks an invariant of the store', async (t) => {
  await assertSoundUnderFaults(t, { runs: 2, seed });
});
