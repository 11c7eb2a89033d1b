/** Compares the history with every GET response, after each of many steps: `npm run proof -- history --histories N --seed S`. */
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { proveHistories } from '../test/support/history-proof.ts';
import { startPetstore } from '../test/support/petstore.ts';

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
});

test(`${values.histories} histories from seed ${values.seed}`, async (t) => {
  const counts = await proveHistories(
    await startPetstore(t, { seed: false }),
    Number(values.histories),
    Number(values.seed),
  );
  for (const [type, count] of [...counts].sort()) console.log(`${String(count).padStart(8)}  ${type}`);
});
