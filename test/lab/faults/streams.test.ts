import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { maxStreams } from '../../../src/foundation/settings/plans.ts';
import { piecesOf } from '../../../src/lab/faults/streams.ts';
import { assertTouched, performedOf, rehearse } from '../../support/lab.ts';
import { type Petstore, startListening } from '../../support/petstore.ts';
import { openRaw, type RawClient, rawRequest } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';
import { loggedStatuses } from '../../support/wire.ts';

const ok = /^HTTP\/1.1 200 /;

/** Opens a stream of all events. */
function openStream(t: TestContext, store: Petstore, key = store.key): RawClient {
  const client = openRaw(t, store);
  client.send(rawRequest({ key }, 'GET', '/store/events/stream?after=0'));
  return client;
}

/** The chunks received so far. */
function chunksOf({ text }: RawClient): string[] {
  const chunks: string[] = [];
  let [, rest = ''] = text.split(/\r\n\r\n(.*)/s);
  for (;;) {
    const [, size, more = ''] = /^([\da-f]+)\r\n(.*)$/s.exec(rest) ?? [];
    const length = Number.parseInt(size ?? '', 16);
    if (!length || more.length < length) return chunks;
    chunks.push(more.slice(0, length));
    rest = more.slice(length + 2);
  }
}

const bodyOf = (client: RawClient) => Buffer.from(chunksOf(client).join(''), 'latin1').toString();
const idsOf = (client: RawClient) =>
  [...bodyOf(client).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

const addCategory = async (store: Petstore, name: string) =>
  assert.equal((await store.call('POST', '/categories', { body: { name } })).status, 201);

test('stream-cut closes the connection within an event, and the next stream sends it complete', async (t) => {
  const store = await startListening(t, { seed: false });
  const { id } = await rehearse(store, ['stream-cut']);
  const client = openStream(t, store);
  await until(() => /^retry: \d+\n$/.test(bodyOf(client)));
  await addCategory(store, 'Dragons');
  assert.equal(await client.ended(), 'FIN');
  assert.match(client.text, new RegExp(`^Petstore-Rehearsal: ${id}; fault=stream-cut\r$`, 'm'));
  assert.match(bodyOf(client), /^retry: \d+\nid: 1\nevent: category.created\ndata: \{"id":1,[^\n]+$/);
  assert.doesNotMatch(client.text, /\r\n0\r\n/);
  const again = openStream(t, store);
  await until(() => /^id: 1\nevent: category.created\ndata: .*\}\n\n/m.test(bodyOf(again)));
  assert.ok(!again.end);
  assert.deepEqual(await performedOf(store, id), [1]);
  assert.deepEqual(loggedStatuses(store, 'stream-cut'), [200]);
});

test('stream-cut sends a backlog except half of its last event', async (t) => {
  const store = await startListening(t, { seed: false });
  for (const name of ['Drachen', 'Lindwürmer', 'Wyvern']) await addCategory(store, name);
  await rehearse(store, ['stream-cut']);
  const client = openStream(t, store);
  assert.equal(await client.ended(), 'FIN');
  assert.deepEqual(idsOf(client), [1, 2, 3]);
  assert.equal(bodyOf(client).match(/^data: .*\}\n\n/gm)?.length, 2);
});

test('stream-cut can cut the second event of each stream, also after a message without an id', async (t) => {
  const store = await startListening(t, { seed: false });
  for (const name of ['Drachen', 'Lindwürmer', 'Wyvern']) await addCategory(store, name);
  for (const cut of ['second', 'after-no-id']) {
    await rehearse(store, [{ fault: 'stream-cut', cut, times: 2 }]);
    const client = openStream(t, store);
    assert.equal(await client.ended(), 'FIN');
    assert.deepEqual(idsOf(client), [1, 2]);
    const blocks = bodyOf(client).split('\n\n');
    const between = cut === 'second' ? [] : ['event: ping\ndata: {"type":"ping"}'];
    assert.deepEqual(blocks.slice(1, -1), between);
    assert.match(blocks.at(-1) ?? '', /^id: 2\nevent: category.created\ndata: \{"id":2,[^}]+$/);
    // The second event comes later.
    const { body } = await store.call('GET', '/store/events');
    const live = openRaw(t, store);
    live.send(rawRequest(store, 'GET', `/store/events/stream?after=${body.length - 1}`));
    await until(() => idsOf(live).length === 1);
    await addCategory(store, `Hydra ${cut}`);
    assert.equal(await live.ended(), 'FIN');
    assert.deepEqual(idsOf(live), [body.length, body.length + 1]);
    assert.equal(bodyOf(live).includes('}\n\nevent: ping\n'), cut === 'after-no-id');
  }
});

for (const [lineForm, expected] of [
  ['crlf', /^id: 1\r\nevent: category.created\r\ndata: (\{.*\})\r\n\r\n/m],
  ['data-lines', /^id: 1\nevent: category.created\ndata: (\{\ndata: .*\ndata: \})\n\n/m],
] as const)
  test(`stream-pieces:lineForm=${lineForm} sends the same events in other lines`, async (t) => {
    const store = await startListening(t, { seed: false });
    await addCategory(store, 'Lindwürmer 🐉');
    await rehearse(store, [{ fault: 'stream-pieces', lineForm }]);
    const client = openStream(t, store);
    await until(() => expected.test(bodyOf(client)));
    const [, data = ''] = expected.exec(bodyOf(client)) ?? [];
    assert.equal(JSON.parse(data.replaceAll('\ndata: ', '\n')).data.name, 'Lindwürmer 🐉');
  });

test('stream-expired answers 410 when a stream continues, and not when it starts', async (t) => {
  const store = await startListening(t, { seed: false });
  await addCategory(store, 'Dragons');
  const rehearsal = await rehearse(store, ['stream-expired']);
  const start = openStream(t, store);
  await until(() => idsOf(start).length === 1);
  const headers = { 'last-event-id': '1' };
  const expired = await store.call('GET', '/store/events/stream', { headers });
  assert.deepEqual([expired.status, expired.body.code], [410, 'events_expired']);
  assert.match(expired.headers.link ?? '', /\/v1\/store\/events>; rel="first"$/);
  assertTouched(expired, rehearsal, 'stream-expired');
});

test('stream-pieces sends the same bytes as a stream, split within characters and line ends', async (t) => {
  const store = await startListening(t, { seed: false });
  await addCategory(store, 'Lindwürmer 🐉');
  const whole = openStream(t, store);
  await until(() => idsOf(whole).length === 1);
  const { id } = await rehearse(store, ['stream-pieces']);
  const client = openStream(t, store);
  const eventOf = (client: RawClient) => bodyOf(client).slice(bodyOf(client).indexOf('id: '));
  await until(() => eventOf(client) === eventOf(whole));
  const chunks = chunksOf(client).map((chunk) => Buffer.from(chunk, 'latin1'));
  const starts = chunks.map(([first = 0]) => first);
  assert.ok(starts.filter((byte) => byte === 0x0a).length >= 5, `${chunks}`);
  assert.equal(starts.filter((byte) => byte >= 0x80 && byte < 0xc0).length, 2, `${chunks}`);
  assert.ok(client.pieces > 5, `${client.pieces} pieces`);
  assert.deepEqual(await performedOf(store, id), [1]);
  await addCategory(store, 'Wyvern');
  await until(() => idsOf(client).join() === '1,2');
});

test('pieces are the bytes in order, and their number is bounded', () => {
  for (const text of ['', 'a', '\n\n', 'ü🐉\n\n', `${'🐉'.repeat(500)}\n`.repeat(20)]) {
    const pieces = piecesOf(Buffer.from(text));
    assert.equal(Buffer.concat(pieces).toString(), text);
    assert.ok(pieces.length <= 40, `${pieces.length} pieces`);
  }
});

test('a stream in pieces that ends sends the rest first', async (t) => {
  const store = await startListening(t, { seed: false });
  for (let n = 0; n < 30; n++) await addCategory(store, '🐉'.repeat(50));
  await rehearse(store, ['stream-pieces']);
  const client = openStream(t, store);
  await until(() => ok.test(client.text));
  store.app.startOver();
  assert.equal(await client.ended(), 'FIN');
  assert.match(client.text, /\r\n0\r\n\r\n$/);
});

test('stream-silent sends only the head, no event and no comment, and finally resets', async (t) => {
  const store = await startListening(t, { seed: false });
  await addCategory(store, 'Dragons');
  const { id } = await rehearse(store, [{ fault: 'stream-silent', streamSilenceMs: 700 }]);
  const client = openStream(t, store);
  await until(() => ok.test(client.text));
  // A comment would be due.
  store.aheadMs += 15_000;
  assert.equal(await client.ended(), 'RST');
  assert.match(client.text, /\r\n\r\n$/);
  assert.deepEqual(chunksOf(client), []);
  assert.deepEqual(await performedOf(store, id), [1]);
  assert.deepEqual(loggedStatuses(store, 'stream-silent'), [200]);
  const again = openStream(t, store);
  await until(() => idsOf(again).length === 1);
});

test('a stop of the service ends a silent stream at once, without an error', async (t) => {
  const store = await startListening(t);
  await rehearse(store, ['stream-silent']);
  const client = openStream(t, store);
  await until(() => ok.test(client.text));
  await store.app.close();
  assert.equal(await client.ended(), 'FIN');
  assert.match(client.text, /\r\n\r\n0\r\n\r\n$/);
});

test('streams under faults end when their clients leave, before the head, after it and within an event', async (t) => {
  const store = await startListening(t, { seed: false });
  await addCategory(store, '🐉'.repeat(100));
  const moments = [() => true, ({ text }: RawClient) => ok.test(text)];
  const within = (client: RawClient) => chunksOf(client).length > 5;
  for (const fault of ['stream-cut', 'stream-pieces', 'stream-silent'])
    for (const moment of [...moments, ...(fault === 'stream-pieces' ? [within] : [])]) {
      await rehearse(store, [fault]);
      const client = openStream(t, store);
      await until(() => moment(client));
      client.socket.resetAndDestroy();
    }
  await until(async () => /^petstore_open_streams 0$/m.test(await store.metrics()));
});

test('silent streams count toward the stream limit of a key, and one more ends the oldest', async (t) => {
  const store = await startListening(t);
  const { key } = await store.addKey('free');
  await rehearse(store, [{ fault: 'stream-silent', times: 9 }], { key });
  const open = async () => {
    const client = openStream(t, store, key);
    await until(() => ok.test(client.text));
    return client;
  };
  const first = await open();
  for (let n = 0; n < maxStreams.free; n++) await open();
  assert.equal(await first.ended(), 'FIN');
});
