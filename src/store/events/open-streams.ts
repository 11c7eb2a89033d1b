import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, randomDigits } from '../../access/keys/store.ts';
import type { Limiter } from '../../access/limits/limiter.ts';
import type { Database } from '../../db/database.ts';
import { ApiError, StorageUnavailableError } from '../../foundation/errors.ts';
import { repeat } from '../../foundation/promises.ts';
import { makeLast } from '../../http/connections.ts';
import type { StreamStart } from '../../http/responses.ts';
import type { ChangeNotifier } from '../history/record.ts';
import { EventBroadcaster } from './broadcaster.ts';
import { EventStream } from './stream.ts';
import { addStream, deleteStream, deleteStreamsOf, findStreams, touchStreams } from './stream-store.ts';

/** The interval at which events of other instances are found. */
const pollEveryMs = 250;
/** The interval of checks and comments. A stream whose key is revoked or banned ends within a second. */
const checkEveryMs = 500;
/** The interval at which this instance shows that it is alive, and the time after which others treat it as dead. */
const touchEveryMs = 20_000;
const deadAfterMs = 5 * 60_000;

interface StreamParts {
  db: Database;
  changes: ChangeNotifier;
  limiter: Pick<Limiter, 'findBanned'>;
  log: Pick<FastifyBaseLogger, 'error'>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Milliseconds of a monotonic clock. */
  stopwatch: () => number;
  /** Called when a reader leaves its stream. Fastify reports only streams that the service ends. */
  left: (request: FastifyRequest, reply: FastifyReply, address: string | undefined) => void;
}

/** The open streams of this instance. Each has a row, so that all instances together count the streams of a key. */
export class OpenStreams {
  readonly #parts: StreamParts;
  readonly #broadcaster: EventBroadcaster;
  readonly #instance = randomDigits(16);
  readonly #open = new Map<string, EventStream>();
  readonly #stops: (() => void)[];
  #touchedAtMs: number;
  #isClosed = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#touchedAtMs = parts.stopwatch();
    this.#broadcaster = new EventBroadcaster(parts.db, parts.changes, parts.stopwatch);
    const failed = (err: unknown) => {
      if (!(err instanceof StorageUnavailableError))
        parts.log.error({ err }, 'the open streams cannot be checked');
    };
    const timer = setInterval(() => this.#keepAlive(), checkEveryMs).unref();
    this.#stops = [
      () => clearInterval(timer),
      this.#broadcaster.close,
      repeat(pollEveryMs, () => this.#broadcaster.poll(), failed),
      repeat(checkEveryMs, () => this.#endForbidden(), failed),
      repeat(checkEveryMs, () => this.#touch(), failed),
    ];
  }

  get count(): number {
    return this.#open.size;
  }

  /** Opens a stream and sends events until it ends. `begin` writes the head. HEAD gets only the head. */
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
        // The reader is gone, and no later event would show it.
        response.end();
        return;
      }
      const { ip } = request;
      response.once('close', () => response.writableFinished || left(request, reply, ip));
      const stream = new EventStream(
        this.#broadcaster,
        response,
        workspaceId,
        start,
        stopwatch(),
        request.interceptor?.streamed,
      );
      this.#open.set(row.id, stream);
      await stream.run();
    } finally {
      const wasOpen = this.#open.delete(row.id);
      // `close` deletes all rows at once. A row that cannot be deleted now is deleted once its instance counts as dead.
      if (!wasOpen || !this.#isClosed) await db.write((sql) => deleteStream(sql, row)).catch(() => {});
    }
  }

  endAll(): void {
    for (const stream of this.#open.values()) stream.end();
  }

  /** Ends all streams. No other may begin. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    if (this.#open.size === 0) return;
    this.endAll();
    await this.#parts.db.write((sql) => deleteStreamsOf(sql, this.#instance)).catch(() => {});
  }

  #assertMayBegin({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
    if (this.#isClosed)
      throw new ApiError('unavailable', 'This instance is stopping. Try again shortly.', {
        'Retry-After': '1',
      });
    if (!makeLast(request, response))
      throw new ApiError('invalid_request', 'A stream must be the last request on its connection.');
  }

  #keepAlive(): void {
    const nowMs = this.#parts.stopwatch();
    for (const stream of this.#open.values()) stream.keepAlive(nowMs);
  }

  /** Ends the streams whose key or secret has ended, whose key is banned, or has opened too many others. */
  async #endForbidden(): Promise<void> {
    // Streams that begin during the query are checked the next time.
    const checked = [...this.#open];
    if (checked.length === 0) return;
    const { db, limiter, clock } = this.#parts;
    const keys = await findStreams(db.read, this.#instance, clock());
    const distinct = new Map([...keys.values()].map((key) => [key.id, key]));
    const banned = await limiter.findBanned([...distinct.values()]);
    for (const [id, stream] of checked) {
      const key = keys.get(id);
      if (!key || banned.has(key.id)) stream.end();
    }
  }

  async #touch(): Promise<void> {
    const { db, clock, stopwatch } = this.#parts;
    const atMs = stopwatch();
    if (this.#open.size === 0 || atMs - this.#touchedAtMs < touchEveryMs) return;
    const nowMs = clock();
    await db.write((sql) => touchStreams(sql, this.#instance, nowMs, nowMs - deadAfterMs));
    this.#touchedAtMs = atMs;
  }
}
