import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Api, type Pair, secondMs, send, trySend } from './client.ts';

/** Attempts until there is a complete response, with a wait before each but the first. */
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

const named = (name: string) => ({ method: 'POST', body: { name } });

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

  'attempts.bounded': {
    faults: [{ fault: 'internal-error', operation: 'listPets', times: 30 }],
    careful: async (api) => {
      const waitsMs = [secondMs, 2 * secondMs, 4 * secondMs];
      await attempt(api, waitsMs, () => trySend(api, '/pets')).catch(() => send(api, '/categories'));
    },
    careless: (api) =>
      attempt(
        api,
        Array.from({ length: 30 }, (_, retry) => Math.min(100 * 2 ** retry, 10 * secondMs)),
        () => trySend(api, '/pets'),
      ),
    // The evidence has the first ten.
    shows: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'],
  },

  'time-limit.exists': {
    faults: [{ fault: 'no-answer', operation: 'listPets', silenceMs: 400 }],
    careful: async (api) => {
      await trySend(api, '/pets', { limitMs: 50 });
      // In real time, until the service has noticed.
      await pause(100);
      await send(api, '/pets');
    },
    // It has no time limit. Such a short silence does not show that.
    careless: (api) => attempt(api, [secondMs], () => trySend(api, '/pets')),
    result: 'not_observed',
    shows: [],
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

  'retry.same-body': {
    faults: [{ fault: 'lost-answer', operation: 'createCategory' }],
    careful: (api) => attempt(api, [secondMs], () => createCategory(api, { 'Idempotency-Key': 'a' })),
    // Its body is a stream, which the first attempt has consumed.
    careless: async (api) => {
      const headers = { 'Idempotency-Key': 'a' };
      await createCategory(api, headers);
      await api.sleep(secondMs);
      await trySend(api, '/categories', { method: 'POST', headers });
    },
    shows: ['1', '2'],
  },

  'idempotency.key-for-one-thing': {
    faults: [],
    careful: async (api) => {
      for (const name of ['Ann', 'Bob'])
        await send(api, '/categories', { ...named(name), headers: { 'Idempotency-Key': `key-of-${name}` } });
    },
    careless: async (api) => {
      for (const name of ['Ann', 'Bob'])
        await send(api, '/categories', { ...named(name), headers: { 'Idempotency-Key': 'my-key' } });
    },
    shows: ['1', '2'],
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
