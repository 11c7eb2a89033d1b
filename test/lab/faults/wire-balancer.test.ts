import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { performedOf, rehearse } from '../../support/lab.ts';
import { type Changes, haproxy, nginx } from '../../support/load-balancers.ts';
import { type Petstore, type StoreSetup, startPetstore } from '../../support/petstore.ts';
import { dragons, loggedStatuses } from '../../support/wire.ts';

/** The different results of forty concurrent requests. */
const statusesOf = async (ask: (i: number) => Promise<unknown>) => [
  ...new Set(await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i)))),
];

const cuts = ['reset', 'lost-answer', 'truncated', 'stale-connection', 'stall', 'no-answer'];

for (const [balancer, tells] of [
  [nginx, 'proxy_set_header X-Forwarded-For $remote_addr;'],
  [haproxy, 'http-request set-header X-Forwarded-For %[src]'],
] as const) {
  /** Starts it in front of a service. `send` and `ask` send a request through it. `ask` returns the status or the failure. */
  async function start(
    t: TestContext,
    changes: Changes = {},
    trustProxy: StoreSetup['trustProxy'] = ['loopback'],
  ) {
    const store = await startPetstore(t, { trustProxy });
    const instance = Number(new URL(await store.listen()).port);
    const patient = { ...balancer.unhurried, ...changes };
    const port = await balancer.start(t, [instance, instance, instance], patient);
    const send = async (method: string, path: string, { body, ...fields }: Record<string, string> = {}) => {
      const headers = { 'x-api-key': store.key, 'content-type': 'application/json', ...fields };
      const answer = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
        method,
        headers: { ...headers, connection: 'close' },
        ...(body && { body }),
      });
      return { status: answer.status, etag: String(answer.headers.get('etag')), text: await answer.text() };
    };
    const ask = (method: string, key = store.key) => {
      const body = method === 'POST' ? { body: JSON.stringify(dragons.body) } : {};
      return send(method, '/categories', { 'x-api-key': key, ...body }).then(
        ({ status }) => status,
        ({ cause }) => cause.code as string,
      );
    };
    return { store, send, ask };
  }

  /** The status or failure of a request by each method, under a fault. */
  async function outcomes(store: Petstore, ask: (method: string) => Promise<unknown>, fault: string) {
    const seen = [];
    for (const method of ['GET', 'POST']) {
      await rehearse(store, [{ fault }]);
      seen.push(await ask(method));
    }
    return seen;
  }

  describe(`behind ${balancer.name}`, { ...balancer.needs, concurrency: true }, () => {
    test("with the client's address", async (t) => {
      const { store, ask } = await start(t);
      await t.test('no connection is cut, so no instance seems broken', async () => {
        const often = cuts.map((fault) => ({ fault, times: 1_000 }));
        const { id } = await rehearse(store, often);
        assert.deepEqual(await statusesOf(() => ask('GET')), [200]);
        assert.deepEqual(await performedOf(store, id), Array(cuts.length).fill(0));
      });

      await t.test('simulated failures remove no instance', async () => {
        const { key } = await store.addWorkspace('other', true);
        await rehearse(store, [{ fault: 'unavailable', times: 100 }]);
        assert.deepEqual(await statusesOf((i) => ask(i % 2 ? 'GET' : 'POST')), [503]);
        assert.deepEqual(await statusesOf(() => ask('GET', key)), [200]);
      });

      await t.test('responses come slowly and late', async () => {
        for (const [fault, parameters] of [
          ['slow', { bytesPerSecond: 5_000 }],
          ['delay', { delayMs: 100 }],
        ] as const) {
          await rehearse(store, [{ fault, ...parameters }]);
          const startMs = performance.now();
          assert.equal(await ask('GET'), 200);
          assert.ok(performance.now() - startMs >= 80, fault);
        }
      });
    });

    test("without the client's address, no connection is cut if TRUST_PROXY is set", async (t) => {
      const { store, ask } = await start(t, { [tells]: '' });
      for (const fault of cuts.slice(0, 3)) assert.deepEqual(await outcomes(store, ask, fault), [200, 201]);
      for (const fault of cuts) assert.deepEqual(loggedStatuses(store, fault), []);
    });

    test("without the client's address and TRUST_PROXY, clients see the balancer's response to a cut, and the next request succeeds", async (t) => {
      const { store, ask } = await start(t, { [tells]: '' }, false);
      // It retries a GET at the next instance, and returns 503 for a POST.
      assert.deepEqual(await outcomes(store, ask, 'reset'), [200, 503]);
      assert.deepEqual(await outcomes(store, ask, 'lost-answer'), [200, 503]);
      const tooShort = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
      assert.deepEqual(await outcomes(store, ask, 'truncated'), [tooShort, tooShort]);
      assert.equal(await ask('POST'), 201);
      for (const fault of cuts.slice(0, 3)) assert.equal(loggedStatuses(store, fault).length, 2);
    });

    test('a change that took effect is not sent again, so it gets no 412 or 404', async (t) => {
      const { store, send } = await start(t, { [tells]: '' }, false);
      const body = '{"name":"Rex","categoryId":1}';
      const lost = async (method: string, path: string, more: Record<string, string> = {}) => {
        await rehearse(store, [{ fault: 'lost-answer' }]);
        return (await send(method, path, more)).status;
      };
      const made = await send('POST', '/pets', { body });
      const path = `/pets/${JSON.parse(made.text).id}`;
      const changed = body.replace('Rex', 'Max');
      assert.equal(await lost('PUT', path, { body: changed, 'if-match': made.etag }), 503);
      const { etag, text } = await send('GET', path);
      assert.equal(JSON.parse(text).name, 'Max');
      assert.equal(await lost('PATCH', path, { body: '{"name":"Moritz"}', 'if-match': etag }), 503);
      assert.equal(await lost('DELETE', path), 503);
      assert.equal((await send('GET', path)).status, 404);
      // Only HAProxy repeats a POST. The second instance returns the first response.
      const keyed = await lost('POST', '/pets', { body, 'idempotency-key': 'one' });
      assert.equal(keyed, balancer === haproxy ? 201 : 503);
      // Reads were cut, too, and repeated.
      const cut = store.log.map((line) => JSON.parse(line)).filter(({ faults }) => faults === 'lost-answer');
      assert.deepEqual(
        cut.map(({ operation }) => operation),
        ['replacePet', 'getPet', 'updatePet', 'deletePet', 'getPet', 'createPet'],
      );
    });
  });
}
