/** Limits while the clock of the service is briefly wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearBan } from '../../../src/access/keys/store.ts';
import { remaining, restart, startWithKey, times } from '../../support/limits.ts';
import { type JsonAnswer, type Petstore, startPetstore } from '../../support/petstore.ts';
import { petstore } from '../../support/service.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const leapsMs = [minuteMs, 2 * minuteMs, 20 * hourMs, 3 * dayMs, 3_653 * dayMs];

/** Sets the clock of a store while `ask` runs. */
async function at(store: Petstore, nowMs: number, ask: () => Promise<unknown>) {
  const rightMs = store.nowMs;
  store.nowMs = nowMs;
  await ask();
  store.nowMs = rightMs;
}

/** Asserts that `t` of both windows is at most their length. */
function assertWithinWindows({ headers }: JsonAnswer): void {
  const [minute, day] = [...(headers.ratelimit as string).matchAll(/t=(\d+)/g)].map(([, t]) => Number(t));
  assert.ok((minute as number) <= 60 && (day as number) <= 86_400);
}

for (const [caller, hasKey] of [
  ['a key', true],
  ['an address', false],
] as const) {
  test(`after a clock that was briefly ahead ${caller} is blocked for two minutes at most, also after a restart`, async (t) => {
    let store = await startPetstore(t);
    for (const leapMs of leapsMs) {
      for (const restarts of [false, true]) {
        store.nowMs = Math.ceil(store.nowMs / dayMs + 1) * dayMs + 12 * hourMs;
        const key = hasKey ? (await store.addKey('free')).key : null;
        const ask = () => store.call('GET', '/pets/1', { key });
        await at(store, store.nowMs + leapMs, () => times(60, ask));
        if (restarts) store = await restart(t, store);
        const first = await ask();
        assertWithinWindows(first);
        const waitSeconds = Number(first.headers['retry-after'] ?? 0);
        assert.ok(waitSeconds <= 120, `${waitSeconds} s after ${leapMs} ms`);
        store.nowMs += waitSeconds * 1_000;
        assert.equal((await ask()).status, hasKey ? 200 : 401);
      }
    }
  });
}

test('a day and a ban continue after a clock that was briefly ahead', async (t) => {
  const { store, ask, statuses } = await startWithKey(t, { perMinute: 5, perDay: 12 });
  await times(5, ask);
  store.nowMs += minuteMs;
  await times(5 + 11, ask);
  assert.equal((await ask()).status, 403);
  for (const leapMs of leapsMs.slice(2)) {
    await at(store, store.nowMs + leapMs, () => times(5, ask));
    const { status, headers } = await ask();
    assert.deepEqual([status, headers['retry-after']], [403, '60']);
  }
  store.nowMs += minuteMs;
  assert.deepEqual(await statuses(3), [200, 200, 429]);
  await at(store, store.nowMs + 20 * hourMs, ask);
  const refused = await ask();
  assert.equal(refused.status, 429);
  assert.match(refused.body.message, /12 requests per day/);
});

test('a ban or a clearing made while the clock was ahead is void when it is right again', async (t) => {
  const { store, key, id, ask } = await startWithKey(t, { perMinute: 2, perDay: 100 });
  await at(store, store.nowMs + 20 * hourMs, async () => {
    assert.equal((await times(13, ask)).at(-1)?.status, 403);
    await store.db.write((sql) => clearBan(sql, id, store.nowMs));
  });
  store.app.startOver();
  await store.saveLimits();
  assert.equal((await ask()).status, 200);
  const account = await store.send('GET', '/lab/account', { key });
  assert.equal(account.body.minute.remaining, 1);
  assert.equal(account.body.ban.until, undefined);
  assert.equal((await times(12, ask)).at(-1)?.status, 403, 'the pardon was given ahead of the clock');
});

test('keys unban clears counts made ahead of the clock', async (t) => {
  const { store, id, ask } = await startWithKey(t, { perMinute: 2, perDay: 100 });
  store.nowMs = Date.now();
  // Less than a minute, so that the key is still limited.
  await at(store, store.nowMs + minuteMs, () => times(13, ask));
  assert.equal((await ask()).status, 403);
  const { status } = petstore(['keys', 'unban', id], { PETSTORE_DATA_DIR: store.folder });
  assert.equal(status, 0);
  store.app.startOver();
  const first = await ask();
  assert.deepEqual([first.status, remaining(first)], [200, 1]);
});

test('accounts from the future are removed once the day before them is over', async (t) => {
  const { store, ask } = await startWithKey(t, 'free');
  const kept = async () => {
    await store.saveLimits();
    await store.limiter.forgetOld(dayMs);
    return (await store.db.read`select 1 from limit_accounts`).length;
  };
  await ask();
  await at(store, store.nowMs + 3_653 * dayMs, ask);
  assert.equal(await kept(), 1);
  store.nowMs += dayMs;
  assert.equal(await kept(), 0);
});
