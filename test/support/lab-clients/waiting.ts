import { type Api, type Pair, secondMs, send, waitFor } from './client.ts';

const retryAfter = (headers: Headers) => Number(headers.get('Retry-After')) * secondMs;

async function tryUntilAnswered(api: Api, wait: (headers: Headers) => Promise<void>) {
  for (let attempt = 0; attempt < 3; attempt++) {
    const { status, headers } = await send(api, '/pets');
    if (status === 200) return;
    await wait(headers);
  }
}

export const waiting: Record<string, Pair> = {
  'retry-after.obeyed': {
    faults: [{ fault: 'rate-limited', operation: 'listPets', retryAfterSeconds: 20 }],
    careful: (api) => tryUntilAnswered(api, (headers) => waitFor(api, retryAfter(headers))),
    careless: (api) => tryUntilAnswered(api, () => api.sleep(secondMs)),
    shows: ['1', '2', '3'],
  },

  'ban.stops': {
    faults: [{ fault: 'banned', operation: 'listPets', retryAfterSeconds: 30 }],
    careful: (api) => tryUntilAnswered(api, (headers) => waitFor(api, retryAfter(headers))),
    // It treats the ban as one of a single operation.
    careless: async (api) => {
      await send(api, '/pets');
      await api.sleep(secondMs);
      await send(api, '/categories');
    },
    shows: ['1', '2'],
  },

  'limits.foreseen': {
    faults: [{ fault: 'near-limit', remaining: 2 }],
    careful: async (api) => {
      for (let request = 0; request < 4; request++) {
        const { headers } = await send(api, '/pets');
        if (headers.get('X-RateLimit-Remaining') !== '0') continue;
        await waitFor(api, Number(headers.get('X-RateLimit-Reset')) * secondMs - api.now());
      }
    },
    careless: async (api) => {
      for (let request = 0; request < 3; request++) await send(api, '/pets');
    },
    shows: ['2', '3'],
  },
};
