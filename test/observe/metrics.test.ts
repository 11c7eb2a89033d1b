import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from '../support/petstore.ts';

test('/metrics tells requests, latency, limit decisions, bans and storage, without any key or id', async (t) => {
  const store = await startPetstore(t);
  const { key, id } = await store.addKey('enterprise', { perMinute: 2, perDay: 100 });
  for (let i = 0; i < 13; i++) await store.call('GET', '/pets/1', { key });
  await store.call('POST', '/categories', { body: { name: 'Dragons' } });
  await store.call('GET', '/nowhere', { key: null });
  const { status, headers, text } = await store.send('GET', '/metrics', { key: null });
  assert.equal(status, 200);
  assert.match(headers['content-type'] as string, /^text\/plain/);
  const value = (line: string) =>
    Number(
      text
        .split('\n')
        .find((entry) => entry.startsWith(`${line} `))
        ?.split(' ')[1],
    );
  assert.equal(value('petstore_requests_total{operation="getPet",status="200"}'), 2);
  assert.equal(value('petstore_requests_total{operation="getPet",status="429"}'), 10);
  assert.equal(value('petstore_requests_total{operation="getPet",status="403"}'), 1);
  assert.equal(value('petstore_requests_total{operation="createCategory",status="201"}'), 1);
  assert.equal(value('petstore_requests_total{operation="none",status="401"}'), 1);
  assert.equal(value('petstore_request_duration_seconds_count{operation="getPet"}'), 13);
  assert.equal(value('petstore_limit_decisions_total{plan="enterprise",outcome="limited"}'), 10);
  assert.equal(value('petstore_limit_decisions_total{plan="enterprise",outcome="banned"}'), 1);
  assert.equal(value('petstore_limit_decisions_total{plan="none",outcome="admitted"}'), 1);
  assert.equal(value('petstore_bans_total{plan="enterprise"}'), 1);
  assert.ok(value('petstore_storage_operations_total{kind="commits"}') >= 2);
  for (const secret of [key, id, store.key, '127.0.0.1']) assert.ok(!text.includes(secret));
});
