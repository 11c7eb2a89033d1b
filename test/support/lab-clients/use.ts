import { request } from 'node:http';
import type { TSchema } from 'typebox';
import { operations } from '../../../src/api/operations.ts';
import type { Operation } from '../../../src/http/operation.ts';
import { exampleOf } from '../../../src/reference/description/schemas.ts';
import { type Api, type Pair, send } from './client.ts';

/** Sends a request on a new connection. */
const sendApart = ({ url, key }: Api, target: string) =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}` };
    request(url + target, { agent: false, headers }, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end();
  });

/** Follows a redirect of a GET to another origin, with or without its key. */
async function followAway({ url, key }: Api, isWithKey: boolean) {
  const answer = await fetch(`${url}/pets`, {
    headers: { Authorization: `Bearer ${key}` },
    redirect: 'manual',
  });
  const location = answer.headers.get('Location') as string;
  const headers = isWithKey ? { 'X-API-Key': key } : {};
  await new Promise((resolve, reject) => {
    request(location, { agent: false, family: 4, headers }, (response) =>
      response.resume().on('end', resolve),
    )
      .on('error', reject)
      .end();
  });
}

/** POSTs come first, since other requests need their resources. Removals come last. */
const placeOf = ({ method, params }: Operation) =>
  method === 'DELETE' ? 2 : method === 'POST' && Object.keys(params).length === 0 ? 0 : 1;

/** One request to each operation except the stream, as its example in the description. */
const tour = operations
  .filter(({ success }) => success.kind !== 'stream')
  .toSorted((a, b) => placeOf(a) - placeOf(b))
  .map(({ method, path, params, sampleParams, body }) => ({
    method,
    target: path.replace(/{(\w+)}/g, (_, name) =>
      String(sampleParams?.[name] ?? exampleOf(params[name] as TSchema)),
    ),
    ...(body && { body: exampleOf(body, true) as object }),
  }));

async function readStream({ url, key }: Api) {
  const stream = await fetch(`${url}/store/events/stream`, { headers: { Authorization: `Bearer ${key}` } });
  await stream.body?.cancel();
}

async function takeTour(api: Api) {
  // The service notices its end during the other requests.
  await readStream(api);
  for (const { target, ...request } of tour) await send(api, target, request);
}

export const use: Record<string, Pair> = {
  'credentials.not-forwarded': {
    faults: [{ fault: 'moved-away', operation: 'listPets' }],
    careful: (api) => followAway(api, false),
    careless: (api) => followAway(api, true),
    shows: ['2'],
  },

  'deprecated.not-called': {
    faults: [],
    careful: (api) => send(api, '/pets?id=1'),
    careless: (api) => send(api, '/pets/1'),
    shows: ['1'],
  },

  'sunset.successor-used': {
    faults: [{ fault: 'sunset' }],
    careful: async (api) => {
      if ((await send(api, '/pets/1')).status === 410) await send(api, '/pets?id=1');
    },
    careless: async (api) => {
      if ((await send(api, '/pets/1')).status === 410) await send(api, '/pets/1');
    },
    shows: ['1', '2'],
  },

  'connections.reused': {
    faults: [],
    careful: async (api) => {
      for (let id = 1; id <= 6; id++) await send(api, `/pets?id=${id}`);
    },
    careless: async (api) => {
      for (let id = 1; id <= 6; id++) await sendApart(api, `/pets?id=${id}`);
    },
    shows: ['2', '3', '4', '5', '6'],
  },

  'operations.covered': {
    faults: [],
    careful: takeTour,
    careless: (api) => send(api, '/pets'),
    // A client that needs less is not wrong.
    result: 'not_observed',
    shows: [],
  },
};
