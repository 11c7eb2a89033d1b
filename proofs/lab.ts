/** A careful client under random faults: `npm run proof -- lab --runs N --seed S`. */
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { faultNames } from '../src/lab/faults/list.ts';
import { assertSameUnderFaults, assertSoundUnderFaults } from '../test/support/lab-store.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
});
const extent = { runs: Number(values.runs), seed: Number(values.seed) };

test(`${values.runs} programs with faults and without, from seed ${values.seed}`, async (t) => {
  const met = await assertSameUnderFaults(t, extent);
  const missed = faultNames.filter((name) => !met.has(name));
  console.log(`met ${[...met].join(', ')}; not met: ${missed.join(', ') || 'none'}`);
});

test(`${values.runs} programs under faults that change the store, too`, (t) =>
  assertSoundUnderFaults(t, extent));
