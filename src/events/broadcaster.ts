import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { join } from '../db/sql.ts';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { Slots } from '../foundation/fair-slots.ts';
import type { Changes } from '../history/changes.ts';
import { readEvents, type StoredEvent } from '../history/store.ts';

/** The maximum number of events in a batch, and so in memory for one reader. */
const batchSize = 100;
/** The number of reads that begin in a turn of the event loop, so that readers that catch up leave time for requests. */
const readsPerTurn = 2;
/** The maximum number of workspaces in one poll statement. */
const workspacesPerPoll = 200;

/** Events in the form in which they are sent. */
export interface Batch {
  events: { id: number; type: string; text: string }[];
  /** The text of all events. */
  bytes: Buffer;
  /** The id of the last event. Without events: the id after which the read began. */
  last: number;
}

/** A reader of the events of a workspace. */
export interface Subscription {
  /**
   * Reads the events after an id, at most a hundred. Undefined if some of them have expired. Empty while the storage is unavailable: then the
   * reader is woken when it is available again. Readers at the same position share a read.
   */
  read(after: number): Promise<Batch | undefined>;
  end(): void;
}

interface Topic {
  wakes: Set<() => void>;
  /** Reads in flight, by the id after which they read. */
  reads: Map<number, Promise<Batch | undefined>>;
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
  readonly close: () => void;

  constructor(db: Database, changes: Changes) {
    this.#db = db;
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
      read: (after) => this.#readShared(workspaceId, topic, after),
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

  #readShared(workspaceId: number, topic: Topic, after: number): Promise<Batch | undefined> {
    const { reads } = topic;
    const inFlight = reads.get(after);
    if (inFlight) return inFlight;
    const started = this.#slots
      .run(workspaceId, () => this.#read(workspaceId, topic, after))
      .finally(() => {
        if (reads.get(after) === started) reads.delete(after);
      });
    reads.set(after, started);
    return started;
  }

  async #read(workspaceId: number, topic: Topic, after: number): Promise<Batch | undefined> {
    try {
      await nextTurn();
      const range = { after, upTo: after + batchSize, limit: batchSize };
      const { events, first } = await readEvents(this.#db.read, workspaceId, range);
      return after < first - 1 ? undefined : toBatch(events, after);
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      // The next successful poll then wakes the readers.
      topic.lastId = 0;
      return toBatch([], after);
    }
  }
}

/** A read in flight may have begun before the commit, so the readers begin another. */
function wakeAll({ wakes, reads }: Topic): void {
  reads.clear();
  for (const wake of wakes) wake();
}

function toBatch(stored: readonly StoredEvent[], after: number): Batch {
  const events = stored.map(({ id, type, json }) => ({
    id,
    type,
    text: `id: ${id}\nevent: ${type}\ndata: ${json}\n\n`,
  }));
  const bytes = Buffer.from(events.map(({ text }) => text).join(''));
  return { events, bytes, last: events.at(-1)?.id ?? after };
}
