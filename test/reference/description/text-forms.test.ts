import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { operations } from '../../../src/api/operations.ts';
import { parseEntityTags } from '../../../src/http/etag.ts';
import { readIdempotencyKey } from '../../../src/http/idempotency.ts';
import { readCursor, writeCursor } from '../../../src/http/pagination.ts';
import { labOperations } from '../../../src/lab/petstore/petstore-api.ts';
import { describeLab, describeStore } from '../../../src/reference/description/apis.ts';
import { maxUrlLength, targetProblem, urlPattern } from '../../../src/store/webhooks/target-policy.ts';
import { baseUrl } from '../../support/description.ts';
import { startPetstore, testPolicy } from '../../support/petstore.ts';

interface Form {
  pattern: string;
  maxLength?: number;
}

const fits = (text: string, { pattern, maxLength = Number.POSITIVE_INFINITY }: Form) =>
  text.length <= maxLength && new RegExp(pattern, 'u').test(text);

/** The schemas of all parameters of this name, by the id of their operation. */
function formsOf(document: unknown, name: string): [string, Form][] {
  const { paths, components } = JSON.parse(JSON.stringify(document));
  type Described = { operationId: string; parameters?: { $ref?: string }[] };
  const described = Object.values<Record<string, Described>>(paths).flatMap(Object.values<Described>);
  return described.flatMap(({ operationId, parameters = [] }) =>
    parameters
      .map(({ $ref, ...own }) => ($ref ? components.parameters[$ref.split('/').at(-1) as string] : own))
      .filter((parameter) => parameter.name === name)
      .map(({ schema }): [string, Form] => [operationId, schema]),
  );
}

const documents = [describeStore(operations, baseUrl), describeLab(baseUrl)];
const lists = [...operations, ...labOperations].filter(({ success }) => success.kind === 'page');
const cursorForms = documents.flatMap((document) => formsOf(document, 'cursor'));

/** Text that differs a little from the given text. */
const nearly = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(text, fc.nat(), fc.nat(2), fc.constantFrom(...'ADMNOQTUgjkwxz059-_+= é'))
    .map(([whole, at, removed, added]) => {
      const start = at % (whole.length + 1);
      return whole.slice(0, start) + added.repeat(at % 2) + whole.slice(start + removed);
    });

test('every list describes its cursors', () => {
  assert.deepEqual(cursorForms.map(([id]) => id).sort(), lists.map(({ id }) => id).sort());
});

for (const [id, form] of cursorForms)
  test(`${id} accepts exactly the cursors that match its pattern`, () => {
    const numbers = fc
      .integer({ min: 1, max: 18 })
      .chain((digits) => fc.bigInt(0n, 10n ** BigInt(digits) - 1n))
      .map(String);
    const odd = fc.oneof(
      fc.stringMatching(/^\d{1,21}$/),
      fc.constantFrom('', '-1', '1.5', '1e3', '00', '+1', ' 1', '999999999999999999', '1000000000000000000'),
    );
    const some = fc.oneof(
      numbers.map((number) => writeCursor(id, number)),
      nearly(numbers.map((number) => writeCursor(id, number))),
      odd.map((text) => writeCursor(id, text)),
      fc.constantFrom(...lists).map((other) => writeCursor(other.id, 1)),
      fc.string(),
      fc.stringMatching(new RegExp(form.pattern)),
    );
    const isAsDescribed = fc.property(some, (cursor) =>
      assert.equal(fits(cursor, form), readCursor(id, cursor) !== undefined, cursor),
    );
    fc.assert(isAsDescribed, { numRuns: 500 });
    fc.assert(fc.property(numbers, (number) => fits(writeCursor(id, number), form)));
  });

test('a list returns 400 exactly for cursors that do not match the pattern', async (t) => {
  const store = await startPetstore(t);
  const [, form] = cursorForms.find(([id]) => id === 'listPets') as [string, Form];
  for (const cursor of [
    ...[0, 1, 20, 4711, '9007199254740993', '999999999999999999'].map((id) => writeCursor('listPets', id)),
    ...['01', '-1', '1000000000000000000'].map((id) => writeCursor('listPets', id)),
    ...[writeCursor('listOrders', 1), `${writeCursor('listPets', 1)}=`, 'x', ''],
  ]) {
    const { status } = await store.call('GET', `/pets?cursor=${cursor}`);
    assert.equal(status, fits(cursor, form) ? 200 : 400, cursor);
  }
  const cursor = writeCursor('listEvents', '999999999999999999');
  const { body } = await store.call('GET', `/store/events?cursor=${cursor}`);
  assert.match(body.message, /^Event 999999999999999999 does not exist yet/);
});

test('webhook URLs must match the pattern; a URL that matches is refused only because of its host', async () => {
  const form = { pattern: urlPattern, maxLength: maxUrlLength };
  const { components } = JSON.parse(JSON.stringify(documents[0]));
  for (const schema of ['NewWebhook', 'WebhookPatch']) {
    const { url } = components.schemas[schema].properties;
    assert.deepEqual([url.pattern, url.maxLength], [form.pattern, form.maxLength], schema);
  }
  const urls = fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.webUrl({ authoritySettings: { withUserInfo: true, withPort: true, withIPv4: true, withIPv6: true } }),
    fc.stringMatching(new RegExp(form.pattern, 'u')),
  );
  const texts = fc.oneof(
    urls,
    nearly(urls),
    urls.map((url) => url.replace('/', '\\')),
    urls.map((url) => `${url}\u0085`),
    urls.map((url) => url.toUpperCase()),
    fc.string({ unit: 'binary' }),
  );
  const ofForm = ['a complete https URL', 'a URL without user and password', 'a URL without a fragment'];
  fc.assert(
    fc.property(texts, (text) => {
      const problem = targetProblem(text, testPolicy);
      if (!fits(text, form)) assert.notEqual(problem, undefined, text);
      else if (URL.canParse(text)) assert.ok(!ofForm.includes(problem ?? ''), `${text}: ${problem}`);
    }),
    { numRuns: 2_000 },
  );
});

test('an Idempotency-Key that matches the pattern is accepted', () => {
  const [, form] = formsOf(documents[0], 'Idempotency-Key')[0] as [string, Form];
  const keys = fc.oneof(
    fc.stringMatching(new RegExp(form.pattern)),
    nearly(fc.stringMatching(new RegExp(form.pattern))),
    fc.string({ maxLength: 300 }),
    fc.constantFrom('""', '"a', 'a"', '"\\x"', '"\\""', `${'a'.repeat(256)}`, `"${'a'.repeat(256)}"`),
  );
  const isTaken = (key: string) => {
    try {
      readIdempotencyKey({ raw: { rawHeaders: ['Idempotency-Key', key] } } as FastifyRequest);
      return true;
    } catch {
      return false;
    }
  };
  // Others are not valid in a header field, so they never arrive.
  const arriving = keys.filter((key) => /^[!-~](?:[ -~]*[!-~])?$/.test(key));
  const isAsDescribed = fc.property(arriving, (key) => assert.equal(isTaken(key), fits(key, form), key));
  fc.assert(isAsDescribed, { numRuns: 1_000 });
});

test('If-Match and If-None-Match accept everything that matches their pattern', () => {
  for (const name of ['If-Match', 'If-None-Match']) {
    const [, form] = formsOf(documents[0], name)[0] as [string, Form];
    const tags = fc.stringMatching(new RegExp(form.pattern));
    fc.assert(fc.property(tags, (text) => void parseEntityTags(name, text)));
  }
});

test('any X-Request-Id is accepted, and a malformed one replaced; the description has no pattern for it', async (t) => {
  const store = await startPetstore(t);
  for (const document of documents)
    for (const [, form] of formsOf(document, 'X-Request-Id')) assert.equal(form.pattern, undefined);
  for (const [id, isKept] of [
    ['walk-1', true],
    ['~'.repeat(128), true],
    ['~'.repeat(129), false],
    ['a b', false],
    ['', false],
    ['é', false],
  ] as const) {
    const { status, headers } = await store.call('GET', '/pets', { headers: { 'x-request-id': id } });
    assert.equal(status, 200);
    assert.equal(headers['x-request-id'] === id, isKept, id);
  }
});
