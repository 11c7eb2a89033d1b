import { PetstoreError } from './error.ts';
import { type Clock, Deadline } from './platform.ts';
import { maxRetryAfterMs } from './retry-delays.ts';

/** How many requests may be in flight while the limit is unknown. A key is banned only after more than ten refusals in a minute. */
const unknownLeft = 10;

const limited = { code: 'rate_limited', status: 429 };

/** How often this program has changed the plan of a key, and the waits that such a change ends. */
const planChanges = new Map<string, number>();
const waits = new Set<() => void>();

/** Lets all clients of a key send at once: the limits that they wait for are those of its former plan. */
export function planChanged(apiKey: string): void {
  planChanges.set(apiKey, (planChanges.get(apiKey) ?? 0) + 1);
  for (const end of waits) end();
}

interface WaitLimits {
  maxWaitMs: number;
  /** When the call must have ended, by the clock. */
  endsAtMs: number;
  signal: AbortSignal;
}

/**
 * Limits the requests of a client, since limits and bans belong to its key. A request enters before it is sent. It waits there during a
 * pause that the service asked for, and while `RateLimit` of the responses says that no request is left.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #apiKey: string;
  #planChanges: number | undefined;
  /** How many may enter until `#resetsAtMs`. */
  #left = unknownLeft;
  #resetsAtMs = Number.POSITIVE_INFINITY;
  #inFlight = 0;
  /** The number of the last request that entered. */
  #entered = 0;
  /** The number of the request whose response set `#left`. */
  #setBy = 0;
  #pausedUntilMs = 0;
  #pausedBy: PetstoreError | undefined;
  #change = Promise.withResolvers<void>();

  constructor(clock: Clock, apiKey: string) {
    this.#clock = clock;
    this.#apiKey = apiKey;
    this.#planChanges = planChanges.get(apiKey);
  }

  /**
   * Waits until a request may be sent, and returns its number.
   *
   * @throws PetstoreError with `retryAt` if the wait would be too long.
   */
  async enter({ maxWaitMs, endsAtMs, signal }: WaitLimits): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      this.#forgetFormerPlan();
      const nowMs = this.#clock.now();
      const opensAtMs = this.#opensAtMs(nowMs);
      if (opensAtMs <= nowMs) break;
      if (opensAtMs < Number.POSITIVE_INFINITY && opensAtMs > Math.min(nowMs + maxWaitMs, endsAtMs))
        throw this.#refusal(opensAtMs);
      await this.#changeOr(opensAtMs - nowMs, signal);
    }
    this.#left--;
    this.#inFlight++;
    return ++this.#entered;
  }

  /** Waits before a request that was limited is sent again, until the plan of the key changes. */
  async rest(ms: number, signal: AbortSignal): Promise<void> {
    const untilMs = this.#clock.now() + ms;
    const changes = planChanges.get(this.#apiKey);
    for (let leftMs = ms; leftMs > 0; leftMs = untilMs - this.#clock.now()) {
      await this.#changeOr(leftMs, signal);
      if (planChanges.get(this.#apiKey) !== changes) return;
    }
  }

  /** After a change of the plan the limits are unknown. A ban stays. */
  #forgetFormerPlan(): void {
    const changes = planChanges.get(this.#apiKey);
    if (changes === this.#planChanges) return;
    this.#planChanges = changes;
    this.#resetsAtMs = 0;
    if (this.#pausedBy?.status === limited.status) this.#pausedUntilMs = 0;
  }

  /** Ends a request. `headers` are those of its response, if one came. */
  leave(number: number, headers?: Headers): void {
    this.#inFlight--;
    const limits = headers && limitsOf(headers);
    if (!limits) this.#left++;
    else {
      // The service may not have counted the requests in flight yet.
      const left = limits.left - this.#inFlight;
      // Answers may overtake each other.
      if (number > this.#setBy || left < this.#left) {
        this.#left = left;
        this.#resetsAtMs = this.#clock.now() + limits.resetsInMs;
        this.#setBy = number;
      }
    }
    this.#wake();
  }

  /** Makes all requests wait, as the response to one of them asked. */
  pause(ms: number, by: PetstoreError): void {
    const untilMs = this.#clock.now() + ms;
    if (untilMs <= this.#pausedUntilMs) return;
    this.#pausedUntilMs = untilMs;
    this.#pausedBy = by;
    this.#wake();
  }

  /** When the next request may be sent. Infinite while it depends on the next response. */
  #opensAtMs(nowMs: number): number {
    if (this.#pausedUntilMs > nowMs) return this.#pausedUntilMs;
    if (this.#resetsAtMs <= nowMs) {
      this.#left = unknownLeft - this.#inFlight;
      this.#resetsAtMs = Number.POSITIVE_INFINITY;
    }
    if (this.#left > 0) return nowMs;
    return this.#inFlight > 0 ? Number.POSITIVE_INFINITY : this.#resetsAtMs;
  }

  #refusal(opensAtMs: number): PetstoreError {
    const retryAt = new Date(opensAtMs);
    const { code, status } = (opensAtMs === this.#pausedUntilMs && this.#pausedBy) || limited;
    const message = `It was not sent: the service admits no request of this key before ${retryAt.toISOString()}.`;
    return new PetstoreError({ code, message, status, retryAt, isTemporary: true });
  }

  /** Waits for a time, or for the next change. */
  async #changeOr(ms: number, signal: AbortSignal): Promise<void> {
    const either = new Deadline(signal);
    const end = () => this.#wake();
    waits.add(end);
    const passed = ms < Number.POSITIVE_INFINITY ? this.#clock.sleep(ms, either.signal) : either.aborted();
    try {
      await Promise.race([this.#change.promise, passed]);
    } finally {
      waits.delete(end);
      passed.catch(() => {});
      either.end();
    }
  }

  #wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

/** From `RateLimit`: how many requests are left, and for how long, in the window that has the fewest. */
function limitsOf(headers: Headers): { left: number; resetsInMs: number } | undefined {
  const windows = (headers.get('ratelimit') ?? '').matchAll(/;r=(\d+);t=(\d+)/g);
  return [...windows]
    .map(([, left, seconds]) => ({
      left: Number(left),
      resetsInMs: Math.min(Number(seconds) * 1_000, maxRetryAfterMs),
    }))
    .sort((a, b) => a.left - b.left || b.resetsInMs - a.resetsInMs)[0];
}
