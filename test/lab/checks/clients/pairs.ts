import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createPetstore, type PetstoreOptions } from '../../../../src/client/index.ts';
import { takeTour } from '../../../support/client-tour.ts';
import { requestOnce } from '../../../support/request-once.ts';
import { until } from '../../../support/until.ts';
import { type Answer, type Api, type CheckPair, secondMs, send, trySend } from './client.ts';

/** `petstore-lab/client`, which is careful by itself. */
const careful = ({ url, key, now, sleep }: Api, options: Partial<PetstoreOptions> = {}) =>
  createPetstore({ baseUrl: url, apiKey: key, clock: { now, sleep }, ...options });

const readPets = (api: Api) => careful(api).listPets().toArray();
const renamePet = (api: Api) => careful(api).changePet(1, () => ({ name: 'Smaug' }));
const createDragons = (api: Api) => careful(api).createCategory({ name: 'Dragons' });

/** Attempts at the same request, with these waits between them, until one succeeds. */
async function attempts(api: Api, waitsMs: number[], attempt: () => Promise<Answer | undefined>) {
  for (const waitMs of [...waitsMs, undefined]) {
    const answer = await attempt();
    if (answer && answer.status < 500) return;
    if (waitMs) await api.sleep(waitMs);
  }
}

const postCategory = (api: Api, headers: Record<string, string> = {}, body: unknown = { name: 'Dragons' }) =>
  trySend(api, '/categories', { method: 'POST', body, headers });

/** Reads a pet, and changes its name, by default without a condition. */
async function renameCarelessly(api: Api, isOnce = false) {
  const { headers } = await send(api, '/pets?id=1');
  const rename = (fields = {}) =>
    send(api, '/pets/1', { method: 'PATCH', body: { name: 'Smaug' }, headers: fields });
  const { status } = await rename(isOnce ? { 'If-Match': headers.get('ETag') } : {});
  // It treats the 412 as a bug, and removes the condition.
  if (status === 412) await rename();
}

/** Reads a pet by the successor of an operation that is gone. */
async function followSuccessor(api: Api) {
  if ((await send(api, '/pets/1')).status === 410) await send(api, '/pets?id=1');
}

/** Follows a redirect of a GET to another origin, with these headers. */
async function followAway({ url, key }: Api, headers: Record<string, string>) {
  const own = { Authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/pets`, { headers: own, redirect: 'manual' });
  await requestOnce(answer.headers.get('Location') as string, { headers });
}

/** Causes an event, and follows the events after a given one until the stream breaks. Returns the id of the last one. */
async function follow(api: Api, lastEventId: number): Promise<number> {
  await postCategory(api, { 'Idempotency-Key': randomUUID() });
  const own = { 'X-API-Key': api.key };
  const headers = { ...own, 'Last-Event-ID': String(lastEventId) };
  const { body } = await fetch(`${api.url}/store/events/stream`, { headers });
  let text = '';
  try {
    for await (const piece of body as ReadableStream<Uint8Array>) text += new TextDecoder().decode(piece);
  } catch {
    // The stream broke.
  }
  // The service notices the end a little later.
  await until(async () => {
    const answer = await fetch(new URL('/lab/account', api.url), { headers: own });
    return ((await answer.json()) as { openStreams: number }).openStreams === 0;
  });
  return Number([...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1]);
}

/** For each check, by its name, a client that passes it and a client that fails it. */
export const pairs: Record<string, CheckPair> = {
  'retry-after.obeyed': {
    faults: [{ fault: 'rate-limited', operation: 'listPets', retryAfterSeconds: 20 }],
    careful: readPets,
    careless: async (api) => {
      for (let attempt = 0; attempt < 3; attempt++) {
        await send(api, '/pets');
        await api.sleep(secondMs);
      }
    },
    shows: ['1', '2', '3'],
  },

  'ban.stops': {
    faults: [{ fault: 'banned', operation: 'listPets', retryAfterSeconds: 30 }],
    careful: readPets,
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
      const client = careful(api);
      for (let request = 0; request < 4; request++) await client.findPet(1);
    },
    careless: async (api) => {
      for (let request = 0; request < 3; request++) await send(api, '/pets');
    },
    shows: ['2', '3'],
  },

  'backoff.grows': {
    faults: [{ fault: 'internal-error', operation: 'listPets', times: 3 }],
    careful: readPets,
    careless: (api) =>
      attempts(api, [10 * secondMs, 10 * secondMs, 10 * secondMs], () => trySend(api, '/pets')),
    shows: ['1', '2', '3', '4'],
  },

  'attempts.bounded': {
    faults: [{ fault: 'internal-error', operation: 'listPets', times: 30 }],
    careful: (api) => readPets(api).catch(() => send(api, '/categories')),
    careless: (api) => {
      const waitsMs = Array.from({ length: 30 }, (_, retry) => Math.min(100 * 2 ** retry, 10 * secondMs));
      return attempts(api, waitsMs, () => trySend(api, '/pets'));
    },
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
    careless: (api) => attempts(api, [secondMs], () => trySend(api, '/pets')),
    result: 'not_observed',
    shows: [],
  },

  'retry.only-when-useful': {
    faults: [{ fault: 'sunset' }],
    careful: followSuccessor,
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
    careful: readPets,
    careless: async (api) => {
      await trySend(api, '/pets');
      await send(api, '/categories');
    },
    shows: ['1'],
  },

  'retry.same-body': {
    faults: [{ fault: 'lost-answer', operation: 'createCategory' }],
    careful: createDragons,
    // Its body is a stream, which the first attempt has consumed.
    careless: async (api) => {
      const headers = { 'Idempotency-Key': 'a' };
      await postCategory(api, headers);
      await api.sleep(secondMs);
      await trySend(api, '/categories', { method: 'POST', headers });
    },
    shows: ['1', '2'],
  },

  'idempotency.key-for-one-thing': {
    careful: async (api) => {
      for (const name of ['Ann', 'Bob']) await careful(api).createCategory({ name });
    },
    careless: async (api) => {
      for (const name of ['Ann', 'Bob']) await postCategory(api, { 'Idempotency-Key': 'my-key' }, { name });
    },
    shows: ['1', '2'],
  },

  'idempotency.same-key-on-retry': {
    faults: [{ fault: 'lost-answer', operation: 'createCategory' }],
    careful: createDragons,
    careless: (api) =>
      attempts(api, [secondMs], () => postCategory(api, { 'Idempotency-Key': randomUUID() })),
    shows: ['1', '2'],
  },

  'idempotency.no-blind-post-retry': {
    faults: [{ fault: 'lost-answer', operation: 'createCategory' }],
    careful: (api) => postCategory(api),
    careless: (api) => attempts(api, [secondMs], () => postCategory(api)),
    shows: ['1', '2'],
  },

  'streams.resumed': {
    faults: [{ fault: 'stream-cut', times: 2 }],
    careful: async (api) => follow(api, (await follow(api, 0)) - 1),
    careless: async (api) => follow(api, await follow(api, 0)),
    shows: ['2', '4'],
  },

  'pages.to-the-end': {
    faults: [{ fault: 'empty-page', operation: 'listPets' }, { fault: 'small-pages' }],
    careful: readPets,
    // It takes an empty page for the last one.
    careless: (api) => send(api, '/pets'),
    shows: ['1'],
  },

  'pages.filters-kept': {
    careful: (api) => careful(api).listPets({ status: 'available', limit: 2 }).toArray(),
    careless: async (api) => {
      const { headers } = await send(api, '/pets?status=available&limit=2');
      await send(api, `/pets?cursor=${/cursor=([^&>]+)/.exec(headers.get('Link') ?? '')?.[1]}`);
    },
    shows: ['1', '2'],
  },

  'ids.exact': {
    faults: [{ fault: 'large-ids' }],
    careful: async (api) => {
      const [, second] = await readPets(api);
      await careful(api).findPet(second?.id ?? 0);
    },
    careless: async (api) => {
      const { text } = await send(api, '/pets');
      await send(api, `/pets?id=${JSON.parse(text)[1].id}`);
    },
    shows: ['2'],
  },

  'if-match.sent': { careful: renamePet, careless: (api) => renameCarelessly(api), shows: ['2'] },

  'updates.not-lost': {
    faults: [{ fault: 'conflict', operation: 'updatePet' }],
    careful: renamePet,
    careless: (api) => renameCarelessly(api),
    shows: ['2'],
  },

  'conflict.read-again': {
    faults: [{ fault: 'conflict', operation: 'updatePet' }],
    careful: renamePet,
    careless: (api) => renameCarelessly(api, true),
    shows: ['2', '3'],
  },

  'credentials.not-forwarded': {
    faults: [{ fault: 'moved-away', operation: 'listPets' }],
    careful: (api) => followAway(api, {}),
    careless: (api) => followAway(api, { 'X-API-Key': api.key }),
    shows: ['2'],
  },

  'deprecated.not-called': {
    careful: (api) => careful(api).findPet(1),
    careless: (api) => send(api, '/pets/1'),
    shows: ['1'],
  },

  'sunset.successor-used': {
    faults: [{ fault: 'sunset' }],
    careful: followSuccessor,
    careless: async (api) => {
      if ((await send(api, '/pets/1')).status === 410) await send(api, '/pets/1');
    },
    shows: ['1', '2'],
  },

  'connections.reused': {
    careful: async (api) => {
      for (let id = 1; id <= 6; id++) await send(api, `/pets?id=${id}`);
    },
    careless: async (api) => {
      for (let id = 1; id <= 6; id++)
        await requestOnce(`${api.url}/pets?id=${id}`, { headers: { 'X-API-Key': api.key } });
    },
    shows: ['2', '3', '4', '5', '6'],
  },

  'operations.covered': {
    careful: async (api) => {
      await takeTour(careful(api));
      await careful(api).getPet(1);
    },
    careless: (api) => send(api, '/pets'),
    // A client that needs less is not wrong.
    result: 'not_observed',
    shows: [],
  },
};
