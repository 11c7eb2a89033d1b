import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crash } from '../support/crash/rounds.ts';
import { fetchChecked } from '../support/petstore.ts';
import { ampleKey, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';

test('an answered write survives kill -9 at once after the answer', async (t) => {
  const folder = await temporaryStorage(t);
  const first = await startService(t, folder);
  const key = await ampleKey(folder);
  const body = { name: 'Phoenix', categoryId: 3 };
  const created = await fetchChecked(first.origin, 'POST', '/pets', { key, body });
  await first.stop('SIGKILL');
  const second = await startService(t, folder);
  const found = await fetchChecked(second.origin, 'GET', `/pets/${created.body.id}`, { key });
  assert.deepEqual(found.body, created.body);
});

test('kill -9 under load: answered writes are kept and told to readers and a webhook, others wholly or not at all', async (t) => {
  for await (const { answered, unanswered, received } of crash(t, 2, 20_261_121)) {
    assert.ok(answered > 0 && unanswered > 0 && received > 0, 'the service was ended while it worked');
  }
});
