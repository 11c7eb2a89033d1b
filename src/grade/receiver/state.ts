import { setTimeout as sleep } from 'node:timers/promises';

const readEveryMs = 100;

/** How long to watch the state of a receiver, in milliseconds. */
export interface WatchTimes {
  /** The shortest time in which an unwanted change would show. Default: 400. */
  quietMs: number;
  /** The longest time until a change shows. A receiver may respond first and work afterwards. Default: 10,000. */
  changeMs: number;
}

/** The state of a receiver, as a command prints it, and how long events take to show in it. */
export class ReceiverState {
  readonly times: WatchTimes;
  readonly #signal: AbortSignal;
  readonly #run: () => Promise<string>;
  /** The last output. To be deleted before a message is sent. */
  last: string | undefined;
  /** The longest time from a response until the state showed the event. */
  #slowestMs = 0;

  constructor(read: () => Promise<string>, signal: AbortSignal, times?: WatchTimes) {
    this.#run = read;
    this.#signal = signal;
    this.times = { quietMs: 400, changeMs: 10_000, ...times };
  }

  read = async (): Promise<string> => {
    this.last = await this.#run();
    return this.last;
  };

  /** The state before the next message. Commands may be slow, so it is not read twice. */
  current = async (): Promise<string> => this.last ?? this.read();

  /** Waits for a change of the state after a response, and returns the state. */
  async whenChanged(before: string): Promise<string> {
    const startMs = performance.now();
    for (;;) {
      const passedMs = performance.now() - startMs;
      const state = await this.read();
      if (state !== before) this.#slowestMs = Math.max(this.#slowestMs, passedMs);
      if (state !== before || passedMs > this.times.changeMs) return state;
      await this.#sleep(readEveryMs);
    }
  }

  /** Waits three times as long as the slowest change took so far. */
  pause = () => this.#sleep(Math.max(this.times.quietMs, 3 * this.#slowestMs));

  /** The state after a pause. An unwanted change would show in it. */
  async afterPause(): Promise<string> {
    await this.pause();
    return this.read();
  }

  /** Waits until the changes of earlier events have ended, and returns the state. */
  settled = (): Promise<string> => this.steady(Math.max(this.times.quietMs, 1.5 * this.#slowestMs));

  /** Reads until the state stays the same during a pause. Throws if it still changes after `withinMs`. */
  async steady(pauseMs: number, withinMs = this.times.changeMs): Promise<string> {
    const untilMs = performance.now() + withinMs;
    let last = await this.current();
    for (;;) {
      await this.#sleep(pauseMs);
      const next = await this.read();
      if (next === last) return next;
      if (performance.now() > untilMs)
        throw new Error(
          'The output of --state changes by itself: two runs without an event in between differ. Leave out times and counts of requests.',
        );
      last = next;
    }
  }

  #sleep = (ms: number) => sleep(ms, undefined, { signal: this.#signal });
}
