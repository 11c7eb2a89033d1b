import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/reference/description/schemas.ts';
import {
  description,
  labDescription,
  labIn,
  resolve,
  storeIn,
  validator,
} from '../../support/description.ts';

type Document = typeof description;
type Part = Record<string, unknown>;

const apis = [
  { name: 'the store', versions: [description, storeIn('3.1'), storeIn('3.2')] },
  { name: 'the lab', versions: [labDescription, labIn('3.1'), labIn('3.2')] },
] as const;

/** Parts that only OpenAPI 3.1 and 3.2 have: a second form of errors, and its schemas. */
const ofProblems = ['application/problem+json', 'Problem', 'FieldProblem'];

/** Converts a JSON Schema into the same schema in OpenAPI 3.0.3. */
function inOldWords(value: unknown, document: Document): unknown {
  if (Array.isArray(value)) return value.map((item) => inOldWords(item, document));
  if (typeof value !== 'object' || value === null) return value;
  const { const: constant, examples, anyOf, ...rest } = value as Part;
  const { type } = rest;
  return {
    ...Object.fromEntries(
      Object.entries(rest)
        .filter(([name]) => !ofProblems.includes(name))
        .map(([name, part]) => [name, name === 'example' ? part : inOldWords(part, document)]),
    ),
    ...(constant !== undefined && { enum: [constant] }),
    ...(Array.isArray(type) && { type: type[0], nullable: true }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map((one) => nullOf(one, anyOf[0], document)) }),
    // `examples` of a schema is an array. Those of a content are an object in both versions.
    ...(examples !== undefined && (Array.isArray(examples) ? { example: examples[0] } : { examples })),
  };
}

/** A variant of a union. null gets the type of the other variant, since OpenAPI 3.0.3 has no null. */
const nullOf = (variant: JsonObject, other: JsonObject, document: Document) =>
  variant.type === 'null'
    ? { type: resolve(other, document).type, nullable: true, enum: [null] }
    : inOldWords(variant, document);

const without = (document: Document, names: string[]) =>
  Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)));

for (const { name, versions } of apis) {
  const [in30, in31, in32] = versions;

  test(`OpenAPI 3.1 of ${name} describes the same as 3.0.3, in its own keywords`, () => {
    const { webhooks, ...old } = inOldWords(in31, in31) as Document;
    const expected = structuredClone(in30);
    const creation = expected.paths['/store/webhooks']?.post;
    const callbacks = creation?.callbacks;
    if (creation) delete creation.callbacks;
    assert.deepEqual({ ...old, ...(webhooks && { 'x-webhooks': webhooks }), openapi: '3.0.3' }, expected);
    assert.deepEqual(
      callbacks && Object.values<Part>(callbacks).map((callback) => Object.values(callback)[0]),
      webhooks &&
        Object.values<Document>(webhooks).map(({ post }) => ({
          post: { ...post, operationId: `${post.operationId}ByCallback` },
        })),
    );
  });

  test(`OpenAPI 3.1 of ${name} has no keywords that only 3.0 has`, () => {
    const text = JSON.stringify([in31.components.schemas, in31.webhooks ?? {}, in31.paths]);
    assert.doesNotMatch(text, /"nullable":/);
    assert.doesNotMatch(JSON.stringify(in31.components.schemas), /"(type":"\w+","enum":\["[\w.]+"\])/);
    assert.ok(!('x-webhooks' in in31));
    for (const [name, schema] of Object.entries<JsonObject>(in31.components.schemas))
      assert.ok(!('example' in schema), name);
  });

  test(`OpenAPI 3.2 of ${name} differs from 3.1 only in tags and streams`, () => {
    const { StreamedEvent: _, ...schemas } = in32.components.schemas;
    const copy = { ...in32, components: { ...in32.components, schemas }, paths: structuredClone(in32.paths) };
    const stream = (document: Document) => document.paths['/store/events/stream']?.get.responses[200].content;
    if (stream(in32)) copy.paths['/store/events/stream'].get.responses[200].content = stream(in31);
    assert.ok(!('x-tagGroups' in in32));
    const names = ['tags', 'openapi', 'x-tagGroups'];
    assert.deepEqual(without(copy, names), without(in31, names));
  });

  test(`OpenAPI 3.2 groups the tags of ${name} as the extension does`, () => {
    const tags = in32.tags as Part[];
    const groups = tags.filter(({ parent }) => parent === undefined);
    const children = (group: Part) => tags.filter(({ parent }) => parent === group.name);
    assert.deepEqual(
      groups.map((group) => ({ name: group.name, tags: children(group).map(({ name }) => name) })),
      in30['x-tagGroups'],
    );
    assert.deepEqual(
      tags.filter(({ parent }) => parent).map(({ name, description }) => ({ name, description })),
      in30.tags,
    );
    for (const { kind, parent, summary, name } of tags) {
      assert.equal(kind, 'nav');
      if (parent === 'API') assert.ok(summary, String(name));
    }
  });
}

test('OpenAPI 3.2 describes the events of a stream, and its example is a valid stream', () => {
  const in32 = storeIn('3.2');
  const { itemSchema, examples } =
    in32.paths['/store/events/stream'].get.responses[200].content['text/event-stream'];
  const item = resolve(itemSchema, in32) as JsonObject & { properties: { data: Part } };
  assert.deepEqual(item.properties.data.contentSchema, { $ref: '#/components/schemas/Event' });
  const blocks = examples.stream.serializedValue
    .split('\n\n')
    .filter((block: string) => block.includes('data: '));
  assert.ok(blocks.length > 0);
  const event = validator({ $ref: '#/components/schemas/Event' });
  for (const block of [...blocks, asBlock((item.examples as Part[])[0] as Part)]) {
    const fields = Object.fromEntries(block.split('\n').map((line: string) => line.split(/: (.*)/)));
    assert.ok(validator(item as JsonObject, in32)(fields), block);
    assert.ok(event(JSON.parse(fields.data)), block);
    assert.equal(JSON.parse(fields.data).type, fields.event);
  }
});

const asBlock = (item: Part) =>
  Object.entries(item)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
