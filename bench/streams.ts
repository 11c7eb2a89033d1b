/**
 * What open streams cost an instance: `npm run bench -- streams`. Memory before and after they open, other requests with and
 * without them in turn, and how long an event takes to reach all. With `--check` the run fails when a bar is missed.
 */
import { get as request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../src/access/keys/store.ts';
import { openSqlite } from '../src/db/sqlite.ts';
import { maxStreams } from '../src/foundation/settings/plans.ts';
import { createWorkspace } from '../src/store/workspaces/store.ts';
import { compare, holdAtMost, introduce, markdownTable, median, readOptions } from './support/comparison.ts';
import { get, type LoadRequest, send, write } from './support/load.ts';
import { type Server, type Servers, withServers } from './support/servers.ts';

const effort = readOptions({ streams: 1_000, events: 20, mebibytes: 50, reachMs: 500 });
const connections = 64;
/** A part of the rate without streams. */
const rateBar = 0.9;
/** By then memory has come to rest. */
const restMs = 3_000;

/** A workspace that nobody else uses, and as many keys to it as the streams need. */
async function prepareKeys(dataDir: string): Promise<string[]> {
  const db = await openSqlite(dataDir);
  const keys = await db.write(async (sql) => {
    const { id: workspaceId } = await createWorkspace(sql, 'watched', Date.now());
    const quota = { perMinute: 1_000_000, perDay: 1_000_000 };
    const created = [];
    for (let i = 0; i < effort.streams / maxStreams.enterprise; i++)
      created.push((await createKey(sql, { workspaceId, plan: 'enterprise', quota }, Date.now())).key);
    return created;
  });
  await db.close();
  return keys;
}

/** Open streams, and how many of them have had the event that is awaited. */
class Readers {
  #reached = 0;
  #allReached = () => {};

  /** Opens the streams, a hundred at once. */
  async open({ origin }: Server, keys: string[]): Promise<void> {
    for (const key of keys)
      await Promise.all(Array.from({ length: maxStreams.enterprise }, () => this.#open(origin, key)));
  }

  #open(origin: string, key: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      const failed = () => reject(new Error('A stream was refused, or ended.'));
      request(`${origin}/v1/store/events/stream`, { headers, agent: false }, (response) => {
        if (response.statusCode !== 200) failed();
        response.setEncoding('latin1').on('data', (chunk: string) => {
          if (chunk.startsWith('retry:')) resolve();
          if (!chunk.includes('\ndata: ')) return;
          this.#reached++;
          if (this.#reached === effort.streams) this.#allReached();
        });
        response.on('close', failed).on('error', failed);
      }).on('error', failed);
    });
  }

  /** Milliseconds from when a change is answered until the last stream has its event. */
  async timeToReachAll(
    { origin }: Server,
    { method, path, headers, body = '' }: LoadRequest,
  ): Promise<number> {
    this.#reached = 0;
    const allReached = new Promise<void>((resolve) => {
      this.#allReached = resolve;
    });
    await (await fetch(origin + path, { method, headers, body })).text();
    const startMs = performance.now();
    await allReached;
    return performance.now() - startMs;
  }
}

/** The memory of a service, in MiB. */
async function memoryOf({ origin }: Server) {
  await sleep(restMs);
  const text = await (await fetch(`${origin}/metrics`)).text();
  const mebibytes = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]) / 2 ** 20;
  return {
    resident: mebibytes('process_resident_memory_bytes'),
    heap: mebibytes('nodejs_heap_size_used_bytes'),
    external: mebibytes('nodejs_external_memory_bytes'),
  };
}

async function measure(servers: Servers): Promise<void> {
  const [without, withStreams] = [await servers.prepareData('without'), await servers.prepareData('with')];
  const keys = await prepareKeys(withStreams.dataDir);
  const quiet = await servers.startService(without.dataDir);
  const watched = await servers.startService(withStreams.dataDir);
  const load = ({ origin }: Server, request: LoadRequest) => ({
    origins: [origin],
    requests: [request],
    connections,
  });

  await send(load(watched, get('/v1/pets/1', withStreams.key)), effort.seconds);
  const before = await memoryOf(watched);
  const readers = new Readers();
  await readers.open(watched, keys);
  const after = await memoryOf(watched);
  console.log(`\n### Memory of ${effort.streams} streams\n`);
  const rows = (['resident', 'heap', 'external'] as const).map((name) => [
    name,
    ...[before[name], after[name], after[name] - before[name]].map((value) => value.toFixed(1)),
  ]);
  console.log(markdownTable([['MiB', 'Before', 'Open', 'More'], ...rows]));
  holdAtMost('MiB of all streams', after.resident - before.resident, effort.mebibytes, effort);

  const event = write('POST', '/v1/categories', keys[0] as string, { name: 'Dragons' });
  const times: number[] = [];
  for (let i = 0; i < effort.events; i++) times.push(await readers.timeToReachAll(watched, event));
  console.log(
    `\nAn event reached all after ${median(times).toFixed(1)} ms, at most ${Math.max(...times).toFixed(1)} ms.`,
  );
  holdAtMost('Milliseconds until an event has reached all', Math.max(...times), effort.reachMs, effort);

  for (const [title, requestOf] of [
    ['One pet by id', (key: string) => get('/v1/pets/1', key)],
    ['A new pet', (key: string) => write('POST', '/v1/pets', key, { name: 'Bella', categoryId: 1 })],
  ] as const) {
    await compare(
      title,
      [
        { name: 'Without streams', ...load(quiet, requestOf(without.key)) },
        {
          name: `With ${effort.streams} open streams`,
          ...load(watched, requestOf(withStreams.key)),
          bar: rateBar,
        },
      ],
      effort,
    );
  }
}

introduce(effort);
await withServers(measure);
