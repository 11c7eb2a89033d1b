/**
 * What growth costs: the same requests on a workspace of 1,000 pets and on one of 10,000,000, measured in turn:
 * `npm run bench -- growth`. `--pets N` takes another size, `--check` fails the run when a bar is missed.
 */
import { spawnSync } from 'node:child_process';
import { writeCursor } from '../src/http/pagination.ts';
import {
  compare,
  holdAtLeast,
  holdAtMost,
  introduce,
  type Measured,
  markdownTable,
  p99Of,
  rateOf,
  ratioOf,
  readOptions,
  whole,
} from './support/comparison.ts';
import { get, type LoadRequest, write } from './support/load.ts';
import { residentBytes, type Server, type Servers, withServers, workspace } from './support/servers.ts';

const effort = readOptions({ pets: 10_000_000, rounds: 9, seconds: 1 });
const fewPets = 1_000;
const manyPets = effort.pets;
const connections = 16;

/** A cost of 1.3 times is this share of the rate. */
const bar = 1 / 1.3;
const leastSeededPerSecond = 50_000;
const mostGrownMiB = 50;
const mostStartSeconds = 1;

interface Store extends Server {
  key: string;
  pets: number;
}

async function compareAll(servers: Servers): Promise<void> {
  const few = await startStore(servers, 'few', fewPets);
  const many = await startStore(servers, 'many', manyPets);
  const atStart = (residentBytes(many) - residentBytes(few)) / 2 ** 20;

  const comparisons: [string, Measured[]][] = [];
  for (const [title, request] of [
    ['One pet by id', (pets: number) => `/v1/pets/${Math.ceil(pets / 2)}`],
    ['The first page', () => '/v1/pets?limit=20'],
    ['A page from the middle', (pets: number) => `/v1/pets?limit=20&cursor=${middleOf(pets)}`],
    [
      'A page of a status from the middle',
      (pets: number) => `/v1/pets?status=available&limit=20&cursor=${middleOf(pets)}`,
    ],
    ['The first page of a status', () => '/v1/pets?status=available&limit=20'],
    ['The first page of a category', () => '/v1/pets?categoryId=3&limit=20'],
    // The few have no 20 of these.
    ['The first page of a status in a category', () => '/v1/pets?categoryId=3&status=sold&limit=10'],
    ['Three pets by their ids', (pets: number) => `/v1/pets?id=1&id=${Math.ceil(pets / 2)}&id=${pets}`],
    ['The first page of the inventory, by status', () => '/v1/inventory?status=pending&limit=20'],
  ] as const) {
    comparisons.push([
      title,
      await compareStores(title, few, many, ({ pets, key }) => get(request(pets), key)),
    ]);
  }
  const createPet = ({ key }: Store) => write('POST', '/v1/pets', key, { name: 'Bella', categoryId: 1 });
  comparisons.push(['A new pet', await compareStores('A new pet', few, many, createPet)]);
  console.log(`\n### All of it\n\n${summaryOf(comparisons)}`);

  const grown = Math.max(atStart, (residentBytes(many) - residentBytes(few)) / 2 ** 20);
  holdAtMost('MiB of resident memory more', grown, mostGrownMiB, effort);
}

async function compareStores(
  title: string,
  few: Store,
  many: Store,
  requestOf: (store: Store) => LoadRequest,
): Promise<Measured[]> {
  const load = (store: Store) => ({
    name: nameOf(store.pets),
    origins: [store.origin],
    requests: [requestOf(store)],
    connections,
  });
  return compare(title, [load(few), { ...load(many), bar }], effort);
}

const nameOf = (pets: number) => `${whole(pets)} pets`;

/** Requests a second, their ratio, and the p99 in milliseconds of both stores, a line for each comparison. */
function summaryOf(comparisons: [string, Measured[]][]): string {
  const rows = comparisons.map(([title, measured]) => {
    const [few, many] = measured as [Measured, Measured];
    const ratio = ratioOf(many, few, 'perSecond');
    const figures = [whole(rateOf(few)), whole(rateOf(many)), ratio.toFixed(2)];
    return [title, ...figures, p99Of(few).toFixed(2), p99Of(many).toFixed(2)];
  });
  return markdownTable([
    ['', nameOf(fewPets), nameOf(manyPets), 'Ratio', 'p99 ms, few', 'p99 ms, many'],
    ...rows,
  ]);
}

/** A workspace with so many pets, seeded by the command that everybody uses, and the service on it. */
async function startStore(servers: Servers, name: string, pets: number): Promise<Store> {
  const { key, dataDir } = await servers.prepareData(name);
  const seededAtMs = performance.now();
  const { status } = spawnSync(
    process.execPath,
    ['bin/petstore.js', 'seed', '--workspace', workspace, '--pets', String(pets)],
    {
      cwd: new URL('..', import.meta.url),
      env: { ...process.env, PETSTORE_DATA_DIR: dataDir },
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new Error('Seeding failed.');
  const perSecond = (pets * 1000) / (performance.now() - seededAtMs);
  if (pets === manyPets) holdAtLeast('Pets seeded a second', perSecond, leastSeededPerSecond, effort);
  const startedAtMs = performance.now();
  const server = await servers.startService(dataDir);
  const startSeconds = (performance.now() - startedAtMs) / 1000;
  if (pets === manyPets) holdAtMost('Seconds from start to ready', startSeconds, mostStartSeconds, effort);
  return { ...server, key, pets };
}

/** The cursor half way through all pets. */
const middleOf = (pets: number) => writeCursor('listPets', Math.ceil(pets / 2));

introduce(effort);
await withServers(compareAll);
