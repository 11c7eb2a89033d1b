import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { nextLink } from '../../../src/client/list.ts';
import { assertTouched, assertUntouched, endRehearsal, performedOf, rehearse } from '../../support/lab.ts';
import { type JsonAnswer, startListening, startPetstore } from '../../support/petstore.ts';
import { openRaw, rawRequest } from '../../support/raw-client.ts';
import { recordedIn, startRecording, valuesOf } from '../../support/recordings.ts';
import { requestOnce } from '../../support/request-once.ts';
import { countDragons, dragons, loggedStatuses } from '../../support/wire.ts';

const locationOf = ({ headers }: Pick<JsonAnswer, 'headers'>) => headers.location as string;

/** Creates the category by a URL, under any name of the host. */
const sendDragons = (url: string, headers: Record<string, string> = {}, method = 'POST') =>
  requestOnce(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(dragons.body),
  });

test('moved redirects without any change; the new path performs, counts and records the operation', async (t) => {
  const store = await startPetstore(t);
  const recording = await startRecording(store);
  const rehearsal = await rehearse(store, [{ fault: 'moved', operation: 'createCategory' }]);
  const keyed = { ...dragons, headers: { 'idempotency-key': 'k1' } };
  const before = await store.content();
  const redirect = await store.call('POST', '/categories', keyed);
  assert.equal(redirect.status, 307);
  assertTouched(redirect, rehearsal, 'moved');
  assert.equal(locationOf(redirect), `/v1/moved/${rehearsal.id}/categories`);
  assert.equal(await store.content(), before);
  const there = await store.send('POST', locationOf(redirect), keyed);
  assert.equal(there.status, 201);
  assertTouched(there, rehearsal, 'moved');
  assert.equal(await countDragons(store), 1);
  assert.deepEqual(await performedOf(store, rehearsal.id), [1]);
  assertUntouched(await store.call('POST', '/categories', keyed));
  assert.equal(await countDragons(store), 1);
  assert.deepEqual(
    valuesOf(await recordedIn(store, recording), 'operation', 'target', 'status', 'fault'),
    ['307 moved', '201 moved', '201'].map((shown) => `createCategory /v1/categories ${shown}`),
  );
});

test('moved responds with 307 or 308, with a path or a URL of the origin that the client uses', async (t) => {
  const store = await startListening(t);
  const { port } = store;
  const { id } = await rehearse(store, [{ fault: 'moved', status: 308, location: 'url', times: 9 }]);
  const at = `/v1/moved/${id}/pets?limit=1`;
  for (const [Host, location] of [
    ['localhost:8080', `http://localhost:8080${at}`],
    [`127.0.0.1:${port}`, `http://127.0.0.1:${port}${at}`],
    [`localhost:${port}`, `http://localhost:${port}${at}`],
    ['evil.example', at],
    ['127.0.0.1:1', at],
  ] as const) {
    const answer = await openRaw(t, store).ask(
      rawRequest(store, 'GET', '/pets?limit=1', { fields: { Host } }),
    );
    assert.match(answer, /^HTTP\/1.1 308 /);
    assert.equal(/^Location: (.*)\r$/im.exec(answer)?.[1], location);
  }
});

test('the new path works only for the key of its rehearsal, while it lasts', async (t) => {
  const store = await startPetstore(t);
  const other = await store.addWorkspace('other', true);
  const first = await rehearse(store, ['moved']);
  const path = `/v1/moved/${first.id}/pets/1`;
  assert.equal((await store.send('GET', path)).status, 200);
  assert.equal((await store.send('HEAD', path)).status, 200);
  assert.equal((await store.send('GET', path, { key: other.key })).status, 404);
  assert.equal((await store.send('GET', path, { key: null })).status, 401);
  for (const [method, gone, status] of [
    ['GET', '/v1/moved/rhs_000000000000/pets/1', 404],
    ['GET', `/v1/moved/${first.id}/openapi.json`, 404],
    ['GET', `/v1/moved/${first.id}/nothing`, 404],
    ['GET', `/v1/moved/${first.id}${path.slice(3)}`, 404],
    ['GET', `/lab/moved/${first.id}/account`, 404],
    ['POST', path, 405],
  ] as const)
    assert.equal((await store.send(method, gone)).status, status, gone);
  const { id } = await rehearse(store, ['reset']);
  for (const rehearsal of [first.id, id])
    assert.equal((await store.send('GET', `/v1/moved/${rehearsal}/pets/1`)).status, 404);
  const last = await rehearse(store, ['moved'], { expiresInSeconds: 60 });
  store.nowMs += 60_000;
  assert.equal((await store.send('GET', `/v1/moved/${last.id}/pets/1`)).status, 404);
  await endRehearsal(store, last.id);
  assert.equal((await store.send('GET', `/v1/moved/${last.id}/pets/1`)).status, 404);
});

test('no redirect leads to another, and other faults apply at the new path', async (t) => {
  const store = await startPetstore(t);
  const rehearsal = await rehearse(store, [
    { fault: 'moved', times: 100 },
    'large-ids',
    { fault: 'unavailable', after: 1 },
  ]);
  const redirect = await store.call('GET', '/pets?limit=1');
  assertTouched(redirect, rehearsal, 'moved');
  const there = await store.send('GET', locationOf(redirect));
  assertTouched(there, rehearsal, 'moved', 'large-ids');
  assert.match(there.headers.link ?? '', /\/v1\/pets\?limit=1&cursor=/);
  assert.equal((await store.send('GET', locationOf(redirect))).status, 503);
  assert.equal((await store.send('GET', locationOf(redirect))).status, 200);
  assert.equal((await performedOf(store, rehearsal.id))[0], 1);
});

test('without a lab nothing is redirected', async (t) => {
  const store = await startPetstore(t, { lab: false });
  assert.equal((await store.call('GET', '/moved/rhs_000000000000/categories/1')).status, 404);
});

/** Rehearses `moved-away` on a request, and returns the URL that it is redirected to. */
async function moveAway(t: TestContext, name = '127.0.0.1') {
  const store = await startListening(t);
  const { port } = store;
  const recording = await startRecording(store);
  const rehearsal = await rehearse(store, [{ fault: 'moved-away', operation: 'createCategory' }]);
  const redirect = await sendDragons(`http://${name}:${port}/v1/categories`, { 'x-api-key': store.key });
  assert.equal(redirect.status, 307, redirect.text);
  return { store, port, rehearsal, recording, url: locationOf(redirect) };
}

for (const [name, other] of [
  ['127.0.0.1', 'localhost'],
  ['localhost', '127.0.0.1'],
] as const)
  test(`moved-away redirects from ${name} to ${other}, and recordings show whether the client sent its key`, async (t) => {
    const { store, port, rehearsal, recording, url } = await moveAway(t, name);
    assert.match(url, new RegExp(`^http://${other}:${port}/v1/moved/[\\w-]{32}/categories$`));
    for (const headers of [{}, { 'x-api-key': store.key }, { authorization: `Bearer ${store.key}` }]) {
      const there = await sendDragons(url, headers);
      assert.equal(there.status, 201, there.text);
      assertTouched(there, rehearsal, 'moved-away');
    }
    assert.equal(await countDragons(store), 3);
    assert.deepEqual(await performedOf(store, rehearsal.id), [1]);
    const shown = (await recordedIn(store, recording)).map(({ status, fault, target, headers }) => {
      return [status, fault, target, headers.host, headers.authorization ?? headers['x-api-key']];
    });
    const kept = '(not kept)';
    const there = [201, 'moved-away', '/v1/categories', `${other}:${port}`];
    assert.deepEqual(shown, [
      [307, 'moved-away', '/v1/categories', `${name}:${port}`, kept],
      [...there, undefined],
      [...there, kept],
      [...there, kept],
    ]);
    assert.deepEqual(loggedStatuses(store, 'moved-away'), [307, 201, 201, 201]);
    assert.ok(!store.log.join().includes(new URL(url).pathname.split('/')[3] as string));
  });

test('a moved-away link works for one method and target, while the key and its rehearsal last', async (t) => {
  const { store, rehearsal, url } = await moveAway(t);
  for (const [method, other] of [
    ['GET', url],
    ['POST', `${url}?a=b`],
    ['DELETE', `${url}/1`],
    ['POST', url.replace(/moved\/(.)/, (_, first) => `moved/${first === 'a' ? 'b' : 'a'}`)],
    ['POST', url.replace('categories', 'pets')],
  ] as const)
    assert.equal((await sendDragons(other, {}, method)).status, 401, `${method} ${other}`);
  assert.equal((await sendDragons(url, { 'x-api-key': store.key })).status, 201);
  await endRehearsal(store, rehearsal.id);
  assert.equal((await sendDragons(url)).status, 404);
});

test('moved-away does not apply to requests that it cannot redirect within this machine', async (t) => {
  const store = await startListening(t);
  const { port } = store;
  const { id } = await rehearse(store, [{ fault: 'moved-away', times: 99 }]);
  for (const fields of [
    { Host: 'evil.example' },
    { Host: `evil.example:${port}` },
    { Host: 'localhost:1' },
    { Host: `127.0.0.1:${port}`, Via: '1.1 proxy' },
    { Host: '' },
  ])
    assert.match(
      await openRaw(t, store).ask(rawRequest(store, 'GET', '/pets', { fields })),
      /^HTTP\/1.1 200 /,
    );
  assertUntouched(await store.call('GET', '/pets'));
  assert.deepEqual(await performedOf(store, id), [0]);
});

test('under next-away every other page is at the other origin, which needs no key', async (t) => {
  const store = await startListening(t);
  const { port } = store;
  const recording = await startRecording(store);
  const rehearsal = await rehearse(store, ['next-away']);
  const names: string[] = [];
  const origins: string[] = [];
  const key = { authorization: `Bearer ${store.key}` };
  for (let url: string | undefined = `http://127.0.0.1:${port}/v1/pets?limit=6`; url; ) {
    const { origin } = new URL(url);
    const page = await fetch(url, { headers: origin.includes('127') ? key : {} });
    assert.equal(page.status, 200);
    origins.push(origin);
    names.push(...((await page.json()) as { name: string }[]).map(({ name }) => name));
    url = nextLink(page.headers.get('link'));
    // Links of the other origin lead to the base URL.
    if (!origin.includes('127')) url = url?.replace(/^http:\/\/[^/]*/, `http://127.0.0.1:${port}`);
    else assert.match(url ?? '', /\/v1\/moved\/[\w-]{32}\/pets\?limit=6&cursor=/);
  }
  const [own, other] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  assert.deepEqual(origins, [own, other, own, other]);
  assert.equal(new Set(names).size, 20);
  assert.deepEqual(await performedOf(store, rehearsal.id), [2]);
  const shown = (await recordedIn(store, recording)).map(({ fault, headers }) => [fault, headers.host]);
  assert.deepEqual(
    shown,
    [own, other, own, other].map((origin) => ['next-away', origin.slice(7)]),
  );
  const { checks } = (await store.send('GET', `${recording}/report`)).body;
  const found = checks.find(({ name }: { name: string }) => name === 'credentials.not-forwarded');
  assert.equal(found.result, 'passed');
});
