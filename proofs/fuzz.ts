/** Random requests generated from the description: `npm run proof -- fuzz --requests N --seed S`. A failure prints its seed and curl lines. */
import { after, test } from 'node:test';
import { parseArgs } from 'node:util';
import { fuzzLab } from '../test/support/fuzz/lab.ts';
import { fuzz, type Report } from '../test/support/fuzz/run.ts';
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
  printAtTheEnd(report);
});

test(`a tenth as many requests to the lab from seed ${values.seed}`, async (t) => {
  printAtTheEnd(await fuzzLab(await startPetstore(t), Number(values.requests) / 10, Number(values.seed)));
});

function printAtTheEnd({ answers }: Report): void {
  after(() => {
    for (const [answer, count] of [...answers].sort()) console.log(`${String(count).padStart(8)}  ${answer}`);
  });
}
