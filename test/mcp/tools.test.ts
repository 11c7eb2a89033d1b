import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { annotationsOf, toolsFor } from '../../src/mcp/tools.ts';
import { guides } from '../../src/reference/description/guides.ts';
import { pinnedTool, testTool } from '../../tools/support/tool.ts';
import { baseUrl } from '../support/description.ts';
import { startPetstore } from '../support/petstore.ts';
import { idsOf } from '../support/values.ts';
import { call, connectAgent, type Result, type Revision, revisions } from './agents.ts';

const tools = toolsFor(true);
const ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);

const shared = await startPetstore({ after });
const origin = await shared.listen();

/** A call of each tool that succeeds in a seeded store, in this order. */
const calls: Record<string, object> = {
  find_categories: { limit: 2 },
  find_pets: { status: 'available', categoryId: 1, id: [1, '2'] },
  add_pet: { name: 'Ada', categoryId: 2, idempotencyKey: 'ada' },
  get_stock: { petId: 1 },
  set_stock: { petId: 2, quantity: 9 },
  find_orders: { complete: false, petId: 1 },
  place_order: { petId: 13, quantity: 2, shipDate: '2026-12-24T12:00:00Z', idempotencyKey: 'order' },
  fulfil_order: { orderId: 2 },
  cancel_order: { orderId: 5 },
  read_events: { after: 0, type: ['pet.created'], limit: 5 },
  get_limits: {},
};

const sdk = pinnedTool(
  'MCP TypeScript SDK',
  'modelcontextprotocol/typescript-sdk',
  'Sends requests',
  '@modelcontextprotocol/client',
);

for (const revision of Object.keys(revisions) as Revision[])
  testTool(
    sdk,
    {
      called: '`listTools` and `callTool`',
      asserts: `${revision}: every tool does its task, and its result matches its schema.`,
      runs: true,
    },
    async (t) => {
      const store = await startPetstore(t);
      const agent = await connectAgent(t, await store.listen(), store.key, revision);
      assert.equal(agent.getNegotiatedProtocolVersion(), revision);
      const listed = (await agent.listTools()).tools;
      assert.deepEqual(
        listed.map(({ name }) => name),
        Object.keys(calls),
      );
      const results: Record<string, Result> = {};
      for (const { name, inputSchema, outputSchema } of listed) {
        const given = calls[name] as object;
        assert.ok(ajv.compile(inputSchema)(given), `${name}: ${ajv.errorsText()}`);
        const result = await call(agent, name, given);
        assert.equal(result.isError, false, `${name}: ${JSON.stringify(result)}`);
        const fits = (content: unknown) => ajv.validate(outputSchema as object, content);
        assert.ok(fits(result.content), `${name}: ${ajv.errorsText()}`);
        const [first] = Object.keys(result.content) as [string];
        assert.ok(!fits({ ...result.content, [first]: null }), `${name}: the schema says what ${first} is`);
        results[name] = result;
      }
      assert.deepEqual(idsOf(results.find_pets?.content.pets), [1, 2]);
      assert.equal(results.find_categories?.content.categories.length, 2);
      assert.equal((await store.call('GET', '/pets/21')).body.name, 'Ada');
      assert.equal((await store.call('GET', '/inventory/2')).body.quantity, 9);
      assert.equal((await store.call('GET', '/store/orders/9')).body.shipDate, '2026-12-24T12:00:00Z');
      assert.equal((await store.call('GET', '/store/orders/2')).body.complete, true);
      assert.equal((await store.call('GET', '/store/orders/5')).status, 404);
      assert.equal(results.read_events?.content.events[0].data.name, 'Ada');
      assert.equal(results.get_limits?.content.plan, 'enterprise');
    },
  );

test('a read-only tool changes nothing, and a repeated call changes nothing more', async (t) => {
  const store = await startPetstore(t);
  await store.holdLimits();
  const agent = await connectAgent(t, await store.listen(), store.key);
  for (const { name, annotations } of (await agent.listTools()).tools) {
    const before = await store.content();
    await call(agent, name, calls[name]);
    const once = await store.content();
    assert.equal(once === before, annotations?.readOnlyHint, name);
    await call(agent, name, calls[name]);
    assert.equal(await store.content(), once, name);
    assert.equal(annotations?.idempotentHint, true);
  }
});

test('a tool is marked destructive if it changes or removes something by its id', () => {
  const destructive = tools.filter((tool) => annotationsOf(tool).destructiveHint).map(({ name }) => name);
  assert.deepEqual(destructive, ['set_stock', 'fulfil_order', 'cancel_order']);
});

test('pages continue by their cursor, and events by their position', async (t) => {
  const store = await startPetstore(t);
  const agent = await connectAgent(t, await store.listen(), store.key);
  const names: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { content } = await call(agent, 'find_pets', { limit: 7, ...(cursor && { cursor }) });
    names.push(...content.pets.map(({ name }: { name: string }) => name));
    cursor = content.nextCursor;
    if (!cursor) break;
  }
  assert.equal(names.length, 20);
  const { content: first } = await call(agent, 'read_events');
  await call(agent, 'add_pet', calls.add_pet);
  const { content: news } = await call(agent, 'read_events', { after: first.position });
  assert.equal(news.events[0].type, 'pet.created');
  assert.equal(news.position, news.events.at(-1).id);
});

test('guides are resources, with the served text', async (t) => {
  for (const revision of Object.keys(revisions) as Revision[]) {
    const agent = await connectAgent(t, origin, shared.key, revision);
    const { resources } = await agent.listResources();
    assert.deepEqual(
      resources.map(({ name }) => name),
      guides(baseUrl).map(({ name }) => name),
    );
    for (const { uri, mimeType } of resources) {
      const { contents } = await agent.readResource({ uri });
      const served = await shared.send('GET', new URL(uri).pathname, { key: null });
      assert.deepEqual(contents, [{ uri, mimeType, text: served.text }]);
    }
    assert.deepEqual((await agent.listResourceTemplates()).resourceTemplates, []);
    await assert.rejects(agent.readResource({ uri: `${baseUrl}/guides/none.md` }), /none\.md/);
  }
});

test('the guide "Agents" lists the existing tools, also without a lab', async (t) => {
  for (const lab of [true, false]) {
    const store = await startPetstore(t, { seed: false, lab });
    const agent = await connectAgent(t, await store.listen(), store.key);
    const listed = (await agent.listTools()).tools;
    const { text } = await store.send('GET', '/guides/agents.md', { key: null });
    const rows = [...text.matchAll(/^\| `(\w+)` \| (.*) \| `\w+ \S+` \|$/gm)];
    const cost = / It (?:counts as one|does not count as a) request\.$/;
    assert.deepEqual(
      rows.map(([, name, does]) => [name, does]),
      listed.map(({ name, description }) => [name, description?.replace(cost, '')]),
    );
    for (const { name, description } of listed) assert.match(description ?? '', cost, name);
    assert.equal(rows.length, lab ? 11 : 10);
  }
});

test('a call counts as one request, except free calls', async (t) => {
  const { key } = await shared.addKey('free');
  const agent = await connectAgent(t, origin, key);
  const remaining = async () => (await call(agent, 'get_limits')).content.minute.remaining;
  await agent.listTools();
  await agent.listResources();
  assert.equal(await remaining(), 60);
  let left = 60;
  for (const { name, description } of (await agent.listTools()).tools) {
    await call(agent, name, calls[name]);
    if (/ It counts as one request\.$/.test(description as string)) left--;
    assert.equal(await remaining(), left, name);
  }
  assert.equal(left, 60 - 10);
});
