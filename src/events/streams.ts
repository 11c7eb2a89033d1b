import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../db/database.ts';
import { ApiError, StorageUnavailableError } from '../errors.ts';
import type { Changes } from '../history/changes.ts';
import { makeLast } from '../http/connections.ts';
import { randomDigits } from '../keys/key.ts';
import type { Caller } from '../keys/store.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { StreamStart } from '../operation.ts';
import { repeat } from '../repeat.ts';
import { Hub } from './hub.ts';
import { EventStream } from './stream.ts';
import { addStream, findStreams, noteAlive, removeStream, removeStreamsOf } from './stream-store.ts';

/** How often the database is asked for new events that other instances wrote. */
const askEveryMs = 250;
/** How often it is asked which streams may go on: they end within a second. */
const guardEveryMs = 500;
const noteAliveEveryMs = 20_000;
/** An instance that was not seen for so long has died, unless its clock is wrong. */
const deadAfterMs = 5 * 60_000;

export interface StreamParts {
  db: Database;
  changes: Changes;
  limiter: Pick<Limiter, 'findBanned'>;
  log: Pick<FastifyBaseLogger, 'error'>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Milliseconds of a clock that never goes back. */
  stopwatch: () => number;
  /** Is told of a stream that its reader has left: the framework sees only those that the service ends. */
  left: (request: FastifyRequest, reply: FastifyReply, address: string | undefined) => void;
}

/** The streams that this instance has open. Each has a row, so that instances together know how many a key has. */
export class Streams {
  readonly #parts: StreamParts;
  readonly #hub: Hub;
  readonly #instance = randomDigits(16);
  readonly #open = new Map<string, EventStream>();
  readonly #stops: (() => void)[];
  #notedAtMs: number;
  #isClosed = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#notedAtMs = parts.stopwatch();
    this.#hub = new Hub(parts.db, parts.changes);
    const failed = (err: unknown) => {
      if (!(err instanceof StorageUnavailableError)) parts.log.error({ err }, 'streams are not looked after');
    };
    const beating = setInterval(() => this.#beat(), guardEveryMs).unref();
    this.#stops = [
      () => clearInterval(beating),
      this.#hub.close,
      repeat(askEveryMs, () => this.#hub.ask(), failed),
      repeat(guardEveryMs, () => this.#guard(), failed),
      repeat(guardEveryMs, () => this.#noteAlive(), failed),
    ];
  }

  /** How many are open. */
  get count(): number {
    return this.#open.size;
  }

  /** Opens a stream, whose head `begin` writes, and sends events until it ends. HEAD gets the head alone. */
  async serve(
    request: FastifyRequest,
    reply: FastifyReply,
    start: StreamStart,
    begin: () => void,
  ): Promise<void> {
    const { raw: response } = reply;
    if (request.method === 'HEAD') {
      begin();
      response.end();
      return;
    }
    const { workspaceId, keyId } = request.caller as Caller;
    const row = { workspaceId, id: randomDigits(16), keyId, instance: this.#instance };
    const { db, clock, stopwatch, left } = this.#parts;
    await db.write((sql) => addStream(sql, row, clock()));
    try {
      this.#assertMayBegin(request, reply);
      begin();
      const { destroyed, readableEnded } = request.raw.socket;
      if (destroyed || readableEnded) {
        // The reader is gone, and nothing would tell so any more.
        response.end();
        return;
      }
      const { ip } = request;
      response.once('close', () => response.writableFinished || left(request, reply, ip));
      const stream = new EventStream(
        this.#hub,
        response,
        workspaceId,
        start,
        stopwatch(),
        request.rehearsed?.streamed,
      );
      this.#open.set(row.id, stream);
      await stream.run();
    } finally {
      const wasOpen = this.#open.delete(row.id);
      // At a stop all go together. A row that cannot be removed now goes when nobody notes any more that its instance is alive.
      if (!wasOpen || !this.#isClosed) await db.write((sql) => removeStream(sql, row)).catch(() => {});
    }
  }

  /** Ends all streams. */
  endAll(): void {
    for (const stream of this.#open.values()) stream.end();
  }

  /** Ends all streams, and lets none begin. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    if (this.#open.size === 0) return;
    this.endAll();
    await this.#parts.db.write((sql) => removeStreamsOf(sql, this.#instance)).catch(() => {});
  }

  #assertMayBegin({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
    if (this.#isClosed) {
      throw new ApiError('unavailable', 'This instance is stopping. Try again shortly.', {
        'Retry-After': '1',
      });
    }
    if (!makeLast(request, response)) {
      throw new ApiError('invalid_request', 'A stream must be the last request on its connection.');
    }
  }

  #beat(): void {
    const nowMs = this.#parts.stopwatch();
    for (const stream of this.#open.values()) stream.beat(nowMs);
  }

  /** Ends the streams whose key was revoked or banned, or opened others meanwhile. */
  async #guard(): Promise<void> {
    // Those that begin meanwhile may not be in the answer.
    const asked = [...this.#open];
    if (asked.length === 0) return;
    const { db, limiter } = this.#parts;
    const keys = await findStreams(db.read, this.#instance);
    const distinct = new Map([...keys.values()].map((key) => [key.id, key]));
    const banned = await limiter.findBanned([...distinct.values()]);
    for (const [id, stream] of asked) {
      const key = keys.get(id);
      if (!key || banned.has(key.id)) stream.end();
    }
  }

  async #noteAlive(): Promise<void> {
    const { db, clock, stopwatch } = this.#parts;
    const atMs = stopwatch();
    if (this.#open.size === 0 || atMs - this.#notedAtMs < noteAliveEveryMs) return;
    const nowMs = clock();
    await db.write((sql) => noteAlive(sql, this.#instance, nowMs, nowMs - deadAfterMs));
    this.#notedAtMs = atMs;
  }
}
