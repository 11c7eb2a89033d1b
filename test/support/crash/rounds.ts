import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseMs } from '../../../src/store/webhooks/lease-store.ts';
import { maxUnrecorded } from '../../../src/store/webhooks/retry-policy.ts';
import { clockAhead } from '../clock.ts';
import { ampleKey, type Service, startService } from '../service.ts';
import { temporaryStorage } from '../storage.ts';
import { clientCount, startWriting } from './client.ts';
import { randomFrom } from './random.ts';
import { startPolling, startStreaming } from './readers.ts';
import { startCrashReceiver } from './receiver.ts';
import { type CrashRound, noCounts, Store } from './store.ts';

const killAfterMs = { min: 100, max: 400 };
/** First attempts that are not on disk, and two retries. */
const mostRepeats = maxUnrecorded + 2;

/**
 * Kills the service under load again and again, on one data folder, and yields the result of each round. In a last round
 * it stops the service with a signal.
 */
export async function* crash(t: TestContext, rounds: number, seed: number): AsyncGenerator<CrashRound> {
  const folder = await temporaryStorage(t);
  const random = randomFrom(seed);
  let aheadMs = 0;
  let service = await start();
  const key = await ampleKey(folder);
  const store = new Store(folder, key);
  const receiver = await startCrashReceiver(t, service, key, random);
  const seeded = await store.begin(service);
  const poller = startPolling(key, seeded);
  const readers = [poller, startStreaming(key, seeded)];
  const clients = Array.from({ length: clientCount }, (_, i) => startWriting(i, store, random));
  let repeats = 0;
  for (let round = 1; round <= rounds; round++) {
    receiver.isCalm = round === rounds;
    // By the clock of the next start, the lease of the webhook has expired, and refused deliveries are due.
    aheadMs += leaseMs;
    const counts = await run('SIGKILL');
    repeats += counts.again;
    yield counts;
  }
  assert.ok(repeats <= mostRepeats * rounds, 'a kill repeats what was not on disk and no more');
  const [received, known] = [receiver.received(), poller.events.length];
  yield await run('SIGTERM');
  receiver.assertHasOnce(poller.events.slice(known), received);
  receiver.assertGenuine(poller.events);
  await service.stop('SIGKILL');

  function start(): Promise<Service> {
    return startService(t, folder, { LOG_LEVEL: 'warn', ...clockAhead(aheadMs).env });
  }

  /** Kills the service under load, starts it again, and compares its state with the responses it had sent. */
  async function run(signal: 'SIGKILL' | 'SIGTERM'): Promise<CrashRound> {
    store.counts = { ...noCounts };
    const load = Promise.all([
      ...clients.map((client) => client.writeUntilKilled(service)),
      ...readers.map((reader) => reader.readUntilKilled(service)),
    ]);
    await Promise.race([load, store.hasAnswered(service, clientCount)]);
    await Promise.race([load, sleep(killAfterMs.min + random(killAfterMs.max - killAfterMs.min))]);
    const ended = await service.stop(signal);
    if (signal === 'SIGTERM') assert.equal(ended.code, 0, service.output());
    await load;
    service = await start();
    await store.assertKept(clients);
    await store.assertReplays(service, clients, random);
    await store.assertDelivered(service, readers);
    await receiver.untilNear(poller.events.length);
    if (receiver.isCalm) {
      await receiver.untilSettled(service, poller.events.length);
      // The marker of the seeded store is older than the webhook.
      receiver.assertHas(poller.events.slice(1));
    }
    return Object.assign(store.counts, receiver.takeCounts());
  }
}
