import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operations } from '../../../src/api/operations.ts';
import { errorCodes } from '../../../src/foundation/errors.ts';
import { labUrlOf } from '../../../src/http/target.ts';
import { events } from '../../../src/store/events/schema.ts';
import { baseUrl, description, resolve, validator } from '../../support/description.ts';
import { restart } from '../../support/limits.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';

const maxCharacters = 12_000;

const store = await startPetstore({ after });
const read = async (petstore: Petstore) => (await petstore.send('GET', '/llms.txt', { key: null })).text;

test('llms.txt has one line for each operation, with its query and a valid body', async () => {
  const text = await read(store);
  assert.ok(text.length <= maxCharacters, String(text.length));
  const lines = [...text.matchAll(/^- `([A-Z]+ \/\S*)`: (.+)$/gm)];
  assert.deepEqual(
    lines.map(([, operation]) => operation),
    operations.map(({ method, path }) => `${method} ${path}`),
  );
  for (const [i, [, name = '', line = '']] of lines.entries()) {
    const { method, path, query, deprecated } = operations[i] as (typeof operations)[number];
    const described = description.paths[path][method.toLowerCase()];
    const sentence = /^.*?\.(?= |$)/.exec(line)?.[0] as string;
    assert.ok(described.description.startsWith(sentence), name);
    const [, names = ''] = /Query: ([^.]+)\./.exec(line) ?? [];
    assert.deepEqual(names.match(/\w+/g) ?? [], Object.keys(query), name);
    assert.equal(line.includes('Deprecated: use'), deprecated !== undefined, name);
    const [, body] = /Body: `(\{.*\})`\./.exec(line) ?? [];
    assert.equal(body !== undefined, described.requestBody !== undefined, name);
    if (body === undefined) continue;
    const [{ schema }] = Object.values<{ schema: object }>(described.requestBody.content) as [
      { schema: never },
    ];
    assert.ok(validator(resolve(schema))(JSON.parse(body)), name);
  }
});

test('llms.txt has every error code below its status, and every event type', async () => {
  const text = await read(store);
  for (const [code, [status]] of Object.entries(errorCodes))
    assert.match(text, new RegExp(`^- ${status}: .*\`${code}\``, 'm'));
  const types = events.map(({ type }) => type);
  assert.deepEqual(text.match(/(?<=^- `)\w+\.\w+(?=`: )/gm), types);
});

test('without a lab llms.txt keeps its size and its operations', async (t) => {
  const off = await restart(t, store, { beside: true, lab: false });
  const text = await read(off);
  assert.ok(!text.includes(labUrlOf(baseUrl)));
  assert.equal(text.match(/^- `[A-Z]+ \//gm)?.length, operations.length);
});

type Event = { type: string; data: { id?: number } };

/** A small program that knows only llms.txt. It finds an operation by the description in its line. */
class Reader {
  readonly #text: string;
  readonly #header: [name: string, value: string];

  constructor(text: string, key: string) {
    this.#text = text;
    const [name = '', value = ''] = this.#find(/as `(.+: .+)` or/).split(': ');
    this.#header = [name.toLowerCase(), value.replace('KEY', key)];
  }

  #find(pattern: RegExp): string {
    const [, found] = pattern.exec(this.#text) ?? [];
    assert.ok(found, String(pattern));
    return found;
  }

  /** The operation whose line begins with these words: its URL, and the body of its example. */
  operation(words: string) {
    const line = this.#find(new RegExp(`^- (\`[A-Z]+ /\\S*\`: ${words}.*)$`, 'm'));
    const [, method = '', path = ''] = /^`([A-Z]+) (\S+)`/.exec(line) ?? [];
    const [, body] = /Body: `(\{.*\})`/.exec(line) ?? [];
    const [, query = ''] = /Query: (.+?)\./.exec(line) ?? [];
    const url = this.#find(/^- Base URL: (\S+)$/m) + path;
    return { method, url, body: body && JSON.parse(body), query: query.match(/\w+/g) ?? [] };
  }

  /** Sends a request, and returns the response. A POST has the header field that makes a retry safe. */
  async send(method: string, url: string, body?: object) {
    const [name, value] = this.#header;
    const again = this.#find(/Repeat a POST only with the same `(.+?)`/);
    const answer = await store.app.inject({
      method: method as 'GET',
      url: url.replace(/^https?:\/\/[^/]+/, ''),
      headers: {
        [name]: value,
        ...(body && { 'content-type': 'application/json' }),
        ...(method === 'POST' && { [again]: crypto.randomUUID() }),
      },
      ...(body && { payload: JSON.stringify(body) }),
    });
    assert.ok(answer.statusCode < 300, answer.body);
    for (const [, field = ''] of this.#find(/^- (`X-RateLimit.*)$/m).matchAll(/`(X-[\w-]+)`/g))
      assert.match(String(answer.headers[field.toLowerCase()]), /^\d+$/, field);
    return answer.json();
  }

  /** The event type whose line says this. */
  eventType = (words: string) => this.#find(new RegExp(`^- \`(\\w+\\.\\w+)\`: ${words}`, 'm'));
}

test('a program that reads only llms.txt lists, creates, orders and follows events', async () => {
  const reader = new Reader(await read(store), store.key);
  const list = reader.operation('Returns the pets');
  const pets = await reader.send(list.method, list.url);
  assert.ok(pets.length > 0);

  const history = reader.operation('Returns the events of');
  const before = await reader.send(history.method, history.url);
  const last = before.at(-1)?.id ?? 0;

  const add = reader.operation('Adds a pet');
  const pet = await reader.send(add.method, add.url, { ...add.body, categoryId: pets[0].categoryId });
  assert.equal(pet.name, add.body.name);

  const place = reader.operation('Places an order');
  const order = await reader.send(place.method, place.url, { ...place.body, petId: pet.id });
  assert.deepEqual([order.petId, order.quantity], [pet.id, place.body.quantity]);

  const [after] = history.query;
  const news = await reader.send(history.method, `${history.url}?${after}=${last}`);
  const byType = Map.groupBy(news as Event[], ({ type }) => type);
  const idsOf = (words: string) => byType.get(reader.eventType(words))?.map(({ data }) => data.id);
  assert.deepEqual(idsOf('A pet was added'), [pet.id]);
  assert.deepEqual(idsOf('An order was placed'), [order.id]);
});
