import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  answerOf,
  createLab,
  createPetstore,
  type Pet,
  parseExactly,
  writeExactly,
} from '../../src/client/index.ts';
import { rehearse } from '../support/lab.ts';
import { answer, startScripted } from '../support/scripted-server.ts';
import { startReal } from './real-store.ts';

const large = 9_223_372_036_854_775_807n;

test('JSON is read and written as by JSON.parse and JSON.stringify, except that no integer is rounded', () => {
  const isSafe = (value: bigint) => BigInt.asIntN(54, value) === value && Number.isSafeInteger(Number(value));
  const integer = fc
    .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    .map((value) => (isSafe(value) ? Number(value) : value));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('"12345678901234567890"', '\\', '\\"9007199254740993', '9007199254740993', '__proto__'),
  );
  const double = fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((value) => !Number.isInteger(value));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, false),
      integer,
      text,
      double,
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('value'), { maxLength: 5 }),
    object: fc.dictionary(text, tie('value'), { maxKeys: 5 }),
  }));
  fc.assert(
    fc.property(value, (value) => {
      const written = writeExactly(value);
      const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
      const digits = (_: string, part: unknown) => (typeof part === 'bigint' ? rawJSON(`${part}`) : part);
      assert.equal(written, JSON.stringify(value, digits));
      assert.deepEqual(
        parseExactly(written),
        JSON.parse(written, (_, part, context?: { source?: string }) => {
          const source = context?.source ?? '';
          return typeof part === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(part)
            ? BigInt(source)
            : part;
        }),
      );
    }),
    { numRuns: 300 },
  );
});

test('digits within texts, fractions and names stay as they are', () => {
  const text =
    '{"9007199254740993": "id 9007199254740993, \\"9007199254740993\\"", "a": 1.90071992547409931, "b": 9007199254740993e0, "c": [ -9007199254740993 ]}';
  assert.deepEqual(parseExactly(text), { ...JSON.parse(text), c: [-9_007_199_254_740_993n] });
});

test('hostile JSON is parsed as fast and as deep as by JSON.parse', () => {
  const digits = '1234567890123456789';
  const startedAtMs = performance.now();
  assert.throws(() => parseExactly(`[${digits},"${'\\"'.repeat(200_000)}`), SyntaxError);
  const [, escaped] = parseExactly(`[${digits},"${'\\n'.repeat(5_000_000)}"]`) as [bigint, string];
  assert.equal(escaped.length, 5_000_000);
  assert.equal(parseExactly('9'.repeat(3_000_000)), Number.POSITIVE_INFINITY);
  // A parser that scans again from each quote takes half a minute for the first text.
  assert.ok(performance.now() - startedAtMs < 10_000);
  let value = parseExactly(`${'['.repeat(100_000)}${digits}${']'.repeat(100_000)}`);
  for (let depth = 0; depth < 100_000; depth++) [value] = value as [unknown];
  assert.equal(value, BigInt(digits));
});

test('a number that has been rounded is never sent', async (t) => {
  const { store, got } = await startScripted(t, [answer(200, []), answer(200, {})]);
  await assert.rejects(store.getCategory(2 ** 53), RangeError);
  await assert.rejects(store.createPet({ name: 'Smaug', categoryId: 2 ** 53 }), RangeError);
  assert.throws(() => store.listPets({ id: [1, 2 ** 60] }), RangeError);
  assert.equal(got.length, 0);
  await Array.fromAsync(store.listPets({ id: [large, 1], categoryId: -large }));
  assert.equal(got[0]?.url, `/v1/pets?id=${large}&id=1&categoryId=-${large}&limit=100`);
  await store.placeOrder({ petId: large });
  assert.equal(got[1]?.body, `{"petId":${large}}`);
});

test('an invalid id is never sent', async (t) => {
  const { store, got } = await startScripted(t, [answer(200, [])]);
  for (const value of ['..', '.', '', '1/../2', '1?x', ' 1', Number.NaN, 1.5, null, undefined, {}]) {
    const id = value as number;
    for (const call of [
      () => store.deleteCategory(id),
      () => store.findPet(id),
      () => store.changePet(id, () => ({ name: 'Smaug' })),
      () => store.redeliver(1, id),
      async () => store.listDeliveries(id),
    ])
      await assert.rejects(call, { name: 'TypeError', message: /^An id is an integer, not "/ });
  }
  await store.deleteCategory('7' as unknown as number).catch(() => {});
  // No ETag of a single pet fits the list.
  await Array.fromAsync(store.listPets({ id: [undefined as unknown as number] }));
  assert.deepEqual(
    got.map(({ url }) => url),
    ['/v1/categories/7', '/v1/pets?id=undefined&limit=100'],
  );
});

test('large ids are bigint everywhere', async (t) => {
  const { store, access } = await startReal(t);
  await rehearse(store, ['large-ids']);
  const petstore = createPetstore(access);
  const pets = await Array.fromAsync(petstore.listPets({ limit: 7 }));
  assert.equal(pets.length, 20);
  for (const { id } of pets) assert.equal(typeof id, 'bigint');
  const { id, categoryId } = pets[0] as Pet;
  assert.equal((await petstore.findPet(id))?.id, id);
  assert.equal((await petstore.getCategory(categoryId)).id, categoryId);
  const order = await petstore.placeOrder({ petId: id });
  assert.equal(order.petId, id);
});

test('responses keep their header fields, and serve as conditions', async (t) => {
  const petstore = createPetstore((await startReal(t)).access);
  const category = await petstore.getCategory(1, { requestId: 'mine' });
  const { status, etag, requestId, headers } = answerOf(category) ?? {};
  assert.deepEqual([status, requestId, etag], [200, 'mine', headers?.get('etag')]);
  assert.equal(await petstore.getCategory(1, { ifNoneMatch: category }), category);
  const page = (await petstore.listPets().pages().next()).value as Pet[];
  assert.equal((await petstore.listPets({}, { ifNoneMatch: page }).pages().next()).value, page);
  const pet = (await petstore.findPet(1)) as Pet;
  const later = await petstore.updatePet(1, { name: 'Bella II' }, { ifMatch: pet });
  assert.equal(later.name, 'Bella II');
  const change = (ifMatch: object) => petstore.updatePet(1, { name: 'Bella III' }, { ifMatch });
  await assert.rejects(change(pet), { code: 'precondition_failed' });
  assert.equal((await change(later)).name, 'Bella III');
  await assert.rejects(change({ ...later }), TypeError);
  await assert.rejects(petstore.getCategory(1, { ifNoneMatch: { ...category } }), TypeError);
});

test('properties and values of a later version are returned unchanged', async (t) => {
  const later = { id: 1, name: 'Smaug', categoryId: 1, status: 'reserved', chip: 'x' };
  const { store } = await startScripted(t, [answer(200, [later])]);
  const pet = (await store.findPet(1)) as Pet;
  // Enumerations in responses are open, also for the compiler.
  assert.ok(pet.status === 'reserved');
  assert.deepEqual(pet, later);
});

test('a list follows its links through empty pages, and the key goes only to its own address', async (t) => {
  const next = (target: string, rel = '"next"') => ({
    link: `<https://a.example/x>; rel="first", <${target}>; rel=${rel}`,
  });
  const { store, got } = await startScripted(t, [
    answer(200, [{ id: 1 }], next('https://elsewhere.example/steal?cursor=a&limit=100')),
    answer(200, [], next('?cursor=b', 'next')),
    answer(200, [{ id: 2 }], next('/v1/pets?cursor=c', '"prev next"')),
    answer(200, [{ id: 3 }], next('/v1/pets?cursor=d', '"nextish"')),
  ]);
  const pages = await Array.fromAsync(store.listPets().pages());
  assert.deepEqual(pages, [[{ id: 1 }], [], [{ id: 2 }], [{ id: 3 }]]);
  assert.deepEqual(
    got.map(({ url }) => url),
    ['/v1/pets?limit=100', '/v1/pets?cursor=a&limit=100', '/v1/pets?cursor=b', '/v1/pets?cursor=c'],
  );
});

test('the ETag of a first page is not sent for later pages', async (t) => {
  const link = { link: '</v1/pets?cursor=a>; rel="next"' };
  const { store, got } = await startScripted(t, [
    answer(200, [{ id: 1 }], { ...link, etag: '"a"' }),
    answer(304, undefined, link),
    answer(200, [{ id: 2 }]),
  ]);
  const { value: page } = await store.listPets().pages().next();
  const again = await Array.fromAsync(store.listPets({}, { ifNoneMatch: page as object }));
  assert.deepEqual(again, [{ id: 1 }, { id: 2 }]);
  assert.deepEqual(
    got.map(({ headers }) => headers['if-none-match']),
    [undefined, '"a"', undefined],
  );
});

test('a page with an invalid link ends the list with an error', async (t) => {
  for (const target of ['http://[', '', 'https://shop.test/v1/pets#?cursor=a']) {
    const { store, got } = await startScripted(t, [answer(200, [], { link: `<${target}>; rel="next"` })]);
    await assert.rejects(Array.fromAsync(store.listPets()), { code: 'unexpected_answer' });
    assert.equal(got.length, 1);
  }
});

test('a client needs a key', () => {
  for (const apiKey of ['', 'pet_se\ncret', 'pet_se cret', 'pet_жар', undefined])
    for (const create of [createPetstore, createLab])
      assert.throws(() => create({ baseUrl: 'http://localhost/v1', apiKey: apiKey as string }), {
        name: 'TypeError',
        message: /^The client needs an apiKey: [^_]*$/,
      });
  // At the end of a file.
  createPetstore({ baseUrl: 'http://localhost/v1', apiKey: 'pet_secret\n' });
});
