import type { ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../foundation/errors.ts';

/** The requests of a key are costly if they take longer on average. */
const costlyMs = 0.5;
/** The share of the latest request in this average. */
const latestShare = 0.25;
/** A key with costly requests pauses this many times as long as each took. So it uses a quarter of the time. */
const pauseFactor = 3;
/** The shortest pause after a message of an agent and a request to the lab: their garbage costs others time, too. */
export const pauseOfCostlyMs = 3;
/** No request takes longer. If it seems so, something else stopped the process. */
const longestMs = 25;
/** If the requests of a turn take longer together, one of their keys may have costly requests. */
const slowTurnMs = 4;
/** How long the requests of a key run alone after a costly one. */
const rememberMs = 60_000;
/** Bytes of a response that waits unread. Smaller ones cost no more than their connection. */
const largeBytes = 16 * 1024;
/** Requests of a key that wait to run alone. */
const maxWaiting = 2_000;
/** Bytes of large responses to one key that may wait unread before it gets another. */
export const maxUnreadBytes = 2.5 * 1024 * 1024;

interface Waiting {
  response: ServerResponse;
  leastPauseMs: number;
  begin: () => void;
}

/** The requests of a key that wait to run alone. */
interface Queue {
  requests: Waiting[];
  isPaused: boolean;
}

/**
 * Keeps one key from using up the time and the memory that all share. Requests of a turn of the event loop are handled together. After a
 * slow turn the requests of its keys run alone, one in a turn, and are measured. A key whose requests are costly pauses between them.
 */
export class FairShare {
  readonly #stopwatch: () => number;
  /** The keys whose requests began together in this turn, and when the first did. */
  #together: string[] = [];
  #startedMs = 0;
  /** The keys whose requests run alone, and how long these take on average: undefined before the first. */
  readonly #alone = new LRUCache<string, { averageMs: number | undefined }>({ max: 1_000, ttl: rememberMs });
  /** Keys take turns. */
  readonly #queues = new Map<string, Queue>();
  #isBusy = false;
  readonly #unreadBytes = new Map<string, number>();

  /** `stopwatch`: milliseconds with fractions. */
  constructor(stopwatch: () => number) {
    this.#stopwatch = stopwatch;
  }

  /**
   * Lets a request of a key, or of an address, begin: at once, or alone in a later turn. It never begins if its client leaves before. With
   * `leastPauseMs` it runs alone in any case, and its key pauses so long at least. Throws `rate_limited` while too many requests of the
   * key wait, or too many bytes of responses to it are unread.
   */
  enter(keyId: string, response: ServerResponse, leastPauseMs?: number): Promise<void> | undefined {
    if ((this.#unreadBytes.get(keyId) ?? 0) > maxUnreadBytes)
      throw tooMany(`More than ${maxUnreadBytes / 1024 / 1024} MiB of your responses are unread. Read them.`);
    if (leastPauseMs !== undefined || (this.#alone.size > 0 && this.#alone.has(keyId)))
      return this.#wait(keyId, response, leastPauseMs ?? 0);
    if (this.#together.push(keyId) === 1) {
      this.#startedMs = this.#stopwatch();
      setImmediate(() => this.#endTurn());
    }
    return undefined;
  }

  /** Counts a response while it waits unread. */
  countUnread(keyId: string, response: ServerResponse, content: string | Uint8Array): void {
    if (content.length * 3 < largeBytes || response.writableFinished || response.destroyed) return;
    const bytes = Buffer.byteLength(content);
    this.#addUnread(keyId, bytes);
    response.once('close', () => this.#addUnread(keyId, -bytes));
  }

  #addUnread(keyId: string, bytes: number): void {
    const sum = (this.#unreadBytes.get(keyId) ?? 0) + bytes;
    if (sum > 0) this.#unreadBytes.set(keyId, sum);
    else this.#unreadBytes.delete(keyId);
  }

  #endTurn(): void {
    const slow = this.#stopwatch() - this.#startedMs > slowTurnMs ? this.#together : [];
    for (const keyId of slow) if (!this.#alone.has(keyId)) this.#alone.set(keyId, { averageMs: undefined });
    this.#together = [];
  }

  #wait(keyId: string, response: ServerResponse, leastPauseMs: number): Promise<void> {
    const queue = this.#queues.get(keyId) ?? { requests: [], isPaused: false };
    this.#queues.set(keyId, queue);
    if (queue.requests.length === maxWaiting) {
      queue.requests = queue.requests.filter((one) => !one.response.destroyed);
      if (queue.requests.length === maxWaiting)
        throw tooMany(`${maxWaiting} of your requests wait, because such requests run one after another.`);
    }
    return new Promise((begin) => {
      queue.requests.push({ response, leastPauseMs, begin });
      this.#next();
    });
  }

  #next(): void {
    if (this.#isBusy) return;
    for (const [keyId, queue] of this.#queues) {
      if (queue.isPaused) continue;
      let request = queue.requests.shift();
      while (request?.response.destroyed) request = queue.requests.shift();
      if (request) {
        this.#runAlone(keyId, queue, request);
        return;
      }
      this.#queues.delete(keyId);
    }
  }

  #runAlone(keyId: string, queue: Queue, { begin, leastPauseMs }: Waiting): void {
    this.#isBusy = true;
    let startedMs = 0;
    // Between the two, Node.js runs only this request, as far as it waits for nothing outside the process.
    setImmediate(() => {
      startedMs = this.#stopwatch();
      begin();
    });
    setImmediate(() => {
      this.#isBusy = false;
      const tookMs = Math.min(longestMs, this.#stopwatch() - startedMs);
      const pauseMs = Math.max(leastPauseMs, this.#pauseAfter(keyId, tookMs));
      if (pauseMs > 0) {
        queue.isPaused = true;
        setTimeout(() => {
          queue.isPaused = false;
          this.#next();
        }, pauseMs);
      }
      // Behind the others.
      this.#queues.delete(keyId);
      this.#queues.set(keyId, queue);
      this.#next();
    });
  }

  #pauseAfter(keyId: string, tookMs: number): number {
    const { averageMs = tookMs } = this.#alone.get(keyId) ?? {};
    const newMs = averageMs + latestShare * (tookMs - averageMs);
    if (newMs > costlyMs) {
      this.#alone.set(keyId, { averageMs: newMs });
      return pauseFactor * tookMs;
    }
    this.#alone.delete(keyId);
    return 0;
  }
}

const tooMany = (message: string) => new ApiError('rate_limited', message, { 'Retry-After': '1' });
