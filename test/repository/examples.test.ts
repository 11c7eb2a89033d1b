import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/api/operations.ts';
import type { Operation } from '../../src/http/operation.ts';
import { sampleRequest } from '../../src/reference/description/samples.ts';
import type { JsonObject } from '../../src/reference/description/schemas.ts';
import { apis, description, resolve } from '../support/description.ts';
import { fillLab } from '../support/fill-lab.ts';
import { startPetstore } from '../support/petstore.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: JsonObject;
  example?: unknown;
}

const parametersOf = ({ path, method }: Operation, document = description): Parameter[] =>
  document.paths[path][method.toLowerCase()].parameters.map((parameter: JsonObject) =>
    resolve(parameter, document),
  );

/** The examples of an operation's input in a place. A list gives its items. */
const examplesIn = (
  place: Parameter['in'],
  operation: Operation,
  document = description,
): [name: string, text: string][] =>
  parametersOf(operation, document)
    .filter((parameter) => parameter.in === place)
    .flatMap(({ name, schema, example = resolve(schema, document).example }) =>
      [example].flat().map((value): [string, string] => [name, String(value)]),
    )
    .filter(([, text]) => text !== 'undefined');

function fits(name: string, value: string): boolean {
  const all = operations.flatMap((operation) => parametersOf(operation));
  const { schema } = all.find((parameter) => parameter.name === name) as Parameter;
  return new RegExp(schema.pattern as string, 'u').test(value);
}

for (const { start, operations, description } of apis) {
  test(`every example of an operation at ${start} works with the demo data, all at once and in the order of the description`, async (t) => {
    const store = await startPetstore(t);
    await fillLab(store);
    const origin = await store.listen();
    for (const operation of operations) {
      const { method, url, body } = sampleRequest(operation, '');
      const query = new URLSearchParams(examplesIn('query', operation, description));
      const path = `${url}?${query}`.replace(/\?$/, '');
      const headers = Object.fromEntries(examplesIn('header', operation, description));
      if (operation.success.kind === 'stream') {
        const authorization = `Bearer ${store.key}`;
        const answer = await fetch(`${origin}${start}${path}`, { headers: { ...headers, authorization } });
        assert.equal(answer.status, operation.success.status);
        await answer.body?.cancel();
        continue;
      }
      const answer = await store.send(method, start + path, { headers, body });
      assert.equal(answer.status, operation.success.status, `${method} ${path}: ${answer.text}`);
    }
  });
}

test('the example of an ETag is that of the example pet, and If-None-Match has that of another state', async (t) => {
  const store = await startPetstore(t);
  const { example } = description.components.headers.ETag;
  const { headers, body } = await store.call('GET', '/pets/1');
  assert.deepEqual(body, description.components.schemas.Pet.example);
  assert.equal(headers.etag, example);
  const [[, earlier] = []] = examplesIn('header', operations.find(({ id }) => id === 'getPet') as Operation);
  await store.call('PATCH', '/pets/1', { body: { status: 'pending' } });
  assert.equal((await store.call('GET', '/pets/1')).headers.etag, earlier);
});

test('an Idempotency-Key is accepted exactly if it matches its schema', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const taken = ['k', 'a"b', '~'.repeat(255), `"${'k y'.repeat(85)}"`, `"${'\\"\\\\'.repeat(127)}k"`];
  const refused = ['a b', 'é', '""', '"a', '"a"b"', '~'.repeat(256), `"${'~'.repeat(256)}"`, '"\\n"'];
  for (const value of [...taken, ...refused]) {
    const headers = { 'idempotency-key': value };
    const { status } = await store.call('POST', '/categories', { headers, body: { name: 'Dogs' } });
    assert.equal(status, taken.includes(value) ? 201 : 400, value);
    assert.equal(fits('Idempotency-Key', value), taken.includes(value), value);
  }
});

test('a malformed X-Request-Id is replaced, and its schema accepts every value', async (t) => {
  const store = await startPetstore(t, { seed: false });
  for (const [value, isKept] of Object.entries({
    a: true,
    ['~'.repeat(128)]: true,
    ['~'.repeat(129)]: false,
    'a b': false,
  })) {
    const { headers } = await store.call('GET', '/pets', { headers: { 'x-request-id': value } });
    assert.equal(headers['x-request-id'] === value, isKept, value);
    assert.ok(fits('X-Request-Id', value), value);
  }
});

test('entity tags that match their schema are accepted, others are refused', async (t) => {
  const store = await startPetstore(t);
  const accepted = ['*', '"a"', 'W/"a"', '"a","b"', '"a", W/"b", ""'];
  for (const value of [...accepted, 'a', '"a', '"a" "b"', '*, "a"', 'w/"a"']) {
    const { status } = await store.call('GET', '/pets/1', { headers: { 'if-none-match': value } });
    assert.equal(status !== 400, accepted.includes(value), value);
    assert.equal(fits('If-None-Match', value), accepted.includes(value), value);
  }
});
