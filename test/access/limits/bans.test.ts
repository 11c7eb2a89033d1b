import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clockWithLeft } from '../../support/clock.ts';
import { remaining, restart, startWithKey, times } from '../../support/limits.ts';
import { fetchChecked } from '../../support/petstore.ts';
import { createKeyWith, petstore, startService } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';
import { statusesOf } from '../../support/values.ts';

test('a key that keeps sending after 429 is banned: 60 s, then twice as long each time, up to an hour', async (t) => {
  const { store, ask: call } = await startWithKey(t, 'free');
  const lengths: number[] = [];
  for (let ban = 0; ban < 8; ban++) {
    // A minute that starts now, with any number of remaining requests.
    store.nowMs = Math.ceil(store.nowMs / 60_000) * 60_000;
    const statuses = statusesOf(await times(120, call));
    assert.deepEqual(statuses, [...Array(60).fill(200), ...Array(60).fill(429)]);
    const banned = await call();
    assert.deepEqual([banned.status, banned.body.code, remaining(banned)], [403, 'key_banned', 0]);
    const seconds = Number(banned.headers['retry-after']);
    assert.equal(banned.headers['x-ratelimit-reset'], String(store.nowMs / 1000 + seconds));
    lengths.push(seconds);
    store.nowMs += seconds * 1000 - 1;
    const still = await times(3, call);
    assert.ok(
      still.every(({ status, headers }) => status === 403 && headers['retry-after'] === '1'),
      'requests do not prolong a ban',
    );
    store.nowMs += 1;
    const after = await call();
    assert.deepEqual([after.status, remaining(after)], [200, 59], 'requests during a ban do not count');
    store.nowMs += 60_000;
  }
  assert.deepEqual(lengths, [60, 120, 240, 480, 960, 1920, 3600, 3600]);
});

test('after 24 h without a ban the next one is short again', async (t) => {
  const { store, ask } = await startWithKey(t, 'free');
  const ban = async () => Number((await times(121, ask)).at(-1)?.headers['retry-after']);
  assert.equal(await ban(), 60);
  store.nowMs += 24 * 60 * 60 * 1000 - 1;
  assert.equal(await ban(), 120);
  store.nowMs += 24 * 60 * 60 * 1000 + 60_000;
  assert.equal(await ban(), 60);
});

test('a plan of one request per minute allows ten strikes, and is named in the singular', async (t) => {
  const { ask } = await startWithKey(t, { perMinute: 1, perDay: 100 });
  const answers = await times(13, ask);
  assert.deepEqual(statusesOf(answers), [200, ...Array(10).fill(429), 403, 403]);
  assert.match(answers[1]?.body.message, /^The limit of 1 request per minute is used up\./);
});

test('counts and bans survive a restart', async (t) => {
  const { store, key: banned, ask } = await startWithKey(t, { perMinute: 1, perDay: 100 });
  const { key } = await store.addKey('free');
  await times(12, ask);
  await times(7, () => store.call('GET', '/pets/1', { key }));
  await times(5, () => store.call('GET', '/pets/1', { key: null }));
  const restarted = await restart(t, store);
  const askAgain = (key: string | null) => restarted.call('GET', '/pets/1', { key });
  assert.equal(remaining(await askAgain(key)), 52);
  assert.equal(remaining(await askAgain(null)), 54);
  restarted.nowMs += 59_999;
  assert.equal((await askAgain(banned)).status, 403);
  restarted.nowMs += 1;
  assert.equal((await askAgain(banned)).status, 200);
});

test('keys show lists use, strikes and ban; keys unban and keys plan reach a running server within a second', async (t) => {
  // All in one minute, so that no strike expires meanwhile.
  const clock = await clockWithLeft(30_000);
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder, ...clock.env };
  const service = await startService(t, folder, clock.env);
  const { id, key } = await createKeyWith(2, 100, env);
  const status = async () => (await fetchChecked(service.origin, 'GET', '/pets/1', { key })).status;
  const show = () => JSON.parse(petstore(['keys', 'show', id, '--json'], env).stdout);
  assert.deepEqual(await times(5, status), [200, 200, 429, 429, 429]);
  await sleep(1_000);
  const used = { minuteUsed: 2, minuteRemaining: 0, dayUsed: 2, dayRemaining: 98, strikes: 3, bans: 0 };
  assert.partialDeepStrictEqual(show(), used);
  assert.deepEqual((await times(8, status)).slice(-2), [429, 403]);
  await sleep(1_000);
  assert.ok(Date.parse(show().bannedUntil) > clock.now() + 50_000);
  assert.equal(petstore(['keys', 'unban', id], env).status, 0);
  await sleep(1_000);
  assert.notEqual(await status(), 403);
  assert.ok(!('bannedUntil' in show()));
  assert.equal(petstore(['keys', 'plan', id, 'pro'], env).status, 0);
  await sleep(1_000);
  const { headers, ...answer } = await fetchChecked(service.origin, 'GET', '/pets/1', { key });
  assert.deepEqual([answer.status, headers['x-ratelimit-limit']], [200, '300']);
});
