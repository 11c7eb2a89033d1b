import { randomUUID } from 'node:crypto';
import { type Answer, type Api, type Pair, secondMs, send, trySend } from './client.ts';

/** Attempts until there is a whole answer, with a wait before each but the first. */
async function attempt(
  api: Api,
  waitsMs: number[],
  request: () => Promise<Answer | undefined>,
): Promise<Answer> {
  const answer = await request();
  if (answer && answer.status < 500) return answer;
  const [waitMs, ...later] = waitsMs;
  if (waitMs === undefined) throw new Error('All attempts failed.');
  await api.sleep(waitMs);
  return attempt(api, later, request);
}

const createCategory = (api: Api, headers: Record<string, string> = {}) =>
  trySend(api, '/categories', { method: 'POST', body: { name: 'Dragons' }, headers });

export const retries: Record<string, Pair> = {
  'backoff.grows': {
    faults: [{ fault: 'internal-error', operation: 'listPets', times: 3 }],
    careful: (api) => attempt(api, [5 * secondMs, 10 * secondMs, 20 * secondMs], () => trySend(api, '/pets')),
    careless: (api) =>
      attempt(api, [10 * secondMs, 10 * secondMs, 10 * secondMs], () => trySend(api, '/pets')),
    shows: ['1', '2', '3', '4'],
  },

  'retry.only-when-useful': {
    faults: [{ fault: 'sunset' }],
    careful: async (api) => {
      if ((await send(api, '/pets/1')).status === 410) await send(api, '/pets?id=1');
    },
    careless: async (api) => {
      for (let retry = 0; retry < 2; retry++) {
        if ((await send(api, '/pets/1')).status < 400) return;
        await api.sleep(secondMs);
      }
    },
    shows: ['1', '2'],
  },

  'failures.retried': {
    faults: [{ fault: 'truncated', operation: 'listPets' }],
    careful: (api) => attempt(api, [secondMs], () => trySend(api, '/pets')),
    careless: async (api) => {
      await trySend(api, '/pets');
      await send(api, '/categories');
    },
    shows: ['1'],
  },

  'idempotency.same-key-on-retry': {
    faults: [{ fault: 'lost-answer', operation: 'createCategory' }],
    careful: (api) => {
      const key = randomUUID();
      return attempt(api, [secondMs], () => createCategory(api, { 'Idempotency-Key': key }));
    },
    careless: (api) =>
      attempt(api, [secondMs], () => createCategory(api, { 'Idempotency-Key': randomUUID() })),
    shows: ['1', '2'],
  },

  'idempotency.no-blind-post-retry': {
    faults: [{ fault: 'lost-answer', operation: 'createCategory' }],
    careful: (api) => createCategory(api),
    careless: (api) => attempt(api, [secondMs], () => createCategory(api)),
    shows: ['1', '2'],
  },
};
