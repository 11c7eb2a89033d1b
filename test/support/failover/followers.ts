import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startReceiver } from '../dispatching.ts';
import type { Event } from '../history.ts';
import { fetchChecked } from '../petstore.ts';
import { Reader } from '../streams.ts';
import { until } from '../until.ts';

/** A stream through each instance and a webhook, from an event on. */
export async function startFollowers(t: TestContext, origins: string[], key: string, after: number) {
  const receiver = await startReceiver(t);
  const body = { url: receiver.url };
  const added = await fetchChecked(origins[0] as string, 'POST', '/store/webhooks', { key, body });
  assert.equal(added.status, 201, added.text);
  const open = (origin: string, position: number) =>
    new Reader(origin, { key, headers: { 'last-event-id': String(position) } });
  /** Each reader with the events that earlier ones received. */
  const streams = origins.map((origin) => ({ origin, reader: open(origin, after), seen: [] as Event[] }));
  t.after(() => {
    for (const { reader } of streams) reader.cut();
  });
  /** A disconnected or refused reader requests again, after its last event. */
  const goOn = (stream: (typeof streams)[number]) => {
    if (stream.reader.ended === 'no') return;
    assert.ok([0, 200, 503].includes(stream.reader.status), stream.reader.text);
    stream.seen.push(...stream.reader.events);
    stream.reader = open(stream.origin, stream.seen.at(-1)?.id ?? after);
  };
  return {
    /** Waits until each has all of these events: a stream in order and once, a webhook in any order. */
    async assertDelivered(events: Event[]): Promise<void> {
      for (const stream of streams) {
        await until(() => {
          goOn(stream);
          return stream.seen.length + stream.reader.ids.length >= events.length;
        });
        const { seen, reader } = stream;
        assert.deepEqual([...seen, ...reader.events], events, 'a stream sends every event once');
      }
      await until(() => {
        const received = new Set(receiver.ids());
        return events.every(({ id }) => received.has(id));
      });
    },
  };
}
