import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labDescription } from './support/description.ts';
import { type Petstore, startPetstore } from './support/petstore.ts';
import { startInstances } from './support/sharing.ts';
import { openStream } from './support/streams.ts';
import { until } from './support/until.ts';
import { needsValkey, startValkey } from './support/valkey.ts';

const accountOf = async (petstore: Petstore, key: string) => {
  const { status, body } = await petstore.send('GET', '/lab/account', { key });
  assert.equal(status, 200);
  return body;
};

/** When minute and day end, of the clock at which tests begin. */
const resets = {
  minute: Date.parse('2026-06-01T12:01:00Z') / 1000,
  day: Date.parse('2026-06-02T00:00:00Z') / 1000,
};

test('the account tells plan, workspace and what is left, and takes nothing from it', async (t) => {
  const petstore = await startPetstore(t);
  const { key, id } = await petstore.addKey('free');
  const fresh = {
    ...{ keyId: id, plan: 'free', workspace: 'first', strikes: 0, strikesAllowed: 60, openStreams: 0 },
    minute: { limit: 60, remaining: 60, reset: resets.minute },
    day: { limit: 1_000, remaining: 1_000, reset: resets.day },
    ban: { nextSeconds: 60 },
  };
  assert.deepEqual(await accountOf(petstore, key), fresh);
  const { headers } = await petstore.call('GET', '/pets', { key });
  const account = await accountOf(petstore, key);
  assert.equal(account.minute.remaining, 59);
  assert.equal(account.day.remaining, 999);
  assert.equal(String(account.minute.remaining), headers['x-ratelimit-remaining']);
  assert.equal(String(account.minute.reset), headers['x-ratelimit-reset']);
  assert.deepEqual(await accountOf(petstore, key), account);
});

test('the account tells strikes and a ban, also while it lasts, and how long the next would be', async (t) => {
  const petstore = await startPetstore(t);
  const { key } = await petstore.addKey('enterprise', { perMinute: 2, perDay: 100 });
  const send = async (count: number) => {
    for (let i = 0; i < count; i++) await petstore.call('GET', '/pets', { key });
  };
  await send(2 + 10);
  const before = await accountOf(petstore, key);
  assert.equal(before.minute.remaining, 0);
  assert.deepEqual([before.strikes, before.strikesAllowed], [10, 10]);
  assert.deepEqual(before.ban, { nextSeconds: 60 });
  await send(1);
  assert.equal((await petstore.call('GET', '/pets', { key })).body.code, 'key_banned');
  const ban = { since: '2026-06-01T12:00:00.000Z', until: '2026-06-01T12:01:00.000Z', nextSeconds: 120 };
  assert.deepEqual((await accountOf(petstore, key)).ban, ban);
  petstore.nowMs += 60_000;
  assert.deepEqual((await accountOf(petstore, key)).ban, { nextSeconds: 120 });
  petstore.nowMs += 86_400_000;
  assert.deepEqual((await accountOf(petstore, key)).ban, { nextSeconds: 60 });
});

test('the account tells what of the lab is active, until it ends', async (t) => {
  const petstore = await startPetstore(t);
  const start = async (path: string, body: object) =>
    (await petstore.send('POST', path, { body: { ...body, expiresInSeconds: 60 } })).body.id;
  const rehearsal = await start('/lab/rehearsals', { faults: [{ fault: 'internal-error' }] });
  const recording = await start('/lab/recordings', {});
  const account = await accountOf(petstore, petstore.key);
  const expiresAt = '2026-06-01T12:01:00.000Z';
  assert.deepEqual(account.rehearsal, { id: rehearsal, expiresAt });
  assert.deepEqual(account.recording, { id: recording, expiresAt });
  const other = await petstore.addKey('pro');
  assert.equal((await accountOf(petstore, other.key)).recording, undefined);
  await petstore.send('POST', `/lab/recordings/${recording}/end`);
  assert.equal((await accountOf(petstore, petstore.key)).recording, undefined);
  petstore.nowMs += 60_000;
  assert.equal((await accountOf(petstore, petstore.key)).rehearsal, undefined);
});

test('the account counts open streams', async (t) => {
  const petstore = await startPetstore(t);
  const { key } = await petstore.addKey('pro');
  const origin = await petstore.listen();
  await openStream(t, origin, { key });
  const second = await openStream(t, origin, { key });
  assert.equal((await accountOf(petstore, key)).openStreams, 2);
  assert.equal((await accountOf(petstore, petstore.key)).openStreams, 0);
  second.cut();
  await until(async () => (await accountOf(petstore, key)).openStreams === 1);
});

test(
  'over Valkey the account tells what all instances have counted, and without it what this one has',
  needsValkey,
  async (t) => {
    const valkey = await startValkey(t);
    const clock = () => Date.parse('2026-06-01T12:00:00Z');
    const stores = await startInstances(t, 2, { urls: [valkey.url], timeoutMs: 10_000, clock });
    const [first, second] = stores;
    const { key } = await first.addKey('enterprise', { perMinute: 3, perDay: 100 });
    for (const store of [first, second, first, second]) await store?.call('GET', '/pets/1', { key });
    for (const store of stores) {
      const { minute, day, strikes } = await accountOf(store, key);
      assert.deepEqual([minute.remaining, day.remaining, strikes], [0, 97, 1]);
    }
    await valkey.kill();
    const { minute, strikes } = await accountOf(first, key);
    assert.deepEqual([minute.remaining, strikes], [0, 0], 'as it was decided on last by this instance');
  },
);

test('the examples of the lab can be: a begun recording has no end, and each id is of its kind', () => {
  const exampleOf = (path: string, method: string, status: number) =>
    labDescription.paths[path][method].responses[status].content['application/json'].example;
  const begun = exampleOf('/recordings', 'post', 201);
  assert.deepEqual([begun.requests, 'endedAt' in begun], [0, false]);
  assert.ok('endedAt' in exampleOf('/recordings/{recordingId}/end', 'post', 200));
  const account = exampleOf('/account', 'get', 200);
  assert.match(account.rehearsal.id, /^rhs_/);
  assert.match(account.recording.id, /^rec_/);
  assert.deepEqual([account.minute.limit, account.day.limit], [60, 1_000]);
  assert.ok(account.minute.reset < account.day.reset);
});
