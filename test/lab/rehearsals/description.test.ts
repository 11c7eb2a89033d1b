import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/reference/description/schemas.ts';
import { apis, description, labDescription, resolve } from '../../support/description.ts';
import { startPetstore } from '../../support/petstore.ts';

/** All values within a value, and the value itself. */
function* valuesIn(value: unknown): Generator<unknown> {
  yield value;
  if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) yield* valuesIn(part);
}

/** The paths of a description, with the examples of their parameters. */
const pathsWithExamples = (document: JsonObject) =>
  Object.entries(document.paths as JsonObject).flatMap(([path, item]) =>
    Object.values(item as JsonObject).map((operation) => {
      const given = (operation as JsonObject).parameters as JsonObject[];
      const parameters = given.map((one) => resolve(one, document));
      return path.replace(/{(\w+)}/g, (_, name) => {
        const parameter = parameters.find((one) => one.name === name) as JsonObject;
        return String(parameter.example ?? resolve(parameter.schema as JsonObject, document).example);
      });
    }),
  );

for (const { start, url, description } of apis) {
  test(`each address in an example of a header field at ${start} is an existing path`, () => {
    const paths = new Set(pathsWithExamples(description));
    const named = [...valuesIn(description.components.headers)]
      .filter((value) => typeof value === 'string')
      .flatMap((text) => [...text.matchAll(/https?:\/\/[^>?"\s]+/g)].map(([address]) => address))
      .filter((address) => address.startsWith(url));
    assert.ok(named.length >= 2);
    for (const address of named) assert.ok(paths.has(address.slice(url.length)), address);
  });
}

test('examples of lab ids have the prefix of their kind', () => {
  const texts = JSON.stringify(labDescription.paths) + JSON.stringify(labDescription.components);
  const kinds = [...texts.matchAll(/\/(rehearsals|recordings)\/(\w{3})_\d{12}/g)];
  assert.ok(kinds.length > 0);
  for (const [, list, kind] of kinds) assert.equal(kind, list === 'rehearsals' ? 'rhs' : 'rec');
  const { parameters, schemas } = labDescription.components;
  assert.match(parameters.rehearsalId.example, /^rhs_\d{12}$/);
  assert.match(schemas.Rehearsal.example.id, /^rhs_\d{12}$/);
});

test('header fields of the lab mention no bans, and no ETag of a pet', () => {
  const [lab, store] = [labDescription.components, description.components];
  assert.doesNotMatch(JSON.stringify(lab.headers), /\bban/);
  assert.notEqual(lab.headers.ETag.example, store.headers.ETag.example);
  assert.notEqual(lab.parameters.IfNoneMatch.example, store.parameters.IfNoneMatch.example);
});

test('the example of a fault matches the catalogue', async (t) => {
  const store = await startPetstore(t);
  const { example } = labDescription.components.schemas.Fault;
  const faults: JsonObject[] = (await store.send('GET', '/lab/faults')).body;
  const real = faults.find(({ name }) => name === example.name) as JsonObject;
  const completed = { ...example, parameters: real.parameters, operations: real.operations };
  assert.deepEqual(completed, real);
  const operations = new Set(real.operations as string[]);
  for (const id of example.operations) assert.ok(operations.has(id), id);
  for (const { name } of example.parameters)
    assert.ok((real.parameters as JsonObject[]).some((one) => one.name === name));
});

test('the example of a rehearsal is the response to its example request', async (t) => {
  const store = await startPetstore(t);
  const { requestBody, responses } = labDescription.paths['/rehearsals'].post;
  const { example: body } = requestBody.content['application/json'];
  const { example } = responses[201].content['application/json'];
  const made = (await store.send('POST', '/lab/rehearsals', { body })).body;
  const lastsMs = (one: JsonObject) => Date.parse(String(one.expiresAt)) - Date.parse(String(one.createdAt));
  assert.equal(lastsMs(made), lastsMs(example));
  const { id, createdAt, expiresAt } = made;
  assert.deepEqual({ ...example, id, createdAt, expiresAt }, made);
});

test('responses about rehearsals have no closed list of values, so a later version may add some', () => {
  const answers = Object.values(labDescription.paths as JsonObject)
    .flatMap((item) => Object.values(item as JsonObject) as JsonObject[])
    .filter(({ tags }) => (tags as string[]).includes('Rehearsals'))
    .map(({ responses }) => responses);
  const seen = new Set<unknown>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if ('$ref' in value) look(resolve(value as JsonObject, labDescription));
    assert.ok(!('enum' in value), JSON.stringify(value));
    for (const part of Object.values(value)) look(part);
  };
  for (const answer of answers) look(answer);
  assert.ok(seen.size > 100);
});
