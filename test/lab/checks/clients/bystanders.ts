import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Answer,
  type Api,
  type Bystander,
  endOwnRehearsal,
  secondMs,
  send,
  startWorker,
  together,
  type Worker,
} from './client.ts';

const retryAfterMs = ({ headers }: Answer) => Number(headers.get('Retry-After')) * secondMs;

/** Workers that share one pause: a refused one makes all wait. */
async function pollTogether(api: Api, count: number) {
  let untilMs = 0;
  await together(api, count, async (worker) => {
    for (let answered = 0; answered < 3; ) {
      while (api.now() < untilMs) await api.sleep(untilMs - api.now() + 50);
      const answer = await worker('/pets');
      if (answer.status === 200) answered++;
      else untilMs = api.now() + retryAfterMs(answer);
    }
  });
}

/** Ends its rehearsal after the first response, and asks again. */
async function askAfterTheEnd(api: Api) {
  await send(api, '/pets');
  await endOwnRehearsal(api);
  await api.sleep(secondMs);
  await send(api, '/pets');
}

/** One worker's attempts, with doubling waits. */
async function persist(api: Api, attempt: () => Promise<Answer>) {
  for (let waitMs = 200; waitMs < 10 * secondMs; waitMs *= 2) {
    const answer = await attempt().catch(() => undefined);
    if (answer && answer.status < 500) return;
    // In real time, so that the waits of other workers stay separate.
    await pause(waitMs / 2);
    await api.sleep(waitMs / 2);
  }
}

const twin = (key?: string) => ({
  method: 'POST',
  body: { name: 'Twins' },
  ...(key && { headers: { 'Idempotency-Key': key } }),
});

/**
 * Lets two workers wait at the same time before a client acts, so that its recording shows several. Otherwise requests that happen not to
 * overlap count as those of one worker.
 */
const amongSeveral = (bystander: Bystander): Bystander => ({
  ...bystander,
  faults: [
    ...(bystander.faults ?? []),
    { fault: 'delay', operation: 'listCategories', delayMs: 80, times: 2 },
  ],
  client: async (api) => {
    await together(api, 2, (worker) => worker('/categories'));
    await bystander.client(api);
  },
});

/** Reads a pet, and changes it with its tag. */
const readTag = async (worker: Worker) => (await worker('/pets?id=1')).headers.get('ETag') as string;
const rename = (worker: Worker, name: string, tag: string) =>
  worker('/pets/1', { method: 'PATCH', body: { name }, headers: { 'If-Match': tag } });

/** Careful clients that look careless without knowledge of their workers. Each required check has some. */
export const bystanders: Readonly<Record<string, Bystander>> = {
  'workers that share one pause after 429': amongSeveral({
    check: 'retry-after.obeyed',
    faults: [{ fault: 'rate-limited', operation: 'listPets', retryAfterSeconds: 20 }],
    client: (api) => pollTogether(api, 4),
  }),
  'workers, one of which got 503 and waits alone': amongSeveral({
    check: 'retry-after.obeyed',
    faults: [{ fault: 'unavailable', operation: 'listPets', retryAfterSeconds: 2 }],
    client: (api) =>
      together(api, 4, async (worker) => {
        for (let answered = 0; answered < 4; ) {
          const answer = await worker('/pets');
          if (answer.status === 200) answered++;
          await api.sleep(answer.status === 200 ? 100 : retryAfterMs(answer) + 50);
        }
      }),
  }),
  'a client that is admitted because the limit ended with its rehearsal': {
    check: 'retry-after.obeyed',
    faults: [{ fault: 'rate-limited', operation: 'listPets', retryAfterSeconds: 60 }],
    client: askAfterTheEnd,
  },
  'workers with requests in flight when the key was banned': amongSeveral({
    check: 'ban.stops',
    faults: [{ fault: 'banned', operation: 'listPets', retryAfterSeconds: 20 }],
    client: (api) => pollTogether(api, 3),
  }),
  'a banned client that is admitted because the ban ended with its rehearsal': {
    check: 'ban.stops',
    faults: [{ fault: 'banned', operation: 'listPets', retryAfterSeconds: 60 }],
    client: askAfterTheEnd,
  },
  'a poller that keeps its pace, whatever the responses': {
    check: 'backoff.grows',
    faults: [{ fault: 'internal-error', operation: 'listPets', times: 4 }],
    client: async (api) => {
      // Long compared with the delays of a busy machine.
      for (let poll = 0; poll < 7; poll++) {
        await send(api, '/pets');
        await api.sleep(10_000);
      }
    },
  },
  'workers that start together, and wait longer each time': amongSeveral({
    check: 'backoff.grows',
    faults: [{ fault: 'reset', operation: 'listPets', times: 5 }],
    client: (api) =>
      together(api, 5, async (worker, number) => {
        await pause(number * 4);
        await persist(api, () => worker('/pets'));
      }),
  }),
  'a client that waits until a resource exists': {
    check: 'retry.only-when-useful',
    client: async (api) => {
      for (let poll = 0; poll < 4; poll++) {
        await send(api, '/inventory/987654');
        await api.sleep(500);
      }
    },
  },
  'workers that request the same missing resource': amongSeveral({
    check: 'retry.only-when-useful',
    client: (api) =>
      together(api, 4, async (worker, number) => {
        await pause(number * 4);
        await worker('/inventory/987654');
        await worker('/categories');
      }),
  }),
  'workers that create equal resources, each with its own key': amongSeveral({
    check: 'idempotency.same-key-on-retry',
    faults: [{ fault: 'lost-answer', operation: 'createCategory' }],
    client: (api) =>
      together(api, 3, async (worker, number) => {
        await pause(number * 20);
        const key = randomUUID();
        await persist(api, () => worker('/categories', twin(key)));
      }),
  }),
  'a client with its own time limit that sends the same key again': {
    check: 'idempotency.same-key-on-retry',
    faults: [{ fault: 'delay', operation: 'createCategory', delayMs: 300 }],
    client: async (api) => {
      const key = randomUUID();
      await assert.rejects(startWorker(api)('/categories', { ...twin(key), limitMs: 50 }));
      await pause(400);
      await startWorker(api)('/categories', twin(key));
    },
  },
  'a client with concurrent bodies of equal length, which repeats each with its key': {
    check: 'idempotency.same-key-on-retry',
    faults: [{ fault: 'reset', operation: 'createCategory' }],
    client: async (api) => {
      const worker = startWorker(api);
      const create = (name: string) => worker('/categories', { ...twin(name), body: { name } });
      await assert.rejects(create('Ann'));
      await create('Bob');
      await create('Ann');
    },
  },
  'a client whose next body has the same length': {
    check: 'idempotency.no-blind-post-retry',
    faults: [{ fault: 'reset', operation: 'createCategory' }],
    client: async (api) => {
      const worker = startWorker(api);
      const create = (name: string) => worker('/categories', { method: 'POST', body: { name } });
      await assert.rejects(create('Ann'));
      await create('Bob');
    },
  },
  'a client whose next body after 503 has the same length': {
    check: 'retry-after.obeyed',
    faults: [{ fault: 'unavailable', operation: 'createCategory', retryAfterSeconds: 20 }],
    client: async (api) => {
      for (const name of ['Ann', 'Bob']) await send(api, '/categories', { method: 'POST', body: { name } });
    },
  },
  'a client that looks for its resource on all pages before it sends it again': {
    check: 'idempotency.no-blind-post-retry',
    faults: [{ fault: 'reset', operation: 'createCategory' }],
    client: async (api) => {
      const worker = startWorker(api);
      await assert.rejects(worker('/categories', twin()));
      let page: string | undefined = '/categories?limit=2';
      while (page) page = /<[^>]*\/v1(\/[^>]+)>/.exec((await worker(page)).headers.get('Link') ?? '')?.[1];
      await worker('/categories', twin());
    },
  },
  'workers that create equal resources, one of which gives up': amongSeveral({
    check: 'idempotency.no-blind-post-retry',
    faults: [{ fault: 'internal-error', operation: 'createCategory' }],
    client: (api) =>
      together(api, 3, async (worker, number) => {
        await worker('/pets');
        await pause(number * 20);
        await worker('/categories', twin());
        await worker('/pets');
      }),
  }),
  'a client that reads two lists, one with a filter, by equal cursors': {
    check: 'pages.filters-kept',
    client: async (api) => {
      const [all, some] = ['/pets?limit=2', '/pets?limit=2&status=available'];
      for (const list of [all, some]) await send(api, list);
      const { headers } = await send(api, all);
      const cursor = /cursor=([^&>]+)/.exec(headers.get('Link') ?? '')?.[1];
      for (const next of [`/pets?cursor=${cursor}`, `/pets?cursor=${cursor}&status=available&limit=5`])
        assert.equal((await send(api, next)).status, 200);
    },
  },
  'a client whose texts look like rounded ids': {
    check: 'ids.exact',
    faults: [{ fault: 'large-ids' }],
    client: async (api) => {
      await send(api, '/categories', { method: 'POST', body: { name: '10000000000000004' } });
      await send(api, '/pets');
    },
  },
  'a client that changes a property the other writer did not change, and removes': {
    check: 'updates.not-lost',
    faults: [{ fault: 'conflict' }],
    client: async (api) => {
      await send(api, '/pets/1', { method: 'PATCH', body: { status: 'sold' } });
      await send(api, '/pets/2', { method: 'DELETE' });
    },
  },
  'a client that sets a counted stock, and has read nothing': {
    check: 'updates.not-lost',
    faults: [{ fault: 'conflict' }],
    client: (api) => send(api, '/inventory/3', { method: 'PATCH', body: { quantity: 10 } }),
  },
  'writers that read the same, and each decide again after 412': {
    check: 'conflict.read-again',
    client: async (api) => {
      const [a, b, c] = [startWorker(api), startWorker(api), startWorker(api)];
      const [first, second, third] = [await readTag(a), await readTag(b), await readTag(c)];
      const { headers } = await rename(a, 'A', first);
      await rename(b, 'B', second);
      await rename(c, 'C', third);
      await rename(a, 'A again', headers.get('ETag') as string);
      await rename(b, 'B', await readTag(b));
      await rename(c, 'C', await readTag(c));
    },
  },
  'workers of one pool that each read again after 412': {
    check: 'conflict.read-again',
    client: async (api) => {
      // All requests use one connection, in turns.
      const worker = startWorker(api);
      const change = async (name: string): Promise<unknown> =>
        (await rename(worker, name, await readTag(worker))).status === 412 && change(name);
      await Promise.all(['A', 'B', 'C'].map(change));
    },
  },
  'a client that repeats its key after the first attempt had time to end': {
    check: 'retry-after.obeyed',
    faults: [{ fault: 'key-in-use', operation: 'createCategory' }],
    client: async (api) => {
      const answer = await send(api, '/categories', twin('k'));
      assert.equal(answer.status, 409);
      await api.sleep(retryAfterMs(answer) + 50);
      assert.equal((await send(api, '/categories', twin('k'))).status, 201);
    },
  },
  'a client that reads its credentials again after 401, and retries once': {
    check: 'retry.only-when-useful',
    faults: [{ fault: 'unauthorized', operation: 'listPets' }],
    client: async (api) => {
      assert.equal((await send(api, '/pets')).status, 401);
      assert.equal((await send(api, '/pets')).status, 200);
    },
  },
  'a client that reads again after a lost response, and sends the change with the new tag': {
    check: 'retry.same-body',
    faults: [{ fault: 'lost-answer', operation: 'updatePet' }],
    client: async (api) => {
      await assert.rejects(rename(startWorker(api), 'A', await readTag(startWorker(api))));
      await api.sleep(secondMs);
      await rename(startWorker(api), 'A', await readTag(startWorker(api)));
    },
  },
  'a client that repeats a created body with its key, and sends another with another key': {
    check: 'idempotency.key-for-one-thing',
    client: async (api) => {
      for (const name of ['k', 'k', 'l']) await send(api, '/categories', { ...twin(name), body: { name } });
    },
  },
  'a client that sends its key to another path of the same origin': {
    check: 'credentials.not-forwarded',
    faults: [{ fault: 'moved', operation: 'createCategory' }],
    client: async (api) => {
      const { status, headers } = await send(api, '/categories', twin('k'));
      assert.equal(status, 307);
      const path = headers.get('Location')?.replace('/v1', '') as string;
      assert.equal((await send(api, path, twin('k'))).status, 201);
    },
  },
};
