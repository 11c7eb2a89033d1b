import { setTimeout as sleep } from 'node:timers/promises';
import { outputOf } from '../run/command.ts';

const readEveryMs = 100;
/** A receiver may respond first and work afterwards. */
const changeWithinMs = 3_000;
const defaultQuietMs = 400;

/** Reads the state of a receiver from the output of a command. */
export class ReceiverState {
  readonly #command: string;
  readonly #signal: AbortSignal;
  readonly #quietMs: number;

  /** `quietMs`: how long to watch for a change that should not happen. Default: 400. */
  constructor(command: string, signal: AbortSignal, quietMs = defaultQuietMs) {
    this.#command = command;
    this.#signal = signal;
    this.#quietMs = quietMs;
  }

  read = (): Promise<string> => outputOf(this.#command, { signal: this.#signal });

  /** Waits for a change of the state, for 3 s at most, and returns the state. */
  async whenChanged(before: string): Promise<string> {
    const untilMs = performance.now() + changeWithinMs;
    let state = await this.read();
    while (state === before && performance.now() < untilMs) {
      await sleep(readEveryMs, undefined, { signal: this.#signal });
      state = await this.read();
    }
    return this.#settled(state);
  }

  /** The state after `quietMs`, in which an unwanted change would show. */
  async afterPause(): Promise<string> {
    await sleep(this.#quietMs, undefined, { signal: this.#signal });
    return this.read();
  }

  /** Reads until two states in a row are equal. */
  async #settled(state: string): Promise<string> {
    const untilMs = performance.now() + changeWithinMs;
    let [last, next] = [state, await this.afterPause()];
    while (next !== last && performance.now() < untilMs) [last, next] = [next, await this.afterPause()];
    return next;
  }
}
