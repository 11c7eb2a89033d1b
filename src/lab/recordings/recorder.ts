import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { randomDigits } from '../../access/keys/store.ts';
import type { Database } from '../../db/database.ts';
import { factsOf, type RequestOutcome } from '../../observe/request-outcome.ts';
import { recordings } from '../key-binding.ts';
import type { recorderBounds } from '../lab-bounds.ts';
import { DisconnectWatcher } from './disconnect-watcher.ts';
import { sizeOf } from './recorded-request.ts';
import { serializeRequest } from './serialize-request.ts';
import { keepRequests, type RequestBatch } from './store.ts';

/** How long requests wait for others, so that one commit writes them all. */
const gatherMs = 20;
const retryMs = 500;

export interface RecorderParts {
  db: Database;
  log: Pick<FastifyBaseLogger, 'warn' | 'info'>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Milliseconds of a clock that never goes back. */
  stopwatch: () => number;
  /** Whether proxies are configured, so that connections are theirs. */
  isBehindProxy: boolean;
  labPageToken: string;
  bounds: RecorderBounds;
}

export type RecorderBounds = typeof recorderBounds;

/** A batch that waits to be written. */
interface PendingBatch extends RequestBatch {
  /** Characters of its requests. */
  size: number;
  /** Resolves after the first try to write it. */
  tried: PromiseWithResolvers<void>;
}

/** Records requests of recorded keys, after their responses. It writes them in batches, one at a time. No request waits for that. */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #clock: SteadyClock;
  readonly #instance = randomDigits(8);
  readonly #connections = new WeakMap<Socket, number>();
  #lastConnection = 0;
  /** By recording, in the order in which they are written. */
  readonly #gathering = new Map<string, PendingBatch>();
  /** Batches that could not be written. They are tried again after the others. */
  #failed: [name: string, batch: PendingBatch][] = [];
  /** Batches whose first try has not ended. */
  readonly #untried = new Set<PendingBatch>();
  #running: Promise<void> | undefined;
  #unwritten = 0;
  #hurry = new AbortController();
  #isFailing = false;
  #isClosing = false;
  /** The known ends of recordings. A recording may still end sooner. */
  readonly #untilMs = new LRUCache<string, number>({ max: 10_000 });
  readonly #watcher: DisconnectWatcher;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#clock = new SteadyClock(parts.clock, parts.stopwatch);
    this.#watcher = new DisconnectWatcher({
      clock: parts.clock,
      nowUs: () => this.#clock.nowUs(),
      record: ({ request, reply }) =>
        this.observe(factsOf(request, reply, undefined, !reply.raw.headersSent)),
    });
  }

  /** Watches an admitted request if its key has a recording. */
  watch(request: FastifyRequest, reply: FastifyReply): void {
    if (recordings.of(request.caller) !== undefined) this.#watcher.watch(request, reply);
  }

  /** Records a request after its response, once, if its key has a recording. */
  observe(facts: RequestOutcome): void {
    const { sender, exchange, unread } = facts;
    const recordingId = recordings.of(sender);
    if (!sender || recordingId === undefined) return;
    const raw = exchange?.request.raw ?? unread;
    const watched = raw && this.#watcher.settle(raw);
    if (watched?.isRecorded) return;
    const { workspaceId } = sender;
    const name = `${workspaceId} ${recordingId}`;
    const { beganAtMs = this.#parts.clock(), admittedAtUs, leftAtUs, sentAtUs } = watched ?? {};
    if (beganAtMs > (this.#untilMs.get(name) ?? beganAtMs)) return;
    const batch = this.#batchOf(name, workspaceId, recordingId);
    this.#running ??= this.#run();
    const { maxUnwritten, maxUnwrittenOfOne } = this.#parts.bounds;
    if (this.#unwritten >= maxUnwritten || batch.size >= maxUnwrittenOfOne) {
      batch.leftOut++;
      return;
    }
    const row = serializeRequest(facts, {
      nowUs: this.#clock.nowUs(),
      beganAtMs,
      admittedAtUs,
      leftAtUs,
      sentAtUs,
      connection: this.#connectionOf(raw?.socket),
      isBehindProxy: this.#parts.isBehindProxy,
      labPageToken: this.#parts.labPageToken,
    });
    if (!row) return;
    batch.requests.push(row);
    batch.size += sizeOf(row);
    this.#unwritten += sizeOf(row);
  }

  /** Waits until the past requests of a key can be read, or could not be written. They include those whose clients have disconnected. */
  async settled(keyId: string): Promise<void> {
    this.#watcher.recordLeft(keyId);
    if (this.#untried.size === 0 || this.#isFailing) return;
    this.#hurry.abort();
    await Promise.all([...this.#untried].map(({ tried }) => tried.promise));
  }

  /** Writes the remaining batches. A batch that cannot be written now is lost. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#hurry.abort();
    await this.#running;
  }

  #batchOf(name: string, workspaceId: number, recordingId: string): PendingBatch {
    let batch = this.#gathering.get(name);
    if (!batch) {
      const tried = Promise.withResolvers<void>();
      batch = { workspaceId, recordingId, requests: [], size: 0, leftOut: 0, isRetry: false, tried };
      this.#gathering.set(name, batch);
      this.#untried.add(batch);
    }
    return batch;
  }

  async #run(): Promise<void> {
    // All requests of this turn go into the batch.
    await nextTurn();
    while (this.#gathering.size > 0 || this.#failed.length > 0) {
      await this.#pause(this.#failed.length > 0 ? retryMs : gatherMs);
      const due = [...this.#gathering, ...this.#failed.splice(0)];
      this.#gathering.clear();
      for (const [name, batch] of due) await this.#write(name, batch);
      if (this.#isFailing && this.#failed.length === 0) this.#report();
    }
    this.#running = undefined;
  }

  async #write(name: string, batch: PendingBatch): Promise<void> {
    try {
      const { db, bounds, clock } = this.#parts;
      this.#untilMs.set(name, await keepRequests(db, batch, bounds, clock()));
      this.#unwritten -= batch.size;
    } catch (error) {
      if (!this.#isFailing) this.#report(error);
      batch.isRetry = true;
      if (!this.#isClosing) this.#failed.push([name, batch]);
    }
    this.#untried.delete(batch);
    batch.tried.resolve();
  }

  /** Logs once that requests cannot be written, and once that they can again. */
  #report(err?: unknown): void {
    const { log } = this.#parts;
    this.#isFailing = err !== undefined;
    if (this.#isFailing) {
      for (const { tried } of this.#untried) tried.resolve();
      log.warn({ err }, 'requests cannot be recorded; trying again twice a second');
    } else log.info('requests are recorded again');
  }

  /** Waits, until somebody calls `settled` or `close`. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#hurry.signal, ref: false }).catch(() => {
      this.#hurry = new AbortController();
    });
  }

  #connectionOf(socket: Socket | undefined): string {
    if (!socket) return this.#instance;
    let number = this.#connections.get(socket);
    if (number === undefined) {
      number = ++this.#lastConnection;
      this.#connections.set(socket, number);
    }
    return `${this.#instance}-${number}`;
  }
}

/** Times do not go back while the clock is set back by less. */
const maxAheadMs = 5_000;
/** The clock has whole milliseconds, and is read a little after the stopwatch. */
const toleranceMs = 20;
const maxTries = 3;

/** Times in microseconds that follow the clock, and do not go back while it is set back by less than `maxAheadMs`. */
class SteadyClock {
  readonly #clock: () => number;
  readonly #stopwatch: () => number;
  #offsetMs = Number.NEGATIVE_INFINITY;

  constructor(clock: () => number, stopwatch: () => number) {
    this.#clock = clock;
    this.#stopwatch = stopwatch;
  }

  /** Microseconds since 1970. */
  nowUs(): number {
    const { stopwatchMs, offsetMs } = this.#read();
    const aheadMs = this.#offsetMs - offsetMs;
    if (aheadMs < -toleranceMs || aheadMs > maxAheadMs) this.#offsetMs = offsetMs;
    return Math.round((this.#offsetMs + stopwatchMs) * 1_000);
  }

  /** Reads both, and again if the process was suspended in between: that would look like a clock that was set ahead. */
  #read(): { stopwatchMs: number; offsetMs: number } {
    for (let tries = 1; ; tries++) {
      const stopwatchMs = this.#stopwatch();
      const offsetMs = this.#clock() - stopwatchMs;
      if (tries === maxTries || this.#stopwatch() - stopwatchMs <= toleranceMs)
        return { stopwatchMs, offsetMs };
    }
  }
}
