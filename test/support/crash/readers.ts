import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, Follower, type Lists, readEvents } from '../history.ts';
import { fetchChecked, type JsonAnswer } from '../petstore.ts';
import type { Service } from '../service.ts';
import { onlyKilled } from './client.ts';

/** Follows the history while the service runs, is cut off by each kill, and goes on where it was. */
export interface Reader {
  /** What it knows by the history alone. */
  readonly lists: Lists | undefined;
  /** Every event that it has seen, in the order in which it saw them. */
  readonly events: readonly Event[];
  readUntilKilled(service: Service): Promise<void>;
  /** Reads on until it has seen everything. */
  readToEnd(service: Service): Promise<void>;
}

/** Asks for the events after the last one that it has seen, again and again. */
export class Poller implements Reader {
  readonly events: Event[] = [];
  readonly #follower = new Follower();
  readonly #key: string;
  /** What the lists showed after the one marker that there is. */
  readonly #seeded: Lists;

  constructor(key: string, seeded: Lists) {
    this.#key = key;
    this.#seeded = seeded;
  }

  get lists(): Lists | undefined {
    return this.#follower.lists;
  }

  async readUntilKilled(service: Service): Promise<void> {
    for (;;) {
      const count = await this.#readPage(service).catch((error) => onlyKilled(service, error));
      if (count === undefined) return;
      if (count === 0) await sleep(5);
    }
  }

  async readToEnd(service: Service): Promise<void> {
    while ((await this.#readPage(service)) > 0);
  }

  async #readPage(service: Service): Promise<number> {
    const path = `/store/events?limit=100&after=${this.#follower.position}`;
    const { body } = await get(service, this.#key, path);
    for (const event of body as Event[]) {
      this.#follower.follow(event);
      if (event.type === 'workspace.seeded') this.#follower.lists = new Map(this.#seeded);
      this.events.push(event);
    }
    return body.length;
  }
}

/** The events after an id, for one who begins to read now. */
export const readAnew = (service: Service, key: string, after: number) =>
  readEvents((path) => get(service, key, path), after);

async function get({ origin }: Service, key: string, path: string): Promise<JsonAnswer> {
  const answer = await fetchChecked(origin, 'GET', path, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}
