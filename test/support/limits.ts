import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan, Quota } from '../../src/foundation/settings/plans.ts';
import { type JsonAnswer, Petstore, type StoreSetup, startPetstore } from './petstore.ts';
import { openTestStorage } from './storage.ts';
import { numbers } from './values.ts';

/** The remaining requests of the binding window, from a response. */
export const remaining = ({ headers }: JsonAnswer) => Number(headers['x-ratelimit-remaining']);

/** Asserts that exactly this many requests were admitted, each with its own number of remaining ones, and the others refused. */
export function assertAdmitted(answers: JsonAnswer[], count: number, refusals = [429]): void {
  const admitted = answers.filter(({ status }) => status === 200);
  assert.deepEqual(
    admitted.map(remaining).sort((a, b) => a - b),
    numbers(count, 0),
  );
  assert.ok(answers.every(({ status }) => status === 200 || refusals.includes(status)));
}

/** The results of `act`, called `count` times, one after the other. */
export async function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < count; i++) results.push(await act());
  return results;
}

/** Waits for the next minute if this one has less than `neededMs` left. */
export async function roomInMinute(neededMs: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < neededMs) await sleep(leftMs + 50);
}

/** A petstore, a new key with this plan or these limits, and a request of the key. */
export async function startWithKey(t: TestContext, limits: Plan | Quota, options?: StoreSetup) {
  const store = await startPetstore(t, options);
  const { key, id } = await (typeof limits === 'string'
    ? store.addKey(limits)
    : store.addKey('enterprise', limits));
  const ask = () => store.call('GET', '/pets/1', { key });
  /** The statuses of this many requests. */
  const statuses = async (count: number) => (await times(count, ask)).map(({ status }) => status);
  return { store, key, id, ask, statuses };
}

/** Another petstore on the same storage and at the same time, after the first one has closed unless `beside` is true. */
export async function restart(
  t: TestContext,
  store: Petstore,
  { beside = false, ...options }: StoreSetup & { beside?: boolean } = {},
): Promise<Petstore> {
  if (!beside) await store.close();
  const restarted = new Petstore(await openTestStorage(store.folder), store.folder, options);
  restarted.nowMs = store.nowMs;
  t.after(() => restarted.close());
  return restarted;
}
