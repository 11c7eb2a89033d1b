import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../service.ts';
import { type Clock, clockOf, realStopwatch } from './clock.ts';
import type { Store } from './store.ts';

/** How long work in flight may take at a stop: moves of the clock, requests, and webhook deliveries. */
const stopWithinMs = 2_000;

/** A call came after the stop of its store. */
export class StoppedError extends Error {
  constructor() {
    super('This store was stopped.');
  }
}

/** Moves the clock of a running store, resets it and stops it. Moves and resets run one after another. */
export class Control {
  readonly clock: Clock;
  readonly #store: Store;
  readonly #service: Service;
  readonly #over = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  readonly #calls = new Set<Promise<unknown>>();
  #stopping: Promise<void> | undefined;

  constructor(store: Store, service: Service) {
    this.#store = store;
    this.#service = service;
    this.clock = clockOf(store.clock, service, (work) => this.#inTurn(work));
  }

  /** Throws StoppedError after a stop. */
  assertRunning(): void {
    if (this.#stopping) throw new StoppedError();
  }

  /** Returns the store to its start. */
  async reset(): Promise<void> {
    await this.#inTurn(() => this.#store.startOver(() => this.#service.startOver()));
  }

  /** Makes a call. A stop waits for it. Throws StoppedError after a stop. */
  async call<T>(work: () => Promise<T>): Promise<T> {
    this.assertRunning();
    const result = work();
    const ended = result.catch(() => {});
    this.#calls.add(ended);
    await ended;
    this.#calls.delete(ended);
    return result;
  }

  /** Stops the service after all earlier work. Work that takes longer than two seconds fails. Can be called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const endMs = realStopwatch() + stopWithinMs;
    const waiting = new AbortController();
    await Promise.race([
      Promise.all([this.#last, ...this.#calls]),
      sleep(stopWithinMs, undefined, { signal: waiting.signal }),
    ]);
    waiting.abort();
    this.#over.abort(new StoppedError());
    await this.#service.stop(Math.max(0, endMs - realStopwatch()));
  }

  /** Runs work after all earlier work, even if that failed. */
  async #inTurn<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.assertRunning();
    const { signal } = this.#over;
    const done = this.#last.then(() => {
      signal.throwIfAborted();
      return work(signal);
    });
    this.#last = done.catch(() => {});
    return done;
  }
}
