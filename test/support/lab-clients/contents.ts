import { randomUUID } from 'node:crypto';
import { until } from '../until.ts';
import { type Api, type Pair, send } from './client.ts';

/** Reads a list page by page, while `goesOn` says so. */
async function readPets(api: Api, goesOn: (text: string) => boolean) {
  let target: string | undefined = '/pets';
  while (target) {
    const { headers, text } = await send(api, target);
    const [, next] = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '') ?? [];
    target = goesOn(text) ? next : undefined;
  }
}

/** Reads a pet with its tag, and changes its name. */
const readPet = (api: Api) => send(api, '/pets?id=1');
const rename = (api: Api, name: string, tag?: string | null) =>
  send(api, '/pets/1', {
    method: 'PATCH',
    body: { name },
    headers: { ...(tag && { 'If-Match': tag }) },
  });

/** Gets the second pet of a list, by its id as `read` takes it from the text. */
async function getListed(api: Api, read: (text: string) => string) {
  const { text } = await send(api, '/pets');
  await send(api, `/pets?id=${read(text)}`);
}

/** Reads two pages of pets that are for sale. `toNext`: the target of the second, from the link. */
async function readAvailable(api: Api, toNext: (link: string) => string) {
  const { headers } = await send(api, '/pets?status=available&limit=2');
  const link = /<[^>]*\/v1([^>]+)>/.exec(headers.get('Link') ?? '')?.[1] as string;
  await send(api, toNext(link));
}

/** Causes an event, and follows the events after a given one until the stream breaks. Returns the id of the last one. */
async function follow(api: Api, lastEventId: number): Promise<number> {
  await send(api, '/categories', {
    method: 'POST',
    body: { name: 'Dragons' },
    headers: { 'Idempotency-Key': randomUUID() },
  });
  const { body } = await fetch(`${api.url}/store/events/stream`, {
    headers: { 'X-API-Key': api.key, 'Last-Event-ID': String(lastEventId) },
  });
  let text = '';
  try {
    for await (const piece of body as ReadableStream<Uint8Array>) text += new TextDecoder().decode(piece);
  } catch {
    // The stream broke.
  }
  // The service notices the end a little later.
  const account = { headers: { 'X-API-Key': api.key } };
  await until(async () => {
    const answer = await fetch(new URL('/lab/account', api.url), account);
    return ((await answer.json()) as { openStreams: number }).openStreams === 0;
  });
  return Number([...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1]);
}

export const contents: Record<string, Pair> = {
  'streams.resumed': {
    faults: [{ fault: 'stream-cut', times: 2 }],
    careful: async (api) => follow(api, (await follow(api, 0)) - 1),
    careless: async (api) => follow(api, await follow(api, 0)),
    shows: ['2', '4'],
  },

  'pages.to-the-end': {
    faults: [{ fault: 'empty-page', operation: 'listPets' }, { fault: 'small-pages' }],
    careful: (api) => readPets(api, () => true),
    careless: (api) => readPets(api, (text) => JSON.parse(text).length > 0),
    shows: ['1'],
  },

  'pages.filters-kept': {
    faults: [],
    careful: (api) => readAvailable(api, (link) => link),
    careless: (api) => readAvailable(api, (link) => `/pets?cursor=${/cursor=([^&]+)/.exec(link)?.[1]}`),
    shows: ['1', '2'],
  },

  'ids.exact': {
    faults: [{ fault: 'large-ids' }],
    careful: (api) => getListed(api, (text) => /"id":\s*(\d+)/.exec(text)?.[1] as string),
    careless: (api) => getListed(api, (text) => String(JSON.parse(text)[1].id)),
    shows: ['2'],
  },

  'if-match.sent': {
    faults: [],
    careful: async (api) => rename(api, 'Smaug', (await readPet(api)).headers.get('ETag')),
    careless: async (api) => {
      await readPet(api);
      await rename(api, 'Smaug');
    },
    shows: ['2'],
  },

  'updates.not-lost': {
    faults: [{ fault: 'conflict', operation: 'updatePet' }],
    careful: async (api) => rename(api, 'Smaug', (await readPet(api)).headers.get('ETag')),
    careless: async (api) => {
      await readPet(api);
      await rename(api, 'Smaug');
    },
    shows: ['2'],
  },

  'conflict.read-again': {
    faults: [{ fault: 'conflict', operation: 'updatePet' }],
    careful: async (api) => {
      for (let attempt = 0; attempt < 3; attempt++) {
        const tag = (await readPet(api)).headers.get('ETag');
        if ((await rename(api, 'Smaug', tag)).status !== 412) return;
      }
    },
    // It treats the 412 as a bug, and removes the condition.
    careless: async (api) => {
      const { status } = await rename(api, 'Smaug', (await readPet(api)).headers.get('ETag'));
      if (status === 412) await rename(api, 'Smaug');
    },
    shows: ['2', '3'],
  },
};
