import assert from 'node:assert/strict';
import { test } from 'node:test';
import { described } from './support/fuzz/interpret.ts';
import { fuzz, succeeded } from './support/fuzz/run.ts';
import { startPetstore } from './support/petstore.ts';
import { testDatabaseUrl } from './support/storage.ts';

/** Fewer where each waits for another process. */
const requests = testDatabaseUrl ? 5_000 : 12_000;
/** The same each time. `npm run fuzz` takes others. */
const seed = 20_261_121;

test(`${requests} requests made from the description, half of them odd, are all answered as it and the contract say`, async (t) => {
  const store = await startPetstore(t, { seed: false });
  const report = await fuzz(store, requests, seed);
  assert.ok(report.requests >= requests);
  const reached = succeeded(report);
  assert.deepEqual(
    reached,
    described.map(({ id }) => id),
    'every operation succeeded at least once',
  );
});
