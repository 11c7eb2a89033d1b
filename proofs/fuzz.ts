// npm run fuzz -- --requests N --seed S: as test/fuzz.test.ts, for longer, or again from a seed that failed.
import { after, test } from 'node:test';
import { parseArgs } from 'node:util';
import { fuzz } from '../test/support/fuzz/run.ts';
import { startPetstore } from '../test/support/petstore.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
});

test(`${values.requests} requests from seed ${values.seed}`, async (t) => {
  const report = await fuzz(
    await startPetstore(t, { seed: false }),
    Number(values.requests),
    Number(values.seed),
  );
  after(() => {
    for (const [answer, count] of [...report.answers].sort())
      console.log(`${String(count).padStart(8)}  ${answer}`);
  });
});
