import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { clockAt } from '../support/clock.ts';
import { fetchChecked } from '../support/petstore.ts';
import { startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';

const clock = clockAt(Date.parse('2026-06-01T12:00:00Z'));

test('a new plan and a new secret survive kill -9, and the key of the demo stays', async (t) => {
  const folder = await temporaryStorage(t);
  const env = { ...clock.env, PETSTORE_SIGNUP: 'open' };
  const before = await startService(t, folder, env);
  const demoKey = readFileSync(join(folder, 'demo.key'), 'utf8').trim();
  const post = async (path: string, key: string, body: object) =>
    (await fetchChecked(before.origin, 'POST', path, { start: '', key, body })).body;
  const { key: old, keyId } = await post('/accounts', demoKey, { name: 'Ada' });
  assert.equal((await post('/accounts/me/plan', old, { plan: 'pro' })).plan, 'pro');
  const { key } = await post('/accounts/me/key', old, {});
  await before.stop('SIGKILL');

  const { origin } = await startService(t, folder, env);
  const own = async (key: string) =>
    (await fetchChecked(origin, 'GET', '/accounts/me', { start: '', key })).body;
  for (const secret of [key, old]) {
    const account = await own(secret);
    assert.deepEqual([account.keyId, account.plan], [keyId, 'pro']);
  }
  assert.equal(readFileSync(join(folder, 'demo.key'), 'utf8').trim(), demoKey);
  assert.equal((await own(demoKey)).workspace, 'demo');
});
