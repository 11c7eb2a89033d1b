import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { join } from '../db/sql.ts';
import { StorageUnavailableError } from '../errors.ts';
import type { Changes } from '../history/changes.ts';
import { readEvents, type StoredEvent } from '../history/store.ts';
import { Slots } from '../webhooks/slots.ts';

/** How many events a read returns, and so how much is kept for a reader at most. */
const batchSize = 100;
/** How many reads are begun in a turn of the event loop: readers that catch up leave the rest of it to requests. */
const readsPerTurn = 2;
/** How many workspaces one question to the database is about. */
const workspacesPerQuestion = 200;

/** Events as they are sent. */
export interface Batch {
  events: { id: number; type: string; text: string }[];
  /** The text of all of them. */
  bytes: Buffer;
  /** The id of the last, or that after which was read if there are none. */
  last: number;
}

/** The watch of one reader over a workspace. */
export interface Watch {
  /**
   * The events after an id, at most a hundred; none also if the storage is away, and then the reader is woken once it is back.
   * Undefined if the history no longer holds all of them. Readers at the same place share a read.
   */
  read(after: number): Promise<Batch | undefined>;
  end(): void;
}

interface Watched {
  wakes: Set<() => void>;
  /** Reads under way, by the id after which they read. */
  reads: Map<number, Promise<Batch | undefined>>;
  /** The last event that the database told of. */
  lastId: number;
}

/**
 * Wakes the readers of a workspace when it may have new events: at once if this instance wrote them, and otherwise as soon as
 * `ask` is answered. A reader reads after its place until nothing is left, and waits to be woken. So it catches up and follows in one.
 */
export class Hub {
  readonly #db: Database;
  readonly #watched = new Map<number, Watched>();
  readonly #slots = new Slots(readsPerTurn, readsPerTurn);
  readonly close: () => void;

  constructor(db: Database, changes: Changes) {
    this.#db = db;
    this.close = changes.subscribe((workspaceId) => {
      const watched = this.#watched.get(workspaceId);
      if (watched) wakeAll(watched);
    });
  }

  /** Watches a workspace. `wake` may be called without need, and must not throw. */
  watch(workspaceId: number, wake: () => void): Watch {
    const watched = this.#watched.get(workspaceId) ?? { wakes: new Set(), reads: new Map(), lastId: 0 };
    this.#watched.set(workspaceId, watched);
    watched.wakes.add(wake);
    return {
      read: (after) => this.#read(workspaceId, watched, after),
      end: () => {
        watched.wakes.delete(wake);
        if (watched.wakes.size === 0) this.#watched.delete(workspaceId);
      },
    };
  }

  /** Asks the database which of the watched workspaces have new events. */
  async ask(): Promise<void> {
    const ids = [...this.#watched.keys()];
    for (let i = 0; i < ids.length; i += workspacesPerQuestion) {
      const some = ids.slice(i, i + workspacesPerQuestion);
      const rows = await this.#db.read`
        select workspace_id, last_id from sequences
        where kind = 'events' and workspace_id in (${join(some, ', ')})`;
      for (const [workspaceId, lastId] of rows) {
        const watched = this.#watched.get(Number(workspaceId));
        if (!watched || Number(lastId) <= watched.lastId) continue;
        watched.lastId = Number(lastId);
        wakeAll(watched);
      }
    }
  }

  #read(workspaceId: number, watched: Watched, after: number): Promise<Batch | undefined> {
    const { reads } = watched;
    let reading = reads.get(after);
    if (!reading) {
      const started = this.#slots
        .run(workspaceId, () => this.#readNow(workspaceId, watched, after))
        .finally(() => {
          if (reads.get(after) === started) reads.delete(after);
        });
      reads.set(after, started);
      reading = started;
    }
    return reading;
  }

  async #readNow(workspaceId: number, watched: Watched, after: number): Promise<Batch | undefined> {
    try {
      await nextTurn();
      const range = { after, upTo: after + batchSize, limit: batchSize };
      const { events, first } = await readEvents(this.#db.read, workspaceId, range);
      return after < first - 1 ? undefined : toBatch(events, after);
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      // So the next answer to a question wakes whoever reads this.
      watched.lastId = 0;
      return toBatch([], after);
    }
  }
}

/** A read that is under way may be too early, so whoever is woken begins another. */
function wakeAll({ wakes, reads }: Watched): void {
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
