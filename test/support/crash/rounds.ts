import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ampleKey, startService } from '../service.ts';
import { temporaryStorage } from '../storage.ts';
import { Client, clientCount } from './client.ts';
import { randomFrom } from './random.ts';
import { Poller, type Reader, StreamReader } from './readers.ts';
import { type CrashRound, Store } from './store.ts';

const killAfterMs = { min: 100, max: 400 };

/** Kills the service under load again and again, on one data folder, and yields what came of each round. */
export async function* crash(t: TestContext, rounds: number, seed: number): AsyncGenerator<CrashRound> {
  const folder = await temporaryStorage(t);
  const random = randomFrom(seed);
  let service = await startService(t, folder, { LOG_LEVEL: 'warn' });
  const key = ampleKey(folder);
  const store = new Store(folder, key);
  const seeded = await store.begin(service);
  const readers: Reader[] = [new Poller(key, seeded), new StreamReader(key, seeded)];
  const clients = Array.from({ length: clientCount }, (_, i) => new Client(i, store, random));
  for (let round = 0; round < rounds; round++) {
    store.counts = { answered: 0, refused: 0, unanswered: 0, kept: 0, replayed: 0, events: 0 };
    const load = Promise.all([
      ...clients.map((client) => client.writeUntilKilled(service)),
      ...readers.map((reader) => reader.readUntilKilled(service)),
    ]);
    await Promise.race([load, store.hasAnswered(service, clientCount)]);
    await Promise.race([load, sleep(killAfterMs.min + random(killAfterMs.max - killAfterMs.min))]);
    await service.stop('SIGKILL');
    await load;
    service = await startService(t, folder, { LOG_LEVEL: 'warn' });
    await store.assertKept(clients);
    await store.assertReplays(service, clients, random);
    await store.assertTold(service, readers);
    yield store.counts;
  }
  await service.stop('SIGKILL');
}
