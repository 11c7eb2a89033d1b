import type { TestContext } from 'node:test';
import type { Quota } from '../../src/foundation/settings/plans.ts';
import { startPetstore } from '../support/petstore.ts';
import { fakeClock } from '../support/scripted-server.ts';

/** A store, and the options of a client with its key or a key of this quota. Waits of the client move the clock of both. */
export async function startReal(t: TestContext, quota?: Quota) {
  const store = await startPetstore(t);
  const clock = fakeClock(store.nowMs + 1);
  const { key } = quota ? await store.addKey('enterprise', quota) : store;
  Object.defineProperty(store, 'nowMs', { get: clock.now });
  const [calls, statuses]: [string[], number[]] = [[], []];
  store.app.addHook(
    'onRequest',
    async ({ method, url }) => void calls.push(`${method} ${url.split('?')[0]}`),
  );
  store.app.addHook('onResponse', async (_, { statusCode }) => void statuses.push(statusCode));
  const access = { baseUrl: `${await store.listen()}/v1`, apiKey: key, clock };
  return { store, access, clock, calls, statuses };
}
