import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../service.ts';
import { type Clock, clockOf, realStopwatch } from './clock.ts';
import type { Store } from './store.ts';

/** How long what is under way may take when it stops: time that is moved, requests, and calls of webhooks. */
const stopWithinMs = 2_000;

/** The store was stopped before. */
export class StoppedError extends Error {
  constructor() {
    super('This store was stopped.');
  }
}

/** What is done to a store that is served, one thing after the other. */
export class Control {
  readonly clock: Clock;
  readonly #store: Store;
  readonly #service: Service;
  readonly #over = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(store: Store, service: Service) {
    this.#store = store;
    this.#service = service;
    this.clock = clockOf(store.clock, service, (work) => this.#inTurn(work));
  }

  /** Throws StoppedError from a stop on. */
  assertRunning(): void {
    if (this.#stopping) throw new StoppedError();
  }

  /** Takes the store back to its start. */
  async reset(): Promise<void> {
    await this.#inTurn(() => this.#store.startOver(() => this.#service.startOver()));
  }

  /** Ends the service once all is done that was asked for before. What is not done in time fails. May be called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const endMs = realStopwatch() + stopWithinMs;
    const waiting = new AbortController();
    await Promise.race([this.#last, sleep(stopWithinMs, undefined, { signal: waiting.signal })]);
    waiting.abort();
    this.#over.abort(new StoppedError());
    await this.#service.stop(Math.max(0, endMs - realStopwatch()));
  }

  /** Lets one piece of work follow the other, also one that fails. */
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
