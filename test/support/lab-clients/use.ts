import { request } from 'node:http';
import { type Api, type Pair, send } from './client.ts';

/** Sends a request on a connection of its own. */
const sendApart = ({ url, key }: Api, target: string) =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}` };
    request(url + target, { agent: false, headers }, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end();
  });

const dog = { name: 'Rex', categoryId: 1 };
const webhook = { url: 'http://127.0.0.1:9/events' };

/** One request to each operation, as `METHOD path body`. `{id}` is the id of what was created last. */
const tour: [string, string, object?][] = [
  ['GET', '/categories'],
  ['POST', '/categories', { name: 'Dragons' }],
  ['GET', '/categories/{id}'],
  ['PUT', '/categories/{id}', { name: 'Wyverns' }],
  ['DELETE', '/categories/{id}'],
  ['GET', '/pets'],
  ['POST', '/pets', dog],
  ['GET', '/pets/{id}'],
  ['PUT', '/pets/{id}', dog],
  ['PATCH', '/pets/{id}', { name: 'Max' }],
  ['GET', '/inventory'],
  ['GET', '/inventory/{id}'],
  ['PATCH', '/inventory/{id}', { quantity: 3 }],
  ['DELETE', '/pets/{id}'],
  ['GET', '/store/orders'],
  ['POST', '/store/orders', { quantity: 1 }],
  ['GET', '/store/orders/{id}'],
  ['PATCH', '/store/orders/{id}', { quantity: 2 }],
  ['DELETE', '/store/orders/{id}'],
  ['GET', '/store/events'],
  ['GET', '/store/events/1'],
  ['GET', '/store/webhooks'],
  ['POST', '/store/webhooks', webhook],
  ['GET', '/store/webhooks/{id}'],
  ['PATCH', '/store/webhooks/{id}', { description: 'Nobody listens there.' }],
  ['POST', '/store/webhooks/{id}/rotate-secret'],
  ['POST', '/store/webhooks/{id}/ping'],
  ['GET', '/store/webhooks/{id}/deliveries'],
  ['POST', '/store/webhooks/{id}/deliveries/{delivery}/redeliver'],
  ['DELETE', '/store/webhooks/{id}'],
];

async function readStream({ url, key }: Api) {
  const stream = await fetch(`${url}/store/events/stream`, { headers: { Authorization: `Bearer ${key}` } });
  await stream.body?.cancel();
}

async function takeTour(api: Api) {
  // Its end is noticed while the others come.
  await readStream(api);
  const known: Record<string, string> = {};
  for (const [method, path, body] of tour) {
    const target = path.replace(/{(\w+)}/g, (_, name) => known[name] as string);
    const { status, text } = await send(api, target, { method, body });
    const id = text && String(JSON.parse(text).id);
    if (status === 201) known.id = id;
    if (status === 202) known.delivery = id;
  }
}

export const use: Record<string, Pair> = {
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
