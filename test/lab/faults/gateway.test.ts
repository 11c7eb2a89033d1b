import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertTouched, performedOf, rehearse } from '../../support/lab.ts';
import { startListening, startPetstore } from '../../support/petstore.ts';
import { openRaw, partsOf, rawRequest } from '../../support/raw-client.ts';
import { dragons, loggedStatuses } from '../../support/wire.ts';

for (const [fault, status, title] of [
  ['gateway-timeout', 504, '504 Gateway Timeout'],
  ['bad-gateway', 502, '502 Bad Gateway'],
] as const)
  test(`${fault}: ${status} with an HTML page, whatever the service would respond`, async (t) => {
    const store = await startPetstore(t);
    const rehearsal = await rehearse(store, [{ fault, times: 1_000 }]);
    for (const [method, path, options] of [
      ['GET', '/pets', {}],
      ['HEAD', '/pets/1', {}],
      ['GET', '/pets/999', {}],
      ['GET', '/pets?limit=x', {}],
      ['POST', '/categories', dragons],
      ['POST', '/categories', { body: '{' }],
      ['POST', '/categories', { body: `"${'x'.repeat(70_000)}"` }],
      ['DELETE', '/categories/3', {}],
    ] as const) {
      const answer = await store.call(method, path, options);
      const what = `${method} ${path}`;
      assert.equal(answer.status, status, what);
      assertTouched(answer, rehearsal, fault);
      assert.equal(answer.headers['content-type'], 'text/html', what);
      for (const name of ['etag', 'location', 'link', 'retry-after'])
        assert.equal(answer.headers[name], undefined, what);
      if (method === 'HEAD') assert.equal(answer.text, '');
      else assert.ok(answer.text.includes(`<h1>${title}</h1>`), what);
    }
    assert.deepEqual(loggedStatuses(store, fault), Array(8).fill(status));
    assert.ok(!store.log.some((line) => line.includes('"level":"error"')));
  });

test('gateway-timeout does not apply to streams, and bad-gateway does', async (t) => {
  const store = await startListening(t);
  const ask = () => openRaw(t, store).ask(rawRequest(store, 'GET', '/store/events/stream'));
  const { id } = await rehearse(store, ['gateway-timeout', 'bad-gateway']);
  assert.match(await ask(), /^HTTP\/1.1 502 /);
  assert.match(await ask(), /^HTTP\/1.1 200 /);
  assert.deepEqual(await performedOf(store, id), [0, 1]);
});

test('the page is one complete response, and its connection stays usable', async (t) => {
  const store = await startListening(t);
  await rehearse(store, [{ fault: 'gateway-timeout', times: 2 }, 'bad-gateway']);
  const client = openRaw(t, store);
  const get = rawRequest(store, 'GET', '/pets/1');
  for (const status of [504, 504, 502, 200]) {
    const answer = await client.ask(get);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
    const { announced, body } = partsOf(answer);
    assert.equal(body.length, announced);
  }
});
