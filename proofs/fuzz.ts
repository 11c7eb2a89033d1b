/** Random requests generated from the description: `npm run proof -- fuzz --requests N --seed S`. A failure prints its seed and curl lines. */
import { after, test } from 'node:test';
import { fuzzLab } from '../test/support/fuzz/lab.ts';
import { fuzz, type Report } from '../test/support/fuzz/run.ts';
import { startPetstore } from '../test/support/petstore.ts';
import { readNumbers } from './support/options.ts';

const { requests, seed } = readNumbers({ requests: 200_000 });

test(`${requests} requests from seed ${seed}`, async (t) => {
  printAtTheEnd(await fuzz(await startPetstore(t, { seed: false }), requests, seed));
});

test(`a tenth as many requests to the lab from seed ${seed}`, async (t) => {
  printAtTheEnd(await fuzzLab(await startPetstore(t), requests / 10, seed));
});

function printAtTheEnd({ answers }: Report): void {
  after(() => {
    for (const [answer, count] of [...answers].sort()) console.log(`${String(count).padStart(8)}  ${answer}`);
  });
}
