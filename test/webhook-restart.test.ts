import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseMs } from '../src/webhooks/endpoint.ts';
import { clockAhead } from './support/clock.ts';
import { startReceiver } from './support/dispatching.ts';
import { fetchChecked } from './support/petstore.ts';
import { ampleKey, startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';
import { until } from './support/until.ts';

test('the service sends by itself, goes on after kill -9 with the same secret, and repeats at most one event', async (t) => {
  const folder = await temporaryStorage(t);
  const receiver = await startReceiver(t);
  const send = (origin: string, path: string, body: object) =>
    fetchChecked(origin, 'POST', path, { key, body });
  const first = await startService(t, folder, { LOG_LEVEL: 'warn' });
  const key = ampleKey(folder);
  const { body: webhook } = await send(first.origin, '/store/webhooks', { url: receiver.url });
  for (let n = 0; n < 10; n++) await send(first.origin, '/categories', { name: `Category ${n}` });
  await until(() => receiver.messages.length >= 5);
  await first.stop('SIGKILL');
  // By its clock the lease of the first has ended.
  const second = await startService(t, folder, { LOG_LEVEL: 'warn', ...clockAhead(leaseMs).env });
  await send(second.origin, '/categories', { name: 'Last' });
  await until(() => receiver.messages.at(-1)?.body.includes('Last') ?? false);
  const ids = receiver.messages.map(({ body }) => JSON.parse(body).id);
  assert.deepEqual(
    [...new Set(ids)],
    Array.from({ length: 11 }, (_, i) => ids[0] + i),
  );
  assert.ok(ids.length <= 12, ids.join());
  for (const { headers, body } of receiver.messages) receiver.signedNow(headers, body, [webhook.secret]);
  assert.deepEqual(await second.stop('SIGTERM'), { code: 0, signal: null });
});
