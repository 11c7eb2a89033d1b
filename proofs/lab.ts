/** A careful client under random faults: `npm run proof -- lab --runs N --seed S`. */
import { test } from 'node:test';
import { faultNames } from '../src/lab/faults/list.ts';
import { assertSameUnderFaults, assertSoundUnderFaults } from '../test/support/lab-store.ts';
import { readNumbers } from './support/options.ts';

const extent = readNumbers({ runs: 100 });

test(`${extent.runs} programs with faults and without, from seed ${extent.seed}`, async (t) => {
  const met = await assertSameUnderFaults(t, extent);
  const missed = faultNames.filter((name) => !met.has(name));
  console.log(`met ${[...met].join(', ')}; not met: ${missed.join(', ') || 'none'}`);
});

test(`${extent.runs} programs under faults that change the store, too`, (t) =>
  assertSoundUnderFaults(t, extent));
