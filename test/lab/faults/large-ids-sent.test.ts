import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertTouched, assertUntouched, endRehearsal, rehearse } from '../../support/lab.ts';
import { type CallOptions, startPetstore } from '../../support/petstore.ts';
import { parseExactly } from './exact-ids.ts';

test('large-ids accepts ids, cursors and ETags from before the rehearsal', async (t) => {
  const store = await startPetstore(t);
  const { headers, body } = await store.call('GET', '/pets/1');
  const first = await store.call('GET', '/pets?limit=1');
  const cursor = /cursor=(\w+)/.exec(first.headers.link ?? '')?.[1];
  const rehearsal = await rehearse(store, ['large-ids']);
  const etag = headers.etag as string;

  const now = await store.call('GET', '/pets/1', { headers: { 'if-none-match': etag } });
  const shown = [now.status, now.headers.etag, parseExactly(now.text).id];
  assert.deepEqual(shown, [200, `${etag.slice(0, -1)}~L"`, 10_000_000_000_000_003n]);
  const second = await store.call('GET', `/pets?limit=1&cursor=${cursor}`);
  assert.equal(parseExactly(second.text)[0].id, 10_000_000_000_000_005n);

  const change = (tag: string, name = 'If-Match') =>
    store.call('PATCH', '/pets/1', { body: { name: body.name }, headers: { [name]: tag } });
  for (const tag of [etag, now.headers.etag as string, `"other", ${now.headers.etag}`, '*'])
    assert.equal((await change(tag)).status, 200, tag);
  const manyMarks = '~A'.repeat(7_000);
  assert.equal((await change(`${etag.slice(0, -1)}${manyMarks}"`)).status, 200);
  const others = ['"other~L"', `W/${now.headers.etag}`, `"${manyMarks}"`];
  for (const tag of [...others, `${etag.slice(0, -1)}${manyMarks}x"`])
    assert.equal((await change(tag)).status, 412, tag);
  for (const tag of [etag, now.headers.etag as string])
    assert.equal((await change(tag, 'If-None-Match')).status, 412, tag);
  assert.equal((await change('abc~L')).status, 400);

  await endRehearsal(store, rehearsal.id);
  assert.equal((await store.call('GET', '/pets/1', { headers: { 'if-none-match': etag } })).status, 304);
});

test('under large-ids an Idempotency-Key covers the same request with either form of ids', async (t) => {
  const store = await startPetstore(t);
  const send = (petId: bigint) =>
    store.call('POST', '/store/orders', {
      body: `{ "petId": ${petId},\n "quantity": 1 }`,
      headers: { 'idempotency-key': 'k' },
    });
  const first = await send(1n);
  const rehearsal = await rehearse(store, ['large-ids']);
  for (const petId of [1n, 10_000_000_000_000_003n]) {
    const replay = await send(petId);
    assert.equal(replay.headers['idempotency-replayed'], 'true', replay.text);
    assert.deepEqual(parseExactly(replay.text).petId, 10_000_000_000_000_003n);
    assert.match(replay.headers.location ?? '', /\/1\d{16}$/);
    assertTouched(replay, rehearsal, 'large-ids');
  }
  await endRehearsal(store, rehearsal.id);
  const { status, text, headers } = await send(1n);
  assert.deepEqual([status, text, headers.etag], [201, first.text, first.headers.etag]);
});

test('under large-ids a malformed request gets the same refusal as without', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addWorkspace('second', true);
  await rehearse(store, ['large-ids', 'new-status', 'new-fields'], { key });
  const id = '10000000000000003';
  const broken = [
    '',
    '[',
    `[${id}]`,
    `{"categoryId":${id}`,
    `{"name":"A","categoryId":${id},"categoryId":1}`,
    `{"name":"\\ud800","categoryId":${id}}`,
    `{"name":"A","categoryId":"${id}"}`,
    `{"name":"A","categoryId":${id}.5}`,
    `{"name":"A","categoryId":1e999999999}`,
    `{"name":"A","categoryId":-${id}}`,
    `{"name":"A","categoryId":1${id}000}`,
    `{"name":"A","categoryId":[${id}]}`,
    `{"name":"A","categoryId":{"id":${id}}}`,
    `{"name":${id},"categoryId":${id}}`,
    `{"name":"A","categoryId":${id},"more":${'['.repeat(600)}${']'.repeat(600)}}`,
    `{"name":"A","categoryId":${id},"more":[${Array(1_001).fill(id)}]}`,
    Buffer.from([0x7b, 0xff, 0x7d]),
  ];
  const answersTo = async (method: string, path: string, body?: CallOptions['body']) => {
    const keys = [store.key, key];
    const answers = await Promise.all(keys.map((key) => store.call(method, path, { key, body })));
    return answers.map(({ status, text }) => ({ status, text }));
  };
  for (const body of broken) {
    const [usual, rehearsed] = await answersTo('POST', '/pets', body);
    assert.ok(usual && usual.status >= 400, `${body}`);
    assert.deepEqual(rehearsed, usual, `${body}`);
  }
  assertUntouched(await store.call('POST', '/pets', { key, body: `{"name":"A","categoryId":"${id}"}` }));
  const lists = ['/pets?cursor=x', '/pets?id=%ff', '/pets?x=1'];
  for (const path of ['/pets/1e16', `/pets/${id}.0`, `/pets/0${id}`, ...lists]) {
    const [usual, rehearsed] = await answersTo('GET', path);
    assert.deepEqual(rehearsed, usual, path);
  }
  for (const categoryId of [id, '1.0000000000000003e16', '100000000000000030e-1', `${id}.0`]) {
    const body = `\uFEFF{"later":{"categoryId":1},"categoryId" : ${categoryId} , "name":"A"}`;
    const answer = await store.call('POST', '/pets', { key, body });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(parseExactly(answer.text).categoryId, BigInt(id));
  }
});

test('under large-ids a rounded id matches nothing, and the response is marked wherever the id was sent', async (t) => {
  const store = await startPetstore(t);
  const large = 10_000_000_000_000_003n;
  const rounded = BigInt(Number(large));
  assert.notEqual(rounded, large);
  const rehearsal = await rehearse(store, ['large-ids']);
  for (const [method, path, status, body] of [
    ['GET', `/pets/${rounded}`, 404],
    ['DELETE', `/pets/${rounded}`, 404],
    ['GET', `/pets?id=${rounded}`, 200],
    ['GET', `/store/events?after=${rounded}`, 400],
    ['GET', `/pets?id=${2n ** 54n}`, 200],
    ['POST', '/store/orders', 400, `{"petId": ${rounded}}`],
    ['POST', '/store/orders', 400, `{"petId": ${Number(large).toExponential()}}`],
    ['PUT', '/pets/1', 400, `{"name": "Rex", "categoryId": ${rounded}}`],
  ] as const) {
    const answer = await store.call(method, path, { body });
    assert.equal(answer.status, status, `${method} ${path} ${body}: ${answer.text}`);
    if (status === 200) assert.deepEqual(answer.body, []);
    assertTouched(answer, rehearsal, 'large-ids');
  }
  for (const id of [999n, 2n ** 54n + 2n, 10n ** 15n])
    assertUntouched(await store.call('GET', `/pets?id=${id}`));
});
