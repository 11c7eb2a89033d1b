import type { Clock } from './options.ts';

/** The longest time of a timer. */
const longestTimerMs = 2 ** 31 - 1;
/** No limit of the API asks for a longer wait; what does is taken for this, since any number of digits may come. */
export const longestWaitMs = 86_400_000;
const secondMs = 1_000;

/** The clock of the platform. */
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

/** A signal that is aborted with another one, or when a time is up. It leaves neither timer nor listener behind once it has ended. */
export class Limit {
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

  /** Aborts after a time, from now on, with a reason that is made then. In place of the time before. */
  arm(ms: number, reason: () => unknown): void {
    this.disarm();
    this.#timer = setTimeout(() => this.end(reason()), Math.min(ms, longestTimerMs));
  }

  disarm(): void {
    clearTimeout(this.#timer);
  }

  /** Rejects with the reason once it is aborted. */
  ended(): Promise<never> {
    return new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
    });
  }

  /** Ends what still goes on under it. */
  end(reason?: unknown): void {
    this.disarm();
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#controller.abort(reason);
  }
}

/**
 * How long `Retry-After` asks to wait, in milliseconds: seconds, or a date (RFC 9110, section 10.2.3), which is compared with the clock of
 * the service where its `Date` can be seen. A day at most; undefined without it.
 */
export function toldMs(headers: Headers, nowMs: number): number | undefined {
  const field = headers.get('retry-after');
  if (field === null) return undefined;
  const sentMs = Date.parse(headers.get('date') ?? '');
  const ms = /^\d+$/.test(field)
    ? Number(field) * secondMs
    : Date.parse(field) - (Number.isNaN(sentMs) ? nowMs : sentMs);
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestWaitMs);
}

const firstDelayMs = 400;
const longestDelayMs = 20_000;

/**
 * How long to wait after a failure, in milliseconds: up to twice as long each time, and at least half of that. So many clients do not
 * come back at once, and yet a wait is never shorter than the one before.
 */
export function backoffMs(failures: number, random: number): number {
  const longestMs = Math.min(firstDelayMs * 2 ** (failures - 1), longestDelayMs);
  return Math.ceil(longestMs / 2 + (random * longestMs) / 2);
}
