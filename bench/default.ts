/**
 * The whole request path beside a bare server and beside other servers, in one run: `npm run bench`. Servers are pinned to
 * one core and the load to another where the machine allows it. With `--check` the run fails when a bar is missed. With
 * `--against FOLDER` the version in another folder takes turns with this one.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  compare,
  holdAtLeast,
  holdAtMost,
  introduce,
  type Measured,
  median,
  rateOf,
  ratioOf,
  readOptions,
} from './support/comparison.ts';
import { get, type LoadRequest, write } from './support/load.ts';
import { residentBytes, type Server, type Servers, withServers } from './support/servers.ts';

const effort = readOptions();
const connections = 64;
/** Times the bare server's p99. */
const p99Bar = 2;
/** Times as fast as one transaction each. */
const gainBar = 8;
const loadedMbBar = 185;

const load = ({ origin }: Server, ...requests: LoadRequest[]) => ({
  origins: [origin],
  requests,
  connections,
});

const createBella = (key: string) => write('POST', '/v1/pets', key, { name: 'Bella', categoryId: 1 });

const commitCount = 500;

/** Milliseconds of durable transactions of one row in `folder`, with nothing around them: what its disk asks for a commit. */
function timeCommits(folder: string): number[] {
  const db = new DatabaseSync(join(folder, 'commits.db'));
  db.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table if not exists rows (text text)',
  );
  const insert = db.prepare('insert into rows values (?)');
  const times = Array.from({ length: commitCount }, () => {
    const startMs = performance.now();
    insert.run('Bella');
    return performance.now() - startMs;
  });
  db.close();
  return times;
}

async function compareAll(servers: Servers): Promise<void> {
  const { key, dataDir } = await servers.prepareData('as-it-comes');
  const other = {
    quiet: await servers.prepareData('quiet'),
    toPipe: await servers.prepareData('to-pipe'),
    ungrouped: await servers.prepareData('ungrouped'),
  };
  const service = await servers.startLogging(dataDir, 'file');
  const quiet = await servers.startService(other.quiet.dataDir);
  const toPipe = await servers.startLogging(other.toPipe.dataDir, 'pipe');
  const ungrouped = await servers.startKind('ungrouped', other.ungrouped.dataDir);

  const getPet = get('/v1/pets/1', key);
  const peers = await servers.startPeers();
  await compare(
    'One pet by id',
    [
      {
        name: 'node:http, same bytes and headers',
        ...load(await servers.startBare(service, getPet), getPet),
      },
      {
        name: 'Petstore as it comes: key, limits, SQLite, a log line in a file',
        ...load(service, getPet),
        bar: 0.67,
        p99Bar,
      },
      {
        name: 'Petstore, its log read through a pipe',
        ...load(toPipe, get('/v1/pets/1', other.toPipe.key)),
      },
      {
        name: 'Petstore, logging only warnings',
        ...load(quiet, get('/v1/pets/1', other.quiet.key)),
      },
      {
        name: 'Fastify and node:sqlite, without keys and limits',
        ...load(await servers.startKind('plain', `${dataDir}/petstore.db`), getPet),
      },
      ...peers.map(({ name, ...server }) => ({ name, ...load(server, get('/pets/1', key)) })),
    ],
    effort,
  );

  const listPets = get('/v1/pets?limit=20', key);
  await compare(
    'A page of 20 pets',
    [
      {
        name: 'node:http, same bytes and headers',
        ...load(await servers.startBare(service, listPets), listPets),
      },
      { name: 'Petstore', ...load(service, listPets), bar: 0.46, p99Bar },
    ],
    effort,
  );

  const createPet = createBella(key);
  const createUngrouped = createBella(other.ungrouped.key);
  const commits = timeCommits(servers.folder);
  const created = await compare(
    'A new pet, on disk before the answer',
    [
      {
        name: 'node:http, same bytes and headers',
        ...load(await servers.startBare(service, createPet), createPet),
      },
      { name: 'Petstore, 64 connections', ...load(service, createPet), bar: 0.4, p99Bar },
      { name: 'Petstore, 1 connection', ...load(service, createPet), connections: 1 },
      { name: 'One transaction each, 64 connections', ...load(ungrouped, createUngrouped) },
      { name: 'One transaction each, 1 connection', ...load(ungrouped, createUngrouped), connections: 1 },
    ],
    effort,
  );
  commits.push(...timeCommits(servers.folder));
  holdGain(created, median(commits));
  if (process.platform === 'linux')
    holdAtMost('MB of resident memory after these loads', residentBytes(service) / 1e6, loadedMbBar, effort);

  const reads = (key: string) => [
    ...Array(4).fill(get('/v1/pets/1', key)),
    ...Array(3).fill(get('/v1/pets?limit=20', key)),
    ...Array(2).fill(get('/v1/inventory/1', key)),
  ];
  await compare(
    'Nine reads to a write',
    [
      { name: 'Petstore', ...load(service, ...reads(key), createPet) },
      { name: 'One transaction each', ...load(ungrouped, ...reads(other.ungrouped.key), createUngrouped) },
    ],
    effort,
  );
}

/**
 * Holds what grouping gains, and tells how much it could: if a write cost a bare answer and its share of a commit that all
 * connections wait for. How much that is depends on the disk.
 */
function holdGain([bare, grouped, , single]: Measured[], commitMs: number): void {
  const bareMs = 1000 / rateOf(bare as Measured);
  const mostGain = (bareMs + commitMs) / (bareMs + commitMs / connections);
  console.log(`\nA commit takes ${commitMs.toFixed(2)} ms; grouping can gain ${mostGain.toFixed(1)} times.`);
  const gain = ratioOf(grouped as Measured, single as Measured, 'perSecond');
  holdAtLeast('Grouped writes against one transaction each', gain, gainBar, effort);
}

/** Measures another version and this one in turn, each with its log in a file. */
async function compareVersions(servers: Servers, against: string): Promise<void> {
  const before = await startVersion(servers, 'before', against);
  const now = await startVersion(servers, 'now');
  const scenarios: [string, (key: string) => LoadRequest][] = [
    ['One pet by id', (key) => get('/v1/pets/1', key)],
    ['A page of 20 pets', (key) => get('/v1/pets?limit=20', key)],
    ['A new pet, on disk before the answer', createBella],
  ];
  for (const [title, requestOf] of scenarios) {
    const targets = [before, now].map(({ name, server, key }) => ({ name, ...load(server, requestOf(key)) }));
    await compare(title, targets, effort);
  }
}

async function startVersion(servers: Servers, name: string, project?: string) {
  const { key, dataDir } = project ? servers.prepareDataBy(project, name) : await servers.prepareData(name);
  return { name, key, server: await servers.startLogging(dataDir, 'file', project) };
}

const { against } = effort;
introduce(effort);
await withServers((servers) => (against ? compareVersions(servers, against) : compareAll(servers)));
