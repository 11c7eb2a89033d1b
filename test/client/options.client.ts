import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodesText } from '../../scripts/generate/client/outputs.ts';
import {
  createLab,
  createPetstore,
  type ErrorCode,
  type Pet,
  PetstoreError,
  type PetstoreOptions,
} from '../../src/client/index.ts';
import { answer, cut, startScripted, text } from '../support/scripted-server.ts';
import { textOf } from '../support/tree.ts';
import { startReal } from './real-store.ts';

const options = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'pet_secret' };

test('a missing or malformed address is refused, and the error says what it should be', () => {
  for (const [baseUrl, expected] of [
    [undefined, 'not undefined'],
    ['', 'not ""'],
    ['localhost:8080/v1', 'not "localhost:8080/v1"'],
    ['/v1', 'not "/v1"'],
    ['ftp://shop.test/v1', 'not "ftp://shop.test/v1"'],
    ['http://shop.test/v1?key=1', 'not "http://shop.test/v1?key=1"'],
    ['http://me:hunter2@shop.test/v1', 'not one with a name or password'],
  ] as const)
    for (const create of [createPetstore, createLab])
      assert.throws(() => create({ ...options, baseUrl: baseUrl as string }), {
        name: 'TypeError',
        message: `The client needs a baseUrl, the address of the API such as http://localhost:8080/v1, ${expected}.`,
      });
});

test('an unknown option of a client or of a call is refused, and the error lists the known options', async (t) => {
  const { store, got } = await startScripted(t, [answer(200, [])]);
  const odd = { retries: 3, onretry: () => {} };
  for (const create of [createPetstore, createLab])
    assert.throws(() => create({ ...options, ...odd }), {
      name: 'TypeError',
      message:
        /^The client has no option retries, onretry\. Its options are baseUrl, .*attempts, .*onRetry, clock\.$/,
    });
  const common = 'signal, timeoutMs, requestId, onAnswer';
  const conditions = 'ifNoneMatch, idempotencyKey, ifMatch';
  const smaug = { name: 'Smaug', categoryId: 1 };
  const wrong = { timeout: 5 } as object;
  for (const [name, known, call] of [
    ['createPet', `${common}, idempotencyKey`, () => store.createPet(smaug, wrong)],
    ['deletePet', `${common}, ifMatch`, () => store.deletePet(1, wrong)],
    ['listPets', `${common}, ifNoneMatch`, async () => store.listPets({}, wrong)],
    ['streamEvents', 'signal, silenceMs, onOpen, onBreak', async () => store.streamEvents({}, wrong)],
    ['request', `${common}, ${conditions}, query, body`, () => store.request('GET', '/pets', wrong)],
  ] as const)
    await assert.rejects(call, {
      name: 'TypeError',
      message: `${name} has no option timeout. Its options are ${known}.`,
    });
  assert.equal(got.length, 0);
});

test('a list becomes an array, and a list that links back to an earlier page is an error', async (t) => {
  const link = (query: string) => ({ link: `<https://other.test/v1/pets?${query}>; rel="next"` });
  const { store } = await startScripted(t, [
    answer(200, [{ id: 1 }], link('cursor=b')),
    answer(200, [{ id: 2 }]),
  ]);
  assert.deepEqual(await store.listPets().toArray(), [{ id: 1 }, { id: 2 }]);
  for (const [queries, pages] of [
    [['limit=100'], 1],
    [['cursor=b'], 2],
    [['cursor=b', 'cursor=c', 'cursor=b'], 3],
  ] as const) {
    const looping = await startScripted(
      t,
      queries.map((query) => answer(200, [{ id: 1 }], link(query))),
    );
    await assert.rejects(looping.store.listPets().toArray(), {
      code: 'unexpected_answer',
      message: /^The link to the next page of \/v1\/pets leads to a page that was already read: /,
    });
    assert.equal(looping.got.length, pages);
  }
});

test('any request can be sent, with the same retries as all others', async (t) => {
  const { store, got } = await startScripted(t, [
    cut,
    answer(201, { id: 12_345 }, { etag: '"a"', location: '/v1/toys/1' }),
    text('{"id":10000000000000003}', 200, { 'content-type': 'application/problem+json; charset=utf-8' }),
    text('name,price', 200, { 'content-type': 'text/csv' }),
    answer(204),
  ]);
  const made = await store.request<{ id: number }>('post', '/toys', {
    body: { name: 'Ball' },
    query: { a: [1, 2] },
  });
  assert.deepEqual(
    [made.status, made.data.id, made.etag, made.attempts, made.headers.get('location')],
    [201, 12_345, '"a"', 2, '/v1/toys/1'],
  );
  const [first, second] = got;
  assert.deepEqual([first?.method, first?.url, first?.body], ['POST', '/v1/toys?a=1&a=2', '{"name":"Ball"}']);
  assert.ok(first?.headers['idempotency-key']);
  assert.equal(first?.headers['idempotency-key'], second?.headers['idempotency-key']);
  assert.deepEqual((await store.request('GET', '/toys/1')).data, { id: 10_000_000_000_000_003n });
  assert.equal((await store.request('GET', '/toys.csv')).data, 'name,price');
  assert.equal((await store.request('PUT', '/toys/1', { body: {}, ifMatch: '"a"' })).data, undefined);
  assert.equal(got.at(-1)?.headers['if-match'], '"a"');
  const sent = got.length;
  for (const path of ['pets', '', '/../lab/account', '.evil.test/v1'])
    await assert.rejects(store.request('GET', path), {
      name: 'TypeError',
      message: /^A path begins with \//,
    });
  assert.equal(got.length, sent);
});

test('request() reaches the service outside the lab and the API', async (t) => {
  const { access } = await startReal(t);
  const { data } = await createPetstore(access).request<Pet[]>('GET', '/pets', { query: { id: 2 } });
  assert.equal(data[0]?.name, 'Rex');
  assert.equal((await createLab(access).request('GET', '/account')).status, 200);
  await assert.rejects(createPetstore(access).request('GET', '/nothing'), { code: 'not_found', attempts: 1 });
});

test('error codes have the types of the descriptions, and a later version may have more', () => {
  const types = textOf('src/client/description.ts');
  const plain = (text: string) => text.replaceAll(/\s|\|/g, '');
  assert.ok(plain(types).endsWith(plain(errorCodesText())), 'Run "npm run generate".');
  const known: ErrorCode = 'idempotency_key_in_use';
  const { code } = new PetstoreError({ code: known, message: 'In use.' });
  if (code === 'no_answer' || code === 'order_complete') assert.fail(code);
  const later: typeof code = 'a_later_code';
  assert.ok(later);
});

/** Only compiled: errors that the types find. */
export function refusedByTypes(store: ReturnType<typeof createPetstore>): unknown[] {
  // @ts-expect-error No version of the description has this code.
  const code: ErrorCode = 'no_such_code';
  // @ts-expect-error There is no such option.
  const wrong: PetstoreOptions = { ...options, retries: 3 };
  // @ts-expect-error Only changes accept ifMatch.
  const read = store.getCategory(1, { ifMatch: '"a"' });
  // @ts-expect-error The response of request() has no known type unless the caller names one.
  const name = store.request('GET', '/pets').then(({ data }) => data.name);
  const pets: Promise<Pet[]> = store.listPets().toArray();
  return [code, wrong, read, name, pets];
}
