import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { clockAt } from '../support/clock.ts';
import { fetchChecked } from '../support/petstore.ts';
import { startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';

const clock = clockAt(Date.parse('2026-06-01T12:00:00Z'));

test('a new plan and a new secret survive kill -9, and the next start of the demo prints a key that works', async (t) => {
  const folder = await temporaryStorage(t);
  const before = await startService(t, folder, clock.env);
  const printed = () => readFileSync(join(folder, 'demo.key'), 'utf8').trim();
  const old = printed();
  const post = (what: string, key: string, body: object) =>
    fetchChecked(before.origin, 'POST', `/accounts/me/${what}`, { start: '', key, body });
  assert.equal((await post('plan', old, { plan: 'pro' })).status, 200);
  const { keyId, key } = (await post('key', old, {})).body;
  await before.stop('SIGKILL');

  const { origin } = await startService(t, folder, clock.env);
  const own = async (key: string) =>
    (await fetchChecked(origin, 'GET', '/accounts/me', { start: '', key })).body;
  for (const secret of [key, old]) {
    const account = await own(secret);
    assert.deepEqual([account.keyId, account.plan], [keyId, 'pro']);
  }
  assert.notEqual(printed(), old, 'the old secret works only for an hour');
  const demo = await own(printed());
  assert.deepEqual([demo.plan, demo.workspace], ['free', 'demo']);
});
