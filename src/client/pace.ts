import { PetstoreError } from './error.ts';
import type { Clock } from './options.ts';
import { Limit, longestWaitMs } from './time.ts';

/**
 * How many requests may be under way while it is not known how many the service admits. A key is banned after more than ten refusals in a
 * minute at least, so this many never lead to a ban.
 */
const unknownLeft = 10;

const limited = { code: 'rate_limited', status: 429 };

/** How long a request is ready to wait. */
export interface Patience {
  maxWaitMs: number;
  /** When its call must have ended, by the clock. */
  endsAtMs: number;
  signal: AbortSignal;
}

/**
 * The pace of all requests of a client, since limits and bans are those of its key. A request enters before it is sent, and waits there
 * while the service has told to wait or, by the header fields of its answers, admits no more.
 */
export class Pace {
  readonly #clock: Clock;
  /** How many may still enter until `#resetsAtMs`, or until it is known how many. */
  #left = unknownLeft;
  #resetsAtMs = Number.POSITIVE_INFINITY;
  #underWay = 0;
  /** The number of the last request that entered, and of the one whose answer told what is left. */
  #entered = 0;
  #toldBy = 0;
  #pausedUntilMs = 0;
  #pausedBy: PetstoreError | undefined;
  #change = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits until a request may be sent, and returns its number. Rejects with when it may, if that is too late for it.
   */
  async enter({ maxWaitMs, endsAtMs, signal }: Patience): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      const nowMs = this.#clock.now();
      const opensAtMs = this.#opensAtMs(nowMs);
      if (opensAtMs <= nowMs) break;
      if (opensAtMs < Number.POSITIVE_INFINITY && opensAtMs > Math.min(nowMs + maxWaitMs, endsAtMs))
        throw this.#refusal(opensAtMs);
      await this.#changeOr(opensAtMs - nowMs, signal);
    }
    this.#left--;
    this.#underWay++;
    return ++this.#entered;
  }

  /** Takes notice of the answer to a request, or that none came. */
  leave(number: number, headers?: Headers): void {
    this.#underWay--;
    const limits = headers && limitsOf(headers);
    if (!limits) this.#left++;
    else {
      // Some of those under way may not have been counted yet.
      const left = limits.left - this.#underWay;
      // Answers overtake each other.
      if (number > this.#toldBy || left < this.#left) {
        this.#left = left;
        this.#resetsAtMs = this.#clock.now() + limits.resetsInMs;
        this.#toldBy = number;
      }
    }
    this.#wake();
  }

  /** Lets all requests wait, as the service has told one of them. */
  pause(ms: number, by: PetstoreError): void {
    const untilMs = this.#clock.now() + ms;
    if (untilMs <= this.#pausedUntilMs) return;
    this.#pausedUntilMs = untilMs;
    this.#pausedBy = by;
    this.#wake();
  }

  /** When the next request may be sent, as far as is known; infinite while the next answer will tell. */
  #opensAtMs(nowMs: number): number {
    if (this.#pausedUntilMs > nowMs) return this.#pausedUntilMs;
    if (this.#resetsAtMs <= nowMs) {
      this.#left = unknownLeft - this.#underWay;
      this.#resetsAtMs = Number.POSITIVE_INFINITY;
    }
    if (this.#left > 0) return nowMs;
    return this.#underWay > 0 ? Number.POSITIVE_INFINITY : this.#resetsAtMs;
  }

  #refusal(opensAtMs: number): PetstoreError {
    const retryAt = new Date(opensAtMs);
    const { code, status } = (opensAtMs === this.#pausedUntilMs && this.#pausedBy) || limited;
    const message = `It was not sent: the service admits no request of this key before ${retryAt.toISOString()}.`;
    return new PetstoreError({ code, message, status, retryAt, isTemporary: true });
  }

  /** Waits for a time, or until something has changed. */
  async #changeOr(ms: number, signal: AbortSignal): Promise<void> {
    const either = new Limit(signal);
    const passed = ms < Number.POSITIVE_INFINITY ? this.#clock.sleep(ms, either.signal) : either.ended();
    try {
      await Promise.race([this.#change.promise, passed]);
    } finally {
      passed.catch(() => {});
      either.end();
    }
  }

  #wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

/**
 * How many requests are left, and for how long, in the window that has fewer of them. `RateLimit` tells for how long that is,
 * so no clock of another machine is needed.
 */
function limitsOf(headers: Headers): { left: number; resetsInMs: number } | undefined {
  const windows = (headers.get('ratelimit') ?? '').matchAll(/;r=(\d+);t=(\d+)/g);
  const [binding] = [...windows]
    .map(([, left, seconds]) => ({
      left: Number(left),
      resetsInMs: Math.min(Number(seconds) * 1_000, longestWaitMs),
    }))
    .sort((a, b) => a.left - b.left || b.resetsInMs - a.resetsInMs);
  return binding;
}
