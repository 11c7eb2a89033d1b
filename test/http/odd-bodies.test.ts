import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { oddRequests } from '../../bench/support/shapes.ts';
import { maxValues } from '../../src/foundation/bounds.ts';
import { errorCodes, maxRefusalBytes } from '../../src/foundation/errors.ts';
import { parseJson } from '../../src/http/json.ts';
import { startPetstore } from '../support/petstore.ts';

const repeat = (text: string, count: number) => Array(count).fill(text).join(',');

test('a body may have 1,000 values of any kind; one more gets 413 with the limit', async (t) => {
  const store = await startPetstore(t);
  const properties = Array.from({ length: maxValues - 1 }, (_, i) => `"a${i}" : null`).join(',');
  for (const body of [
    `[${repeat('1', maxValues - 1)}]`,
    `[${repeat('[]', maxValues - 1)}]`,
    `[ ${repeat('"1,[2:{\\"" ', maxValues - 1)} ]`,
    `{${properties}}`,
    `{"a":[${repeat('{"b":-1.5e3}', (maxValues - 2) / 2)}]}`,
    `${'['.repeat(100)}${repeat('true', maxValues - 100)}${']'.repeat(100)}`,
  ]) {
    assert.equal((await store.call('POST', '/pets', { body })).body.code, 'invalid_request');
    for (const more of [`[${body}]`, ` {"a":${body}`]) {
      const answer = await store.call('POST', '/pets', { body: more });
      assert.equal(answer.body.code, 'payload_too_large', more.slice(0, 40));
      assert.match(answer.body.message, /1,000 values/);
    }
  }
  const most = `{"name":"Zed","categoryId":1,"more":[${repeat('0', maxValues - 4)}]}`;
  assert.equal((await store.call('POST', '/pets', { body: most })).status, 201);
  assert.equal((await store.call('PATCH', '/pets/1', { body: most.replace('[', '[0,') })).status, 413);
  assert.match(errorCodes.payload_too_large[1], /1,000 values/);
});

/** JSON texts with odd spacing, and the odd names and numbers that JSON.stringify writes. */
const jsonTexts = fc
  .tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom('', ' ', '\r\n\t'))
  .map(([value, space]) => JSON.stringify(value, null, space));

test('JSON is parsed as by JSON.parse, except for refused duplicate names and unpaired surrogates', () => {
  const broken = fc
    .tuple(
      jsonTexts,
      fc.nat(),
      fc.constantFrom('', '"', '\\', ',', ':', '[', '}', '1', 'e', ' ', '\u00a0', '\u0000'),
    )
    .map(([text, at, put]) => {
      const i = at % (text.length + 1);
      return text.slice(0, i) + put + text.slice(i + 1);
    });
  let both = 0;
  fc.assert(
    fc.property(fc.oneof(jsonTexts, broken), (text) => {
      const theirs = attempt(() => JSON.parse(text));
      const ours = attempt(() => parseJson(Buffer.from(text)));
      if ('value' in ours) assertSame(ours, theirs);
      // The service's parser is stricter here, and says so.
      else if ('value' in theirs) assert.match(ours.message, /occurs twice|unpaired surrogate/);
      else both++;
    }),
    { numRuns: 3_000 },
  );
  assert.ok(both > 100, 'many were broken');
});

/** Asserts that a value equals that of JSON.parse, or is NaN where JSON.parse would round a fraction to an integer. */
function assertSame(ours: unknown, theirs: unknown): void {
  if (Number.isNaN(ours)) assert.ok(Number.isInteger(theirs));
  else if (typeof ours !== 'object' || ours === null) assert.ok(Object.is(ours, theirs));
  else {
    assert.deepEqual(Object.keys(ours), Object.keys(theirs as object));
    for (const [name, part] of Object.entries(ours))
      assertSame(part, (theirs as Record<string, unknown>)[name]);
  }
}

function attempt(parse: () => unknown): { value: unknown } | { message: string } {
  try {
    return { value: parse() };
  } catch (error) {
    return { message: (error as Error).message };
  }
}

test('numbers in any notation keep their exact value, or are not accepted as integers', () => {
  const digits = fc.stringMatching(/^\d{1,25}$/);
  const numerals = fc
    .tuple(fc.constantFrom('', '-'), digits, fc.option(digits), fc.option(fc.integer({ min: -30, max: 30 })))
    .map(([sign, whole, fraction, exponent]) => ({
      text: `${sign}${BigInt(whole)}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
      mantissa: BigInt(sign + BigInt(whole) + (fraction ?? '')),
      power: (exponent ?? 0) - (fraction?.length ?? 0),
    }));
  fc.assert(
    fc.property(numerals, ({ text, mantissa, power }) => {
      const [value] = parseJson(Buffer.from(`[${text}]`)) as [number];
      const unit = 10n ** BigInt(Math.abs(power));
      const isFraction = power < 0 && mantissa % unit !== 0n;
      const integer = power < 0 ? mantissa / unit : mantissa * unit;
      const fits = !isFraction && BigInt.asIntN(64, integer) === integer;
      assert.equal(Number.isInteger(value) && Math.abs(value) < 2 ** 63, fits, text);
      // The last double within 64 bits also represents the integers after it.
      if (fits && Math.abs(Number(integer)) < 2 ** 63)
        assert.equal(BigInt(value), BigInt(Number(integer)), text);
    }),
    { numRuns: 3_000 },
  );
});

/** Tests one in this many of the benchmark's shapes. The number shares no factor with their order. */
const everyNth = 307;

test('refusals are short, however odd and large a body, a query or a field is', async (t) => {
  const { app, key } = await startPetstore(t);
  const some = [...oddRequests()].filter((_, i) => i % everyNth === 0);
  assert.ok(some.length > 100);
  for (const { name, make } of some) {
    const { odd } = make();
    for (const accept of ['application/json', 'application/problem+json']) {
      const headers = { authorization: `Bearer ${key}`, ...odd.headers, accept };
      const answer = await app.inject({ ...odd, headers });
      assert.ok(answer.statusCode < 500, name);
      if (answer.statusCode >= 400) {
        assert.ok(answer.rawPayload.length <= maxRefusalBytes, `${name}: ${answer.body}`);
        assert.ok(answer.body.isWellFormed(), name);
      }
    }
  }
});

test('a message quotes a request briefly, in whole characters, and without keys', async (t) => {
  const store = await startPetstore(t);
  const text = `"${'🐕'.repeat(30)}"`;
  for (const body of [`[${text},x,${text}]`, `[${text}, x, ${text}]`, `[${text},🐕]`, '🐕']) {
    const { message } = (await store.call('POST', '/pets', { body })).body;
    assert.match(message, /Unexpected token/);
    assert.ok(message.isWellFormed(), JSON.stringify(message));
  }
  for (const start of ['', 'x'.repeat(70), 'x'.repeat(95), `${'x'.repeat(30)}🐕`.repeat(3)]) {
    const name = `${start}${store.key}${'🐕'.repeat(1_000)}`;
    const twice = await store.call('POST', '/pets', { body: `{"${name}":1,"${name}":2}` });
    const unknown = await store.call('GET', `/pets?${encodeURIComponent(name)}=1`);
    for (const { status, text } of [twice, unknown]) {
      assert.equal(status, 400);
      assert.ok(text.length < 500, text);
      assert.doesNotMatch(text, /pet_\w|\\ud/i);
    }
  }
  const names = Array.from({ length: 198 }, (_, i) => `a${i}`).join('&');
  const { message } = (await store.call('GET', `/pets?${names}&limit=x&limit=y`)).body;
  assert.match(
    message,
    /"a9" is not a query parameter of this operation either\. 190 more values are wrong\.$/,
  );
});

test('a query of more than 200 parameters is refused before it is parsed', async (t) => {
  const store = await startPetstore(t);
  const ask = (count: number) => store.call('GET', `/pets?${Array(count).fill('status=sold').join('&')}`);
  assert.match((await ask(200)).body.message, /status must be sent once/);
  assert.match((await ask(201)).body.message, /more than 200 parameters/);
});
