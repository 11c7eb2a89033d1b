/** The source of time and chance. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`. Rejects with the reason of the signal if it is aborted before. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** At least 0 and less than 1. */
  random(): number;
}

/** The longest time of a timer. */
const longestTimerMs = 2 ** 31 - 1;

export const platformClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const abort = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(
        () => {
          signal.removeEventListener('abort', abort);
          resolve();
        },
        Math.min(ms, longestTimerMs),
      );
      signal.addEventListener('abort', abort, { once: true });
    }),
};

/** 128 random bits in hexadecimal. `crypto.randomUUID` is missing on pages without TLS. */
export const randomId = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** A signal that is aborted with another one, or when a time is up. After `end` it leaves no timer and no listener behind. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #abort = () => this.end(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted) this.#abort();
    else outer?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts `ms` from now. `reason` is called then. An earlier time no longer counts. */
  arm(ms: number, reason: () => unknown): void {
    this.disarm();
    this.#timer = setTimeout(() => this.end(reason()), Math.min(ms, longestTimerMs));
  }

  disarm(): void {
    clearTimeout(this.#timer);
  }

  /** Rejects with the reason once the signal is aborted. */
  aborted(): Promise<never> {
    return new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
    });
  }

  /** Aborts the signal, and with it everything that still uses it. */
  end(reason?: unknown): void {
    this.disarm();
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#controller.abort(reason);
  }
}
