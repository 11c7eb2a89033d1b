/** Compares the history with every GET response, after each of many steps: `npm run proof -- history --histories N --seed S`. */
import { test } from 'node:test';
import { proveHistories } from '../test/support/history-proof.ts';
import { startPetstore } from '../test/support/petstore.ts';
import { readNumbers } from './support/options.ts';

const { histories, seed } = readNumbers({ histories: 1_000 });

test(`${histories} histories from seed ${seed}`, async (t) => {
  const counts = await proveHistories(await startPetstore(t, { seed: false }), histories, seed);
  for (const [type, count] of [...counts].sort()) console.log(`${String(count).padStart(8)}  ${type}`);
});
