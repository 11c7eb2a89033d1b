import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import { join } from '../../db/sql.ts';
import { StorageUnavailableError } from '../../foundation/errors.ts';
import { Slots } from '../../foundation/fair-slots.ts';
import { fittingLimit } from '../../http/pagination.ts';
import type { ChangeNotifier } from '../history/record.ts';
import { readEventSizes, readEvents, type StoredEvent } from '../history/store.ts';

/** The maximum number of events in a batch, and so in memory for one reader. */
const batchSize = 100;
/** The number of reads that begin in a turn of the event loop, so that readers leave time for requests. */
const readsPerTurn = 2;
/** Before the next page, readers that catch up pause this many times as long as the last one took. So they use a third of the time. */
const pauseFactor = 2;
const maxPauseMs = 100;
/** The maximum number of workspaces in one poll statement. */
const workspacesPerPoll = 200;

/** Events in the form in which they are sent. */
export interface EventBatch {
  events: { id: number; type: string; text: string }[];
  bytes: Buffer;
  /** The id of the last event. Without events: the id after which the read began. */
  last: number;
  /** Whether more events may follow already. */
  hasMore: boolean;
}

/** A reader of the events of a workspace. */
export interface Subscription {
  /**
   * Reads the events after an id, at most a hundred. Undefined if some of them have expired. Empty while the storage is unavailable: then the
   * reader is woken when it is available again. Readers at the same position share a read. Those that are behind read one after another.
   */
  read(after: number, isBehind?: boolean): Promise<EventBatch | undefined>;
  end(): void;
}

interface Topic {
  wakes: Set<() => void>;
  /** Reads in flight, by the id after which they read, and whether their readers are behind. */
  reads: Map<string, Promise<EventBatch | undefined>>;
  /** The last event that a poll has found. */
  lastId: number;
}

/**
 * Wakes the readers of a workspace when it may have new events: at once if this instance wrote them, else at the next poll. A reader
 * reads after its position until nothing is left, then waits to be woken. So backfill, cut-over and live events are one loop.
 */
export class EventBroadcaster {
  readonly #db: Database;
  readonly #topics = new Map<number, Topic>();
  readonly #slots = new Slots(readsPerTurn, readsPerTurn);
  readonly #behind = new Slots(1, 1);
  readonly #stopwatch: () => number;
  #pauseMs = 0;
  readonly close: () => void;

  /** `stopwatch`: milliseconds with fractions. */
  constructor(db: Database, changes: ChangeNotifier, stopwatch: () => number) {
    this.#db = db;
    this.#stopwatch = stopwatch;
    this.close = changes.subscribe((workspaceId) => {
      const topic = this.#topics.get(workspaceId);
      if (topic) wakeAll(topic);
    });
  }

  /** Subscribes to a workspace. `wake` must not throw, and may be called without new events. */
  subscribe(workspaceId: number, wake: () => void): Subscription {
    const topic = this.#topics.get(workspaceId) ?? { wakes: new Set(), reads: new Map(), lastId: 0 };
    this.#topics.set(workspaceId, topic);
    topic.wakes.add(wake);
    return {
      read: (after, isBehind = false) => this.#readShared(workspaceId, topic, after, isBehind),
      end: () => {
        topic.wakes.delete(wake);
        if (topic.wakes.size === 0) this.#topics.delete(workspaceId);
      },
    };
  }

  /** Asks the database which workspaces with readers have new events. */
  async poll(): Promise<void> {
    const ids = [...this.#topics.keys()];
    for (let i = 0; i < ids.length; i += workspacesPerPoll) {
      const some = ids.slice(i, i + workspacesPerPoll);
      const rows = await this.#db.read`
        select workspace_id, last_id from sequences
        where kind = 'events' and workspace_id in (${join(some, ', ')})`;
      for (const [workspaceId, lastId] of rows) {
        const topic = this.#topics.get(Number(workspaceId));
        if (!topic || Number(lastId) <= topic.lastId) continue;
        topic.lastId = Number(lastId);
        wakeAll(topic);
      }
    }
  }

  #readShared(workspaceId: number, topic: Topic, after: number, isBehind: boolean) {
    const { reads } = topic;
    const name = `${after} ${isBehind}`;
    const inFlight = reads.get(name);
    if (inFlight) return inFlight;
    const slots = isBehind ? this.#behind : this.#slots;
    const started = slots
      .run(workspaceId, () => this.#read(workspaceId, topic, after, isBehind))
      .finally(() => {
        if (reads.get(name) === started) reads.delete(name);
      });
    reads.set(name, started);
    return started;
  }

  async #read(workspaceId: number, topic: Topic, after: number, isBehind: boolean) {
    try {
      await nextTurn();
      // No timer is shorter than 1 ms.
      if (isBehind && this.#pauseMs > 1) await sleep(this.#pauseMs, undefined, { ref: false });
      const startedMs = this.#stopwatch();
      const range = { after, upTo: after + batchSize, limit: batchSize };
      const sizes = () => readEventSizes(this.#db.read, workspaceId, range);
      const limit = isBehind ? await fittingLimit(batchSize, sizes) : batchSize;
      const { events, first } = await readEvents(this.#db.read, workspaceId, { ...range, limit });
      const hasMore = events.length === limit;
      if (isBehind) {
        // Then the readers have written the page. Most that reconnect have read all, so that others need not wait.
        setImmediate(() => {
          const tookMs = this.#stopwatch() - startedMs;
          this.#pauseMs = hasMore ? Math.min(pauseFactor * tookMs, maxPauseMs) : 0;
        });
      }
      return after < first - 1 ? undefined : toBatch(events, after, hasMore);
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      // The next successful poll then wakes the readers.
      topic.lastId = 0;
      return toBatch([], after, false);
    }
  }
}

/** A read in flight may have begun before the commit, so the readers begin another. */
function wakeAll({ wakes, reads }: Topic): void {
  reads.clear();
  for (const wake of wakes) wake();
}

function toBatch(stored: readonly StoredEvent[], after: number, hasMore: boolean): EventBatch {
  const events = stored.map(({ id, type, json }) => ({
    id,
    type,
    text: `id: ${id}\nevent: ${type}\ndata: ${json}\n\n`,
  }));
  const bytes = Buffer.from(events.map(({ text }) => text).join(''));
  return { events, bytes, last: events.at(-1)?.id ?? after, hasMore };
}
