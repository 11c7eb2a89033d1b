import type { Caller } from '../access/keys/store.ts';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import { minuteMs } from '../foundation/time.ts';
import type { Owner } from '../lab/key-binding.ts';
import type { Log } from '../observe/log/logger.ts';
import type { RequestOutcome } from '../observe/request-outcome.ts';

/** How soon a first request is stored. Later ones are stored once a minute. */
const soonMs = 1_000;

interface LastRequest extends Owner {
  atMs: number;
  error?: { code: string; atMs: number };
  /** When it was last stored, in milliseconds of the stopwatch. */
  storedAtMs?: number;
  isStored: boolean;
}

/** Whether the owner of a key created it, so that it may expire. */
export const isMember = ({ bindings: { origin } }: Caller) => origin === 'invite' || origin === 'signup';

/** The last request of each member. A request only changes memory: each member costs a write a minute, at most. */
export class Activity {
  readonly #last = new Map<string, LastRequest>();
  readonly #db: Database;
  readonly #log: Pick<Log, 'warn'>;
  readonly #clock: () => number;
  readonly #stopwatch: () => number;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, log: Pick<Log, 'warn'>, clock: () => number, stopwatch: () => number) {
    this.#db = db;
    this.#log = log;
    this.#clock = clock;
    this.#stopwatch = stopwatch;
  }

  /** Notes a request. Must be cheap. */
  note({ sender, code }: Pick<RequestOutcome, 'sender' | 'code'>): void {
    if (!sender || !isMember(sender)) return;
    const { workspaceId, keyId } = sender;
    const atMs = this.#clock();
    const last = this.#last.get(keyId) ?? { workspaceId, keyId, atMs, isStored: false };
    this.#last.set(keyId, last);
    Object.assign(last, { atMs, isStored: false }, code !== undefined && { error: { code, atMs } });
    this.#timer ??= setTimeout(() => void this.save(), soonMs).unref();
  }

  /** Stores the last requests of members that were not stored within a minute, or of all. */
  async save(ofAll = false): Promise<void> {
    const nowMs = this.#stopwatch();
    const isRecent = ({ storedAtMs }: LastRequest) =>
      storedAtMs !== undefined && nowMs - storedAtMs < minuteMs;
    const due = this.#last
      .values()
      .filter((last) => !last.isStored && (ofAll || !isRecent(last)))
      .toArray();
    for (const last of due) Object.assign(last, { isStored: true, storedAtMs: nowMs });
    // One order for all instances, so that they cannot deadlock.
    due.sort((a, b) => a.workspaceId - b.workspaceId);
    try {
      if (due.length > 0)
        await this.#db.write((sql: Sql) => Promise.all(due.map((last) => store(sql, last))));
    } catch (err) {
      this.#log.warn({ err }, 'the last requests of members could not be stored');
      for (const last of due) last.isStored = false;
    }
    for (const [keyId, last] of this.#last) if (last.isStored && !isRecent(last)) this.#last.delete(keyId);
    clearTimeout(this.#timer);
    const isIdle = ofAll || this.#last.size === 0;
    this.#timer = isIdle ? undefined : setTimeout(() => void this.save(), soonMs).unref();
  }
}

/** Keeps a later request that another instance stored. */
const store = (sql: Sql, { workspaceId, keyId, atMs, error }: LastRequest) => sql`
  update members set
    last_request_at_ms = case when last_request_at_ms > ${atMs} then last_request_at_ms else ${atMs} end,
    last_error = coalesce(${error?.code ?? null}, last_error),
    last_error_at_ms = coalesce(${error?.atMs ?? null}, last_error_at_ms)
  where workspace_id = ${workspaceId} and id = ${keyId}`;
