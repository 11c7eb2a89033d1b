import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apis } from '../support/description.ts';
import { described } from '../support/fuzz/interpret.ts';
import { fuzzLab } from '../support/fuzz/lab.ts';
import { fuzz, succeeded } from '../support/fuzz/run.ts';
import { startPetstore } from '../support/petstore.ts';

/** Enough that each operation succeeds at least once, even those whose random requests rarely do. */
const requests = 70 * described.length;
const labRequests = 800;
/** The same each time. `npm run proof -- fuzz` uses other seeds, and more requests. */
const seed = 20_261_121;

test(`the responses to ${requests} generated requests, half of them odd, match the description and the contract`, async (t) => {
  const store = await startPetstore(t, { seed: false });
  const report = await fuzz(store, requests, seed);
  assert.ok(report.requests >= requests);
  const ids = described.map(({ id }) => id);
  assert.deepEqual(succeeded(report), ids, 'every operation succeeded at least once');
});

test('random requests to the lab get responses that its description declares, and change nothing for others', async (t) => {
  const report = await fuzzLab(await startPetstore(t), labRequests, seed);
  const ids = apis[1].operations.map(({ id }) => id);
  assert.deepEqual(succeeded(report, ids), ids, 'every operation succeeded at least once');
});
