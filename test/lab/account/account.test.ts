import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearBan } from '../../../src/access/keys/store.ts';
import { labDescription } from '../../support/description.ts';
import { restart, startWithKey, times } from '../../support/limits.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { clock, startInstances } from '../../support/sharing.ts';
import { openStream } from '../../support/streams.ts';
import { until } from '../../support/until.ts';
import { needsValkey, startValkey } from '../../support/valkey.ts';
import { numbers } from '../../support/values.ts';

const accountOf = async (petstore: Petstore, key: string) => {
  const { status, body } = await petstore.send('GET', '/lab/account', { key });
  assert.equal(status, 200);
  return body;
};

/** The ends of the minute and the day at the start of the tests. */
const resets = {
  minute: Date.parse('2026-06-01T12:01:00Z') / 1000,
  day: Date.parse('2026-06-02T00:00:00Z') / 1000,
};

/** Limits that a few requests use up. */
const small = { perMinute: 2, perDay: 100 };

test('the account shows plan, workspace and remaining requests, and consumes none of them', async (t) => {
  const petstore = await startPetstore(t);
  const { key, id } = await petstore.addKey('free');
  const fresh = {
    ...{ at: '2026-06-01T12:00:00.000Z', sharing: 'off', binding: 'minute' },
    headers: {
      ...{ 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '60' },
      ...{ 'X-RateLimit-Reset': String(resets.minute), RateLimit: '"minute";r=60;t=60,"day";r=1000;t=43200' },
      'RateLimit-Policy': '"minute";q=60;w=60,"day";q=1000;w=86400',
    },
    ...{ keyId: id, plan: 'free', workspace: 'first', strikes: 0, strikesAllowed: 60, openStreams: 0 },
    minute: { limit: 60, remaining: 60, reset: resets.minute },
    day: { limit: 1_000, remaining: 1_000, reset: resets.day },
    ban: { nextSeconds: 60 },
  };
  assert.deepEqual(await accountOf(petstore, key), fresh);
  const { headers } = await petstore.call('GET', '/pets', { key });
  const account = await accountOf(petstore, key);
  const { minute, day } = account;
  assert.deepEqual([minute.remaining, day.remaining], [59, 999]);
  assert.equal(String(minute.remaining), headers['x-ratelimit-remaining']);
  assert.equal(String(minute.reset), headers['x-ratelimit-reset']);
  assert.deepEqual(await accountOf(petstore, key), account);
});

test('the account shows strikes, a ban while it lasts, and the length of the next ban', async (t) => {
  const { store: petstore, key, statuses, ask } = await startWithKey(t, small);
  await statuses(2 + 10);
  const before = await accountOf(petstore, key);
  assert.deepEqual([before.minute.remaining, before.strikes, before.strikesAllowed], [0, 10, 10]);
  assert.deepEqual(before.ban, { nextSeconds: 60 });
  await statuses(1);
  assert.equal((await ask()).body.code, 'key_banned');
  const { by, ...ban } = (await accountOf(petstore, key)).ban;
  const times = { since: '2026-06-01T12:00:00.000Z', until: '2026-06-01T12:01:00.000Z' };
  assert.deepEqual(ban, { ...times, nextSeconds: 120 });
  petstore.nowMs += 60_000;
  assert.deepEqual((await accountOf(petstore, key)).ban, { nextSeconds: 120 });
  petstore.nowMs += 86_400_000;
  assert.deepEqual((await accountOf(petstore, key)).ban, { nextSeconds: 60 });
});

test('the account has the limit header fields of the last response, and Retry-After if a request would be refused', async (t) => {
  const fieldsOf = (headers: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(headers)
        .map(([name, value]) => [name.toLowerCase(), value])
        .filter(([name]) => /ratelimit|retry-after/.test(name as string)),
    );
  const { store: petstore, key, ask, statuses } = await startWithKey(t, { perMinute: 3, perDay: 5 });
  const shown = async (): Promise<unknown[]> => {
    const { headers } = await ask();
    const account = await accountOf(petstore, key);
    if (headers['x-ratelimit-remaining'] === '0') assert.ok(account.headers['Retry-After']);
    else assert.deepEqual(fieldsOf(account.headers), fieldsOf(headers));
    return [account.binding, account.headers['X-RateLimit-Limit'], account.headers['Retry-After']];
  };
  assert.deepEqual(await shown(), ['minute', '3', undefined]);
  assert.deepEqual(await shown(), ['minute', '3', undefined]);
  assert.deepEqual(await shown(), ['minute', '3', '60']);
  petstore.nowMs += 60_000;
  assert.deepEqual(await shown(), ['day', '5', undefined]);
  assert.deepEqual(await shown(), ['day', '5', String(12 * 3_600 - 60)]);
  await statuses(10);
  const { headers } = await ask();
  assert.equal(headers['x-ratelimit-remaining'], '0');
  const account = await accountOf(petstore, key);
  assert.ok(account.ban.until);
  assert.deepEqual(fieldsOf(account.headers), fieldsOf(headers), 'during a ban');
});

test('the account names the request that caused its ban, without query and secrets, until the ban ends', async (t) => {
  const { store: petstore, key, id, statuses } = await startWithKey(t, small);
  await statuses(2 + 10);
  assert.equal((await accountOf(petstore, key)).ban.by, undefined);
  // Refused before its body is read, at a path that does not exist.
  const first = await petstore.call('POST', `/pets/${key}/${'x'.repeat(300)}?q=${key}`, {
    ...{ key, body: '{"not": "read', headers: { 'X-Request-Id': 'the-one' } },
  });
  assert.equal(first.body.code, 'key_banned');
  await statuses(3);
  const { ban, at } = await accountOf(petstore, key);
  const path = `/v1/pets/pet_***/${'x'.repeat(300)}`.slice(0, 200);
  assert.deepEqual(ban.by, { requestId: 'the-one', method: 'POST', path, at: ban.since });
  assert.equal(ban.since, at);
  const other = await petstore.addKey('pro');
  assert.equal((await accountOf(petstore, other.key)).ban.by, undefined);

  petstore.nowMs += 1_000;
  await petstore.db.write((sql) => clearBan(sql, id, petstore.nowMs));
  petstore.app.startOver();
  assert.deepEqual((await accountOf(petstore, key)).ban, { nextSeconds: 60 });
  petstore.nowMs += 1_000;
  await statuses(2 + 11);
  const again = (await accountOf(petstore, key)).ban;
  assert.deepEqual([again.by.method, again.by.path, again.by.at], ['GET', '/v1/pets/1', again.since]);
  assert.equal((await petstore.db.read`select * from ban_starts`).length, 1);
});

test('the cause of a ban is stored once in the shared database, and a ban works without it', async (t) => {
  const { store: petstore, key, ask } = await startWithKey(t, small);
  const { writes } = petstore.db.counts;
  const answers = await Promise.all(numbers(60).map(ask));
  assert.equal(answers.filter(({ body }) => body.code === 'key_banned').length, 48);
  await petstore.saveLimits();
  assert.equal((await accountOf(petstore, key)).ban.by.path, '/v1/pets/1');
  assert.ok(petstore.db.counts.writes - writes <= 3, 'one write, and those of the limits');
  const second = await restart(t, petstore, { beside: true });
  assert.equal((await accountOf(second, key)).ban.by.path, '/v1/pets/1');

  await petstore.db.write((sql) => sql`drop table ban_starts`);
  const { key: other } = await petstore.addKey('enterprise', small);
  const last = (await times(13, () => petstore.call('GET', '/pets', { key: other }))).at(-1);
  assert.equal(last?.status, 403, 'and the ban applies');
  await until(() => petstore.log.some((line) => line.includes('started a ban could not be stored')));
});

test('without the lab the cause of a ban is not stored', async (t) => {
  const { store: petstore, statuses } = await startWithKey(t, small, { lab: false });
  await statuses(13);
  await petstore.app.close();
  assert.deepEqual(await petstore.db.read`select * from ban_starts`, []);
});

test('the account shows the active rehearsal and recording until they end', async (t) => {
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

test('with Valkey the account counts all instances, and without it only this one', needsValkey, async (t) => {
  const valkey = await startValkey(t);
  const stores = await startInstances(t, 2, {
    ...{ urls: [valkey.url], timeoutMs: 60_000, connectWithinMs: 60_000, clock },
  });
  const [first, second] = stores;
  const { key } = await first.addKey('enterprise', { perMinute: 3, perDay: 100 });
  for (const store of [first, second, first, second]) await store?.call('GET', '/pets/1', { key });
  for (const store of stores) {
    const { minute, day, strikes, sharing } = await accountOf(store, key);
    assert.deepEqual([minute.remaining, day.remaining, strikes, sharing], [0, 97, 1, 'on']);
  }
  const { key: rude } = await first.addKey('enterprise', small);
  for (let i = 0; i < 12; i++) await first.call('GET', '/pets', { key: rude });
  const headers = { 'X-Request-Id': 'the-one' };
  assert.equal((await second?.call('GET', '/pets/1', { key: rude, headers }))?.status, 403);
  // The instance that banned the key knows when this is written; the other reads it.
  for (const store of [second, first] as Petstore[])
    assert.equal((await accountOf(store, rude)).ban.by.requestId, 'the-one');
  await valkey.kill();
  const { minute, strikes } = await accountOf(first, key);
  assert.deepEqual([minute.remaining, strikes], [0, 0], 'as it was decided on last by this instance');
  await until(async () => (await accountOf(first, key)).sharing === 'away');
});

test('the examples of the lab are possible: a started recording has no end, and each id has its own prefix', () => {
  const exampleOf = (path: string, method: string, status: number) =>
    labDescription.paths[path][method].responses[status].content['application/json'].example;
  const begun = exampleOf('/recordings', 'post', 201);
  assert.deepEqual([begun.requests, 'endedAt' in begun], [0, false]);
  assert.ok('endedAt' in exampleOf('/recordings/{recordingId}/end', 'post', 200));
  const { rehearsal, recording, minute, day } = exampleOf('/account', 'get', 200);
  assert.match(`${rehearsal.id} ${recording.id}`, /^rhs_\d+ rec_\d+$/);
  assert.deepEqual([minute.limit, day.limit], [60, 1_000]);
  assert.ok(minute.reset < day.reset);
});
