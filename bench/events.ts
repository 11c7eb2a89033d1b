/**
 * What the history costs: writes with it and without it, side by side, and how fast one reader reads it:
 * `npm run bench -- events`. `--check` fails the run when a bar is missed.
 */
import { compare, holdAtLeast, introduce, rateOf, readOptions, type Target } from './support/comparison.ts';
import { get, type LoadRequest, write } from './support/load.ts';
import { type Servers, withServers } from './support/servers.ts';

const effort = readOptions();
const connections = 64;
/** Of the rate of a new pet without a history. */
const bar = 0.85;
const eventsPerPage = 100;
const leastReadPerSecond = 10_000;

/** How many events each makes stands in its name. In turn, requests change back what the one before changed. */
const loads: { title: string; bar?: number; requests: (key: string) => LoadRequest[] }[] = [
  {
    title: 'A new pet: one event',
    bar,
    requests: (key) => [write('POST', '/v1/pets', key, { name: 'Bella', categoryId: 1 })],
  },
  {
    title: 'A change of a status: two events',
    requests: (key) =>
      ['pending', 'available'].map((status) => write('PATCH', '/v1/pets/1', key, { status })),
  },
  {
    title: 'An order for a unit: two events',
    requests: (key) => [write('POST', '/v1/store/orders', key, { petId: 2 })],
  },
  {
    title: 'A change that changes nothing: no event',
    requests: (key) => [write('PATCH', '/v1/pets/3', key, {})],
  },
];

async function compareAll(servers: Servers): Promise<void> {
  const stores = [];
  for (const kind of ['unrecorded', 'recorded']) {
    const { key, dataDir } = await servers.prepareData(kind);
    const { origin } = await servers.startKind(kind, dataDir);
    const { method, path, headers, body } = write('PATCH', '/v1/inventory/2', key, { quantity: 2 ** 31 - 1 });
    await fetch(origin + path, { method, headers, body: body as string });
    stores.push({ kind, key, origin });
  }
  for (const { title, bar, requests } of loads) {
    const targets = stores.map(({ kind, key, origin }): Target => {
      const isRecorded = kind === 'recorded';
      const load = { origins: [origin], requests: requests(key), connections };
      return { name: isRecorded ? 'with events' : 'without', ...load, ...(isRecorded && bar && { bar }) };
    });
    await compare(title, targets, effort);
  }
  const { key, origin } = stores[1] as { key: string; origin: string };
  const requests = [get(`/v1/store/events?limit=${eventsPerPage}`, key)];
  const [reader] = await compare(
    'One reader of the history',
    [{ name: 'a page', origins: [origin], requests, connections: 1 }],
    effort,
  );
  if (reader) holdAtLeast('events read a second', rateOf(reader) * eventsPerPage, leastReadPerSecond, effort);
}

introduce(effort);
await withServers(compareAll);
