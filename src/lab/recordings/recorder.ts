import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Answered } from '../../answered.ts';
import type { Database } from '../../db/database.ts';
import { randomDigits } from '../../keys/key.ts';
import type { Caller } from '../../keys/store.ts';
import { SteadyClock } from './steady-clock.ts';
import { keepRequests } from './store.ts';
import { type Taken, take } from './taken.ts';

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
  /** Characters that wait to be written. What comes then is left out. */
  maxUnwritten: number;
}

/** Requests of one recording that are written together. */
export interface Batch {
  workspaceId: number;
  recordingId: string;
  requests: Taken[];
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
  #underWay: Batch | undefined;
  #running: Promise<void> | undefined;
  #unwritten = 0;
  #hurry = new AbortController();
  #isFailing = false;
  #isClosing = false;
  /** Recordings that take nothing more. */
  readonly #over = new LRUCache<string, true>({ max: 10_000 });

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#clock = new SteadyClock(parts.clock, parts.stopwatch);
  }

  /** Keeps an answered request of a key that has a recording. */
  observe(facts: Answered, { workspaceId, recordingId }: Caller & { recordingId: string }): void {
    const name = `${workspaceId} ${recordingId}`;
    if (this.#over.has(name)) return;
    const batch = this.#batch(name, workspaceId, recordingId);
    this.#running ??= this.#run();
    if (this.#unwritten >= this.#parts.bounds.maxUnwritten) {
      batch.leftOut++;
      return;
    }
    const socket = (facts.exchange?.request.raw ?? facts.unread)?.socket;
    const taken = take(facts, {
      endUs: this.#clock.nowUs(),
      answeredAtMs: this.#parts.clock(),
      connection: this.#connectionOf(socket),
      isBehindProxy: this.#parts.isBehindProxy,
    });
    if (!taken) return;
    batch.requests.push(taken);
    this.#unwritten += sizeOf(taken);
  }

  /** Waits until what was observed before can be read, or could not be written. */
  async settled(): Promise<void> {
    const batches = [...this.#gathering.values(), ...(this.#underWay ? [this.#underWay] : [])];
    if (batches.length === 0 || this.#isFailing) return;
    this.#hurry.abort();
    await Promise.all(batches.map(({ tried }) => tried.promise));
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
      batch = { workspaceId, recordingId, requests: [], leftOut: 0, isRetry: false, tried };
      this.#gathering.set(name, batch);
    }
    return batch;
  }

  async #run(): Promise<void> {
    // What is observed in this turn comes along.
    await nextTurn();
    while (this.#gathering.size > 0) {
      await this.#pause(gatherMs);
      for (const [name, batch] of [...this.#gathering]) {
        this.#gathering.delete(name);
        await this.#write(name, batch);
      }
    }
    this.#running = undefined;
  }

  async #write(name: string, batch: Batch): Promise<void> {
    const { db, log, bounds } = this.#parts;
    this.#underWay = batch;
    for (;;) {
      try {
        const isOver = await keepRequests(db, batch, bounds.maxRecorded);
        if (isOver) this.#over.set(name, true);
        if (this.#isFailing) log.info('requests are recorded again');
        this.#isFailing = false;
        break;
      } catch (err) {
        if (!this.#isFailing) log.warn({ err }, 'requests cannot be recorded; trying again twice a second');
        this.#isFailing = true;
        batch.isRetry = true;
        for (const { tried } of [batch, ...this.#gathering.values()]) tried.resolve();
        if (this.#isClosing) break;
        await this.#pause(retryMs);
      }
    }
    for (const taken of batch.requests) this.#unwritten -= sizeOf(taken);
    this.#underWay = undefined;
    batch.tried.resolve();
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

const sizeOf = ({ facts, body }: Taken) => facts.length + (body?.length ?? 0);
