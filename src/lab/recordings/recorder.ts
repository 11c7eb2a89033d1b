import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type Answered, factsOf } from '../../answered.ts';
import type { Database } from '../../db/database.ts';
import { randomDigits } from '../../keys/key.ts';
import { Leaving } from './leaving.ts';
import { type RecordedRow, sizeOf } from './recorded.ts';
import { SteadyClock } from './steady-clock.ts';
import { keepRequests } from './store.ts';
import { take } from './taken.ts';

/** Requests wait so long for others, so that one commit keeps them all. */
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
  bounds: RecorderBounds;
}

export interface RecorderBounds {
  /** Requests that a recording keeps at most. */
  maxRecorded: number;
  /** Characters that a recording keeps at most. */
  maxRecordedSize: number;
  /** Characters that wait to be written, of all recordings and of one. What comes then is left out. */
  maxUnwritten: number;
  maxUnwrittenOfOne: number;
}

/** Requests of one recording that are written together. */
export interface Batch {
  workspaceId: number;
  recordingId: string;
  requests: RecordedRow[];
  /** Characters that they hold. */
  size: number;
  /** Of this recording, requests that there was no room for. */
  leftOut: number;
  /** Whether it was tried before, and may have been written. */
  isRetry: boolean;
  /** Resolves once it was written, or could not be at first. */
  tried: PromiseWithResolvers<void>;
}

/** Keeps answered requests of recorded keys. They are gathered and written one batch at a time; no request waits for that. */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #clock: SteadyClock;
  readonly #instance = randomDigits(8);
  readonly #connections = new WeakMap<Socket, number>();
  #lastConnection = 0;
  /** By recording, in the order in which they are written. */
  readonly #gathering = new Map<string, Batch>();
  /** Batches that could not be written. They are tried again after the others, which may be written. */
  #failed: [name: string, batch: Batch][] = [];
  /** Batches that were not tried yet, also those that are about to be written. */
  readonly #untried = new Set<Batch>();
  #running: Promise<void> | undefined;
  #unwritten = 0;
  #hurry = new AbortController();
  #isFailing = false;
  #isClosing = false;
  /** Until when requests may begin that a recording takes, as far as it is known: it may end sooner. */
  readonly #untilMs = new LRUCache<string, number>({ max: 10_000 });
  readonly #leaving: Leaving;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#clock = new SteadyClock(parts.clock, parts.stopwatch);
    this.#leaving = new Leaving({
      clock: parts.clock,
      nowUs: () => this.#clock.nowUs(),
      record: ({ request, reply }) =>
        this.observe(factsOf(request, reply, undefined, !reply.raw.headersSent)),
    });
  }

  /** Watches an admitted request, if its key has a recording. */
  watch(request: FastifyRequest, reply: FastifyReply): void {
    if (request.caller?.recordingId !== undefined) this.#leaving.watch(request, reply);
  }

  /** Keeps an answered request, if its key has a recording, once. */
  observe(facts: Answered): void {
    const { sender, exchange, unread } = facts;
    if (sender?.recordingId === undefined) return;
    const raw = exchange?.request.raw ?? unread;
    const watched = raw && this.#leaving.settle(raw);
    if (watched?.isRecorded) return;
    const { workspaceId, recordingId } = sender;
    const name = `${workspaceId} ${recordingId}`;
    const { beganAtMs = this.#parts.clock(), leftAtUs } = watched ?? {};
    if (beganAtMs > (this.#untilMs.get(name) ?? beganAtMs)) return;
    const batch = this.#batch(name, workspaceId, recordingId);
    this.#running ??= this.#run();
    const { maxUnwritten, maxUnwrittenOfOne } = this.#parts.bounds;
    if (this.#unwritten >= maxUnwritten || batch.size >= maxUnwrittenOfOne) {
      batch.leftOut++;
      return;
    }
    const taken = take(facts, {
      nowUs: this.#clock.nowUs(),
      beganAtMs,
      leftAtUs,
      connection: this.#connectionOf(raw?.socket),
      isBehindProxy: this.#parts.isBehindProxy,
    });
    if (!taken) return;
    batch.requests.push(taken);
    batch.size += sizeOf(taken);
    this.#unwritten += sizeOf(taken);
  }

  /** Waits until what was observed of a key before, or was given up by its client, can be read, or could not be written. */
  async settled(keyId: string): Promise<void> {
    this.#leaving.recordLeft(keyId);
    if (this.#untried.size === 0 || this.#isFailing) return;
    this.#hurry.abort();
    await Promise.all([...this.#untried].map(({ tried }) => tried.promise));
  }

  /** Writes what is still to be kept. What cannot be written now is lost. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#hurry.abort();
    await this.#running;
  }

  #batch(name: string, workspaceId: number, recordingId: string): Batch {
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
    // What is observed in this turn comes along.
    await nextTurn();
    while (this.#gathering.size > 0 || this.#failed.length > 0) {
      await this.#pause(this.#failed.length > 0 ? retryMs : gatherMs);
      const due = [...this.#gathering, ...this.#failed.splice(0)];
      this.#gathering.clear();
      for (const [name, batch] of due) await this.#write(name, batch);
      if (this.#isFailing && this.#failed.length === 0) this.#tell();
    }
    this.#running = undefined;
  }

  /** Writes a batch, or lays it aside for later. */
  async #write(name: string, batch: Batch): Promise<void> {
    try {
      const { db, bounds } = this.#parts;
      this.#untilMs.set(name, await keepRequests(db, batch, bounds));
      this.#unwritten -= batch.size;
    } catch (error) {
      if (!this.#isFailing) this.#tell(error);
      batch.isRetry = true;
      if (!this.#isClosing) this.#failed.push([name, batch]);
    }
    this.#untried.delete(batch);
    batch.tried.resolve();
  }

  /** Tells once that requests cannot be written, and once that they can again. */
  #tell(err?: unknown): void {
    const { log } = this.#parts;
    this.#isFailing = err !== undefined;
    if (this.#isFailing) {
      for (const { tried } of this.#untried) tried.resolve();
      log.warn({ err }, 'requests cannot be recorded; trying again twice a second');
    } else log.info('requests are recorded again');
  }

  /** Waits, unless someone waits for what is to be written. */
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
