import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from './support/petstore.ts';

const sunset = '2030-12-05T00:00:00Z';

test('a deprecated operation tells since when, until when, and where to go, whatever it answers', async (t) => {
  const store = await startPetstore(t);
  const guide = 'http://localhost:8080/reference#tag/versioning';
  for (const path of ['/pets/1', '/pets/4711', '/pets/x']) {
    const { headers } = await store.call('GET', path);
    assert.equal(headers.deprecation, '@1764892800');
    assert.equal(headers.sunset, 'Thu, 05 Dec 2030 00:00:00 GMT');
    assert.equal(
      headers.link,
      `<http://localhost:8080/v1/pets>; rel="successor-version", <${guide}>; rel="deprecation"; type="text/html", <${guide}>; rel="sunset"; type="text/html"`,
    );
  }
  assert.ok(!('deprecation' in (await store.call('GET', '/categories/1')).headers));
});

test('so do the answers to those who have it already, have no key, or have no room left', async (t) => {
  const store = await startPetstore(t);
  const { key } = await store.addKey('enterprise', { perMinute: 1, perDay: 100 });
  const { headers } = await store.call('GET', '/pets/1');
  const known = { 'if-none-match': headers.etag as string };
  const answers = [
    await store.call('GET', '/pets/1', { headers: known }),
    await store.call('HEAD', '/pets/1'),
    await store.call('GET', '/pets/1', { key: null }),
  ];
  for (let i = 0; i < 13; i++) answers.push(await store.call('GET', '/pets/1', { key }));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [304, 200, 401, 429, 403]);
  for (const { status, headers } of answers)
    assert.ok(headers.deprecation && headers.sunset && headers.link, `${status}`);
});

test('a deprecated operation is served after its sunset unless that is enforced', async (t) => {
  const store = await startPetstore(t);
  store.nowMs = Date.parse(sunset) + 1;
  assert.equal((await store.call('GET', '/pets/1')).status, 200);
});

test('with an enforced sunset it answers 410 from that very moment on, and names the successor', async (t) => {
  const store = await startPetstore(t, { enforceSunset: true });
  store.nowMs = Date.parse(sunset) - 1;
  assert.equal((await store.call('GET', '/pets/1')).status, 200);
  store.nowMs = Date.parse(sunset);
  const { status, body, headers } = await store.call('GET', '/pets/1');
  assert.deepEqual([status, body.code], [410, 'gone']);
  assert.match(body.message, /2030-12-05.*GET \/pets\b/);
  assert.ok(headers.sunset);
  assert.equal((await store.call('GET', '/pets?id=1')).body[0].name, 'Bella');
  assert.equal((await store.call('PUT', '/pets/1', { body: { name: 'B', categoryId: 1 } })).status, 200);
});

test('the operator sees once a day which keys still call it, and how many there are', async (t) => {
  const store = await startPetstore(t);
  const { key, keyId, workspaceId } = await store.addWorkspace('second', true);
  const told = () => store.log.map((line) => JSON.parse(line)).filter(({ msg }) => /deprecated/.test(msg));
  const metric = async (name: string) => {
    const text = await store.metrics();
    return Number(new RegExp(`^${name}{operation="getPet"} (\\d+)$`, 'm').exec(text)?.[1]);
  };
  await store.call('GET', '/categories/1', { key });
  await store.call('GET', '/pets/1', { key: null });
  // The router takes this for a pet without an id.
  await store.call('GET', '/pets/', { key });
  assert.deepEqual(told(), []);
  for (const path of ['/pets/1', '/pets/2', '/pets/4711']) await store.call('GET', path, { key });
  assert.equal(told().length, 1);
  const [{ operation, ...line }] = told();
  assert.deepEqual([operation, line.keyId, line.workspaceId], ['getPet', keyId, workspaceId]);
  await store.call('GET', '/pets/1');
  assert.equal(told().length, 2);
  assert.equal(await metric('petstore_deprecated_requests_total'), 4);
  assert.equal(await metric('petstore_deprecated_callers'), 2);
  store.nowMs += 24 * 60 * 60 * 1000;
  assert.equal(await metric('petstore_deprecated_callers'), 0);
  await store.call('GET', '/pets/1', { key });
  assert.equal(told().length, 3);
  assert.equal(await metric('petstore_deprecated_requests_total'), 5);
  assert.equal(await metric('petstore_deprecated_callers'), 1);
});
