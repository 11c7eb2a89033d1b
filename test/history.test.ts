import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type EventType, eventTypes } from '../src/history/types.ts';
import { proveHistory } from './support/history-proof.ts';
import { steps } from './support/history-steps.ts';
import { startPetstore } from './support/petstore.ts';

/** `PETSTORE_TEST_HISTORIES` asks for more, and for others each time. */
const { PETSTORE_TEST_HISTORIES } = process.env;
const runs = PETSTORE_TEST_HISTORIES
  ? { numRuns: Number(PETSTORE_TEST_HISTORIES) }
  : { numRuns: 30, seed: 20_261_121 };

test('whatever is asked, an event exists exactly where a GET answers something else than before, and the history leads to what the lists show', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const reached = new Set<EventType>();
  const property = fc.asyncProperty(steps, async (steps) => {
    for (const { type } of await proveHistory(store, steps)) reached.add(type);
  });
  await fc.assert(property, runs);
  assert.deepEqual([...reached].sort(), eventTypes.toSorted());
});
