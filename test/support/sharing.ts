import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { restart } from './limits.ts';
import { type JsonAnswer, type Petstore, type StoreSetup, startPetstore } from './petstore.ts';
import { until } from './until.ts';

/** The clock of all instances and of the server, if a test sets it. */
export const clock = () => Date.parse('2026-06-01T12:00:00Z');

/** Instances with one storage that share limits. The first reports the shared values. */
export async function startInstances(
  t: TestContext,
  count: number,
  valkey: StoreSetup['valkey'],
): Promise<[Petstore, ...Petstore[]]> {
  const options = valkey && { valkey };
  const first = await startPetstore(t, options);
  const instances: [Petstore, ...Petstore[]] = [first];
  for (let i = 1; i < count; i++) {
    const instance = await restart(t, first, { beside: true, ...options });
    await instance.ready;
    instances.push(instance);
  }
  return instances;
}

/** Values of `petstore_…` metrics. */
export async function metrics(store: Petstore) {
  const text = await store.metrics();
  const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  return {
    shared: value('petstore_limits_shared'),
    fallbacks: value('petstore_limits_fallbacks_total'),
    roundTrips: value('petstore_valkey_round_trips_total'),
  };
}

export const isShared = (store: Petstore) => store.limiter.sharing?.isShared === true;

export const logged = (store: Petstore, text: string) =>
  store.log.filter((line) => line.includes(text)).length;

/** The log messages when an instance starts to limit on its own, and when it shares again. */
export const alone = 'counts limits alone';
export const shared = 'limits are shared';

/** Requests of one key at all instances, one after the other at each, until they are stopped. */
export class Traffic {
  readonly answers: JsonAnswer[] = [];
  longestMs = 0;
  #isOver = false;
  readonly #ended: Promise<unknown>;

  constructor(stores: readonly Petstore[], key: string) {
    this.#ended = Promise.all(stores.map((store) => this.#load(store, key)));
  }

  async #load(store: Petstore, key: string): Promise<void> {
    while (!this.#isOver) {
      const startedMs = performance.now();
      this.answers.push(await store.call('GET', '/pets/1', { key }));
      this.longestMs = Math.max(this.longestMs, performance.now() - startedMs);
      await sleep(5);
    }
  }

  /** Waits for further answers. */
  async more(count: number): Promise<void> {
    const enough = this.answers.length + count;
    await until(() => this.answers.length >= enough);
  }

  stop(): Promise<unknown> {
    this.#isOver = true;
    return this.#ended;
  }
}
