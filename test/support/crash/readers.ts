import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, Follower, type Lists, readEvents } from '../history.ts';
import { fetchChecked, type JsonAnswer } from '../petstore.ts';
import type { Service } from '../service.ts';
import { Reader as Stream } from '../streams.ts';
import { until } from '../until.ts';
import { onlyKilled } from './client.ts';

/** Follows the history while the service runs. Each kill disconnects it, and it continues at its position. */
export abstract class HistoryReader {
  /** Every event that it has received, in order. */
  readonly events: Event[] = [];
  protected readonly key: string;
  readonly #follower = new Follower();
  /** The lists after the only marker. */
  readonly #seeded: Lists;

  constructor(key: string, seeded: Lists) {
    this.key = key;
    this.#seeded = seeded;
  }

  /** The state that follows from the history alone. */
  get lists(): Lists | undefined {
    return this.#follower.lists;
  }

  /** The id of the last received event. */
  protected get position(): number {
    return this.#follower.position;
  }

  protected see(event: Event): void {
    this.#follower.follow(event);
    if (event.type === 'workspace.seeded') this.#follower.lists = new Map(this.#seeded);
    this.events.push(event);
  }

  abstract readUntilKilled(service: Service): Promise<void>;
  /** Continues until it has received the event `lastId`. */
  abstract readUpTo(service: Service, lastId: number): Promise<void>;
}

/** Requests the events after the last received one, again and again. */
export class Poller extends HistoryReader {
  async readUntilKilled(service: Service): Promise<void> {
    for (;;) {
      const count = await this.#readPage(service).catch((error) => onlyKilled(service, error));
      if (count === undefined) return;
      if (count === 0) await sleep(5);
    }
  }

  async readUpTo(service: Service, lastId: number): Promise<void> {
    while (this.position < lastId) await this.#readPage(service);
  }

  async #readPage(service: Service): Promise<number> {
    const path = `/store/events?limit=100&after=${this.position}`;
    const { body } = await get(service, this.key, path);
    for (const event of body) this.see(event);
    return body.length;
  }
}

/** Keeps a stream open, and opens the next one after the last received event. */
export class StreamReader extends HistoryReader {
  async readUntilKilled(service: Service): Promise<void> {
    const stream = this.#open(service);
    await stream.untilEnded();
    assert.ok(service.child.killed, 'a stream lasts as long as the service');
    this.#take(stream);
  }

  async readUpTo(service: Service, lastId: number): Promise<void> {
    if (this.position === lastId) return;
    const stream = this.#open(service);
    await until(() => (stream.place ?? 0) >= lastId || stream.ended !== 'no');
    stream.cut();
    this.#take(stream);
  }

  #open({ origin }: Service): Stream {
    return new Stream(origin, { key: this.key, headers: { 'last-event-id': String(this.position) } });
  }

  #take({ status, text, events }: Stream): void {
    assert.ok(status === 200 || text === '', `${status} ${text}`);
    for (const event of events) this.see(event);
  }
}

/** The events after an id, for a reader that starts now. */
export const readAnew = (service: Service, key: string, after: number) =>
  readEvents((path) => get(service, key, path), after);

async function get({ origin }: Service, key: string, path: string): Promise<JsonAnswer> {
  const answer = await fetchChecked(origin, 'GET', path, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}
