import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startReceiver } from '../dispatching.ts';
import type { Event } from '../history.ts';
import { fetchChecked } from '../petstore.ts';
import { Reader } from '../streams.ts';
import { until } from '../until.ts';

interface Stream {
  readonly origin: string;
  reader: Reader;
  /** The events that earlier readers received. */
  readonly seen: Event[];
}

/** A stream through each instance and a webhook, from an event on. */
export class Followers {
  readonly #streams: Stream[];
  readonly #key: string;
  readonly #after: number;
  readonly #received = new Set<number>();

  private constructor(origins: string[], key: string, after: number) {
    this.#key = key;
    this.#after = after;
    this.#streams = origins.map((origin) => ({ origin, reader: this.#open(origin, after), seen: [] }));
  }

  static async start(t: TestContext, origins: string[], key: string, after: number): Promise<Followers> {
    const receiver = await startReceiver(t);
    const followers = new Followers(origins, key, after);
    receiver.behave = (_request, response) => {
      followers.#received.add(JSON.parse(receiver.messages.at(-1)?.body ?? '').id);
      response.end();
    };
    const options = { key, body: { url: receiver.url } };
    const added = await fetchChecked(origins[0] as string, 'POST', '/store/webhooks', options);
    assert.equal(added.status, 201, added.text);
    t.after(() => {
      for (const { reader } of followers.#streams) reader.cut();
    });
    return followers;
  }

  /** Waits until each has all of these events: a stream in order and once, a webhook in any order. */
  async assertDelivered(events: Event[]): Promise<void> {
    for (const stream of this.#streams) {
      await until(() => {
        this.#goOn(stream);
        return stream.seen.length + stream.reader.ids.length >= events.length;
      });
      assert.deepEqual([...stream.seen, ...stream.reader.events], events, 'a stream sends every event once');
    }
    await until(() => events.every(({ id }) => this.#received.has(id)));
  }

  /** A disconnected or refused reader requests again, after its last event. */
  #goOn(stream: Stream): void {
    if (stream.reader.ended === 'no') return;
    assert.ok([0, 200, 503].includes(stream.reader.status), stream.reader.text);
    stream.seen.push(...stream.reader.events);
    stream.reader = this.#open(stream.origin, stream.seen.at(-1)?.id ?? this.#after);
  }

  #open(origin: string, after: number): Reader {
    return new Reader(origin, { key: this.#key, headers: { 'last-event-id': String(after) } });
  }
}
