import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { blockReader } from '../../src/client/follow.ts';
import {
  createPetstore,
  type Event,
  type Int64,
  type Petstore,
  type PetstoreError,
} from '../../src/client/index.ts';
import { rehearse } from '../support/lab.ts';
import { cut, refusal, startScripted } from '../support/scripted-server.ts';
import { startReal } from './real-store.ts';

/** A response that streams some text, and then ends, breaks, or stays open. */
const stream =
  (text: string, end: 'end' | 'cut' | 'open' = 'end', headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    response.flushHeaders();
    if (end === 'end') response.end(text);
    else response.write(text, () => end === 'cut' && setTimeout(() => response.destroy(), 10));
  };
const event = (id: number, type = 'pet.created') =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ id, type, data: {} })}\n\n`;

/** A stream of one event that stays open, and its end by the client. */
function openStream() {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const deed = (response: ServerResponse) => {
    response.on('close', resolve);
    stream(event(1), 'open')(response);
  };
  return { deed, closed };
}

/** The ids of the first events of a stream. */
async function idsOf(events: AsyncIterable<Event>, count: number) {
  const ids = [];
  for await (const { id } of events) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return ids;
}

test('a stream continues after the last event wherever it breaks, without repeats', async (t) => {
  const { store, got, clock } = await startScripted(t, [
    stream(`retry: 2000\n\n${event(4)}${event(5)}id: 6\nevent: pet.created\ndata: {"id":6`, 'cut'),
    cut,
    refusal(503, 'unavailable', { 'retry-after': '9' }),
    // A filter has skipped some.
    stream(`${event(6)}id: 90\n\n`),
    stream(`: nothing\n\n${event(91)}`, 'open'),
  ]);
  const events = store.streamEvents({ after: 3, type: ['pet.created'] });
  assert.deepEqual(await idsOf(events, 4), [4, 5, 6, 91]);
  assert.deepEqual(
    got.map(({ headers }) => headers['last-event-id']),
    [undefined, '5', '5', '5', '90'],
  );
  for (const { url } of got) assert.equal(url, '/v1/store/events/stream?after=3&type=pet.created');
  assert.ok(clock.waitsMs.includes(2_000));
});

test('a new stream misses nothing if it breaks before its first event', async (t) => {
  const { store, got } = await startScripted(t, [
    stream('', 'cut', { 'last-event-id': '41' }),
    stream(event(42), 'open'),
  ]);
  assert.deepEqual(await idsOf(store.streamEvents(), 1), [42]);
  assert.equal(got[1]?.headers['last-event-id'], '41');
});

test('a stream reports each start with its position, and each interruption', async (t) => {
  const deeds = [
    refusal(503, 'unavailable'),
    stream('', 'cut', { 'last-event-id': '41' }),
    stream(event(42), 'end', { 'last-event-id': '41' }),
    stream('', 'end', { 'last-event-id': '10000000000000085' }),
    stream('', 'end', { 'last-event-id': 'odd' }),
    stream(event(43), 'open', { 'last-event-id': '42' }),
  ];
  const { store } = await startScripted(t, deeds, { attempts: 1 });
  const reported: unknown[] = [];
  const onOpen = (begun: Int64 | undefined) => reported.push({ begun });
  const onBreak = (error: PetstoreError | undefined) => reported.push({ waits: error?.code });
  for await (const { id } of store.streamEvents({}, { onOpen, onBreak })) {
    reported.push(id);
    if (id === 43) break;
  }
  assert.deepEqual(reported, [
    ...[{ waits: 'unavailable' }, { begun: 41 }, { waits: 'no_answer' }],
    ...[{ begun: 41 }, 42, { waits: undefined }],
    ...[{ begun: 10_000_000_000_000_085n }, { waits: undefined }],
    ...[{ begun: undefined }, { waits: undefined }],
    ...[{ begun: 42 }, 43],
  ]);
});

test('a silent connection counts as broken, a slow reader does not', async (t) => {
  const later = (response: ServerResponse) => {
    stream(event(2), 'open')(response);
    setTimeout(() => response.write(event(3)), 90);
  };
  const { store, got } = await startScripted(t, [stream(event(1), 'open'), later]);
  const ids = [];
  for await (const { id } of store.streamEvents({}, { silenceMs: 60 })) {
    ids.push(id);
    if (id === 2) await new Promise((resolve) => setTimeout(resolve, 100));
    if (id === 3) break;
  }
  assert.deepEqual(ids, [1, 2, 3]);
  assert.equal(got.length, 2);
});

test('an unreachable service is retried with growing waits, without end', async (t) => {
  const { store, clock } = await startScripted(t, [...Array(30).fill(cut), stream(event(1), 'open')]);
  assert.deepEqual(await idsOf(store.streamEvents({ after: 0 }), 1), [1]);
  assert.ok(Math.max(...clock.waitsMs) > 5_000);
});

test('a stream reconnects at most once a second, and at the latest after maxWaitMs', async (t) => {
  for (const [retryMs, waitMs] of [
    ['0', 1_000],
    ['9'.repeat(400), 70_000],
  ] as const) {
    const first = stream(`retry: ${retryMs}\n\n${event(1)}`);
    const { store, clock } = await startScripted(t, [first, stream(event(2)), stream(event(3), 'open')]);
    assert.deepEqual(await idsOf(store.streamEvents(), 3), [1, 2, 3]);
    assert.deepEqual(clock.waitsMs, [waitMs, waitMs]);
  }
});

test('an id that no header field can contain is not sent as a position', async (t) => {
  const odd = ['жар-птица', 'a\tb', 'x'.repeat(100_000)].map((id) => `id: ${id}\n\n`).join('');
  const { store, got } = await startScripted(t, [stream(event(1) + odd), stream(event(2), 'open')]);
  assert.deepEqual(await idsOf(store.streamEvents(), 2), [1, 2]);
  assert.equal(got[1]?.headers['last-event-id'], '1');
});

test('a failure that is not temporary ends a stream', async (t) => {
  for (const [status, code] of [
    [410, 'events_expired'],
    [400, 'invalid_request'],
    [401, 'unauthorized'],
  ] as const) {
    const { store, got } = await startScripted(t, [stream(event(1)), refusal(status, code)]);
    const ids: unknown[] = [];
    const read = async () => {
      for await (const { id } of store.streamEvents()) ids.push(id);
    };
    await assert.rejects(read(), { code, status });
    // A key may get one 401.
    assert.deepEqual([ids, got.length], [[1], status === 401 ? 3 : 2]);
  }
  const noStream = { code: 'unexpected_answer', message: /no stream of events/ };
  for (const [deed, expected] of [
    [refusal(403, 'key_banned', { 'retry-after': '3600' }), { code: 'key_banned' }],
    [stream(`data: ${'x'.repeat(1_100_000)}`, 'open'), { code: 'unexpected_answer' }],
    [stream('<!doctype html>', 'end', { 'content-type': 'text/html' }), noStream],
    [stream('<!doctype html>', 'end', { 'content-type': '' }), noStream],
    [stream('data: {"id":\n\n', 'open'), { code: 'unexpected_answer' }],
    [stream('data: null\n\n', 'open'), { code: 'unexpected_answer' }],
    [stream('data: 7\n\n', 'open'), { code: 'unexpected_answer' }],
  ] as const) {
    const { store, got } = await startScripted(t, [deed]);
    await assert.rejects(idsOf(store.streamEvents(), 1), expected);
    assert.equal(got.length, 1);
  }
});

test('a caller ends the connection by its signal, by leaving the loop, or by an error in onOpen', async (t) => {
  const reason = new Error('No longer wanted.');
  const controller = new AbortController();
  const onOpen = () => {
    throw reason;
  };
  for (const end of [
    async (store: Petstore) => {
      const read = async () => {
        for await (const _ of store.streamEvents({}, { signal: controller.signal }))
          setTimeout(() => controller.abort(reason));
      };
      await assert.rejects(read(), reason);
    },
    (store: Petstore) => idsOf(store.streamEvents(), 1),
    (store: Petstore) => assert.rejects(store.streamEvents({}, { onOpen }).next(), reason),
  ]) {
    const { deed, closed } = openStream();
    const { store } = await startScripted(t, [deed]);
    await end(store);
    await closed;
  }
});

test('events of the service arrive with exact ids', async (t) => {
  const { store, access } = await startReal(t);
  await rehearse(store, ['large-ids']);
  const petstore = createPetstore(access);
  const { id } = await petstore.createCategory({ name: 'Dragons' });
  for await (const event of petstore.streamEvents({ after: 0, type: ['category.created'] })) {
    // The compiler infers the type of the data from the type of the event.
    if (event.type !== 'category.created') continue;
    assert.equal(event.data.id, id);
    assert.equal(typeof event.id, 'bigint');
    break;
  }
});

test('blocks are read in any pieces and with any line breaks', () => {
  const text = 'retry: 5\n\nid: 1\ndata: a\ndata:b\n\n: comment\nid\n\ndata\n\nunknown: x\nid:2\n\nid: 3';
  const whole = [{ retryMs: 5 }, { id: '1', data: 'a\nb' }, { id: '' }, { data: '' }, { id: '2' }];
  for (const lineBreak of ['\n', '\r', '\r\n']) {
    const broken = text.replaceAll('\n', lineBreak);
    for (const size of [1, 2, 3, 7, 1_000]) {
      const read = blockReader();
      const pieces = broken.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      assert.deepEqual(pieces.flatMap(read), whole, `${JSON.stringify(lineBreak)} ${size}`);
    }
  }
});

test('a stream in pieces that split characters and line breaks is read as one', async (t) => {
  const name = 'Жар-птица 🐦';
  for (const lineBreak of ['\n', '\r\n']) {
    const { store } = await startScripted(t, [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const text = `id: 1\ndata: ${JSON.stringify({ id: 1, type: 'odd', data: { name } })}\n\n`;
        for (const byte of Buffer.from(text.replaceAll('\n', lineBreak))) response.write(Buffer.of(byte));
      },
    ]);
    for await (const { data } of store.streamEvents()) {
      assert.deepEqual(data, { name });
      break;
    }
  }
});

test('a stream of single characters is read in linear time, and only line breaks end lines', () => {
  const read = blockReader();
  const startedAtMs = performance.now();
  for (let length = 0; length < 1_000_000; length++) assert.equal(read('x').length, 0);
  // An implementation that scans the whole buffer for each character takes minutes here.
  assert.ok(performance.now() - startedAtMs < 10_000);
  const separated = 'a\u2028b\u2029c\u0085d';
  assert.deepEqual(blockReader()(`data: ${separated}\n\n`), [{ data: separated }]);
});
