import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseMs } from '../../../src/store/webhooks/lease-store.ts';
import { maxUnrecorded } from '../../../src/store/webhooks/retry-policy.ts';
import { clockAhead } from '../../support/clock.ts';
import { startReceiver } from '../../support/dispatching.ts';
import { fetchChecked } from '../../support/petstore.ts';
import { ampleKey, startService } from '../../support/service.ts';
import { aboutSqlite, temporaryStorage } from '../../support/storage.ts';
import { until } from '../../support/until.ts';
import { numbers } from '../../support/values.ts';

test('after kill -9 the service sends with the same secret, and repeats only attempts that were not on disk', async (t) => {
  const folder = await temporaryStorage(t);
  const receiver = await startReceiver(t);
  const send = (origin: string, path: string, body: object) =>
    fetchChecked(origin, 'POST', path, { key, body });
  // Its lease ends long after the test.
  const aheadMs = 9_000;
  const first = await startService(t, folder, { LOG_LEVEL: 'warn', ...clockAhead(aheadMs).env });
  const key = await ampleKey(folder);
  const { body: webhook } = await send(first.origin, '/store/webhooks', { url: receiver.url });
  const count = 150;
  const writing = Array.from({ length: count }, (_, n) =>
    send(first.origin, '/categories', { name: `Category ${n}` }).catch(() => {}),
  );
  await until(() => receiver.messages.length >= 20);
  await first.stop('SIGKILL');
  await Promise.all(writing);
  // On SQLite the lock of the folder proves that it is dead. On PostgreSQL it may be alive until its lease expires.
  const { env } = clockAhead(aboutSqlite ? aheadMs + leaseMs : 0);
  const second = await startService(t, folder, { LOG_LEVEL: 'warn', ...env });
  await send(second.origin, '/categories', { name: 'Last' });
  await until(() => receiver.messages.at(-1)?.body.includes('Last') ?? false);
  const ids = receiver.ids();
  const known = [...new Set(ids)];
  assert.deepEqual(known, numbers(known.length, ids[0]));
  assert.ok(ids.length - known.length <= maxUnrecorded, ids.join());
  for (const message of receiver.messages) receiver.verify(message, [webhook.secret]);
  assert.deepEqual(await second.stop('SIGTERM'), { code: 0, signal: null });
});
