import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../../src/api/operations.ts';
import { events } from '../../../src/store/events/schema.ts';
import { assertMessage, eventsDescription } from '../../support/asyncapi.ts';
import { description, inJsonSchema, resolve } from '../../support/description.ts';

const { channels, components } = eventsDescription;
const types = events.map(({ type }) => type);

test('the stream has every event, and webhooks also have the messages that are no events', () => {
  assert.deepEqual(Object.keys(channels.stream.messages), types);
  assert.deepEqual(Object.keys(channels.webhookMessages.messages), [...types, 'ping', 'events.missed']);
  for (const { messages } of Object.values<{ messages: object }>(channels))
    for (const { name, title, summary, payload } of Object.values(messages)) {
      const schema = resolve(payload, eventsDescription);
      const { const: type } = (schema.properties as { type: { const: string } }).type;
      assert.deepEqual([name, payload.$ref.split('/').at(-1), summary], [type, title, schema.description]);
    }
});

test('the schemas of messages equal those of OpenAPI 3.1, with their names as titles', () => {
  const { schemas } = inJsonSchema.get(description).components;
  for (const [name, schema] of Object.entries(components.schemas))
    assert.deepEqual(schema, { title: name, ...schemas[name] }, name);
});

test('the headers of webhooks equal those in OpenAPI 3.1', () => {
  const { webhooks } = inJsonSchema.get(description);
  const { properties, required } = components.messageTraits.signed.headers;
  for (const { post } of Object.values<{ post: { parameters: Parameter[] } }>(webhooks)) {
    for (const { name, description, example } of post.parameters)
      assert.deepEqual(properties[name], { type: 'string', description, examples: [example] });
    assert.equal(Object.keys(properties).length, post.parameters.length);
    assert.deepEqual(required, Object.keys(properties));
  }
});

type Parameter = { name: string; description: string; example: string };

test('the stream channel matches its operation', () => {
  const { summary, description, bindings } = eventsDescription.operations.streamEvents;
  const operation = operations.find(({ id }) => id === 'streamEvents');
  assert.deepEqual(
    [channels.stream.address, summary, description],
    [operation?.path, operation?.summary, operation?.description],
  );
  assert.deepEqual(Object.keys(bindings.http.query.properties), Object.keys(operation?.query ?? {}));
});

test('every example of a message is valid, and a changed one is not', () => {
  for (const { payload } of Object.values<{ payload: { $ref: string } }>(channels.stream.messages)) {
    const [example] = resolve(payload, eventsDescription).examples as [{ id: number; type: string }];
    const fields = { id: String(example.id), event: example.type };
    assertMessage('stream', fields, example);
    assert.throws(() => assertMessage('stream', { ...fields, id: 'x' }, example));
    assert.throws(() => assertMessage('stream', fields, { ...example, data: 1 } as never));
    assert.throws(() => assertMessage('stream', fields, { ...example, more: 1 } as never));
    assert.throws(() => assertMessage('webhookMessages', fields, example));
  }
});
