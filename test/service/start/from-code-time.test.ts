import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duration, PetstoreServer, StartOptions } from '../../../src/index.ts';
import { durationMs } from '../../../src/service/start/from-code/clock.ts';
import { answer, startReceiver } from '../../support/dispatching.ts';
import { call, startFromCode } from '../../support/from-code.ts';

const startsAt = new Date('2026-06-01T12:00:15Z');
const newPet = { name: 'Smaug', categoryId: 1 };

/** The state of something with a time limit: before, just before the end, and after it. */
interface EndsByTime {
  options?: StartOptions;
  begin?(store: PetstoreServer): Promise<unknown>;
  shows(store: PetstoreServer): Promise<unknown>;
  lasts: Duration;
  until: unknown;
  after: unknown;
}

const status = async (store: PetstoreServer, path = '/pets') => (await call(store, 'GET', path)).status;
const send = async (store: PetstoreServer, count: number) => {
  for (let i = 0; i < count; i++) await call(store, 'GET', '/pets');
};
const replayed = async (store: PetstoreServer) => {
  const headers = { 'idempotency-key': 'once' };
  return (await call(store, 'POST', '/pets', { headers, body: newPet })).headers['idempotency-replayed'];
};

const endings: Record<string, EndsByTime> = {
  'a minute of a limit': {
    options: { quota: { perMinute: 2, perDay: 100 } },
    begin: (store) => send(store, 2),
    shows: status,
    ...{ lasts: '45 seconds', until: 429, after: 200 },
  },
  'a day of a limit': {
    options: { quota: { perMinute: 100, perDay: 2 } },
    begin: (store) => send(store, 2),
    shows: status,
    lasts: Date.parse('2026-06-02T00:00:00Z') - startsAt.getTime(),
    ...{ until: 429, after: 200 },
  },
  'a ban': {
    options: { quota: { perMinute: 1, perDay: 100 } },
    begin: (store) => send(store, 12),
    shows: status,
    ...{ lasts: '1 minute', until: 403, after: 200 },
  },
  'the time before a sunset': {
    options: { enforceSunset: true },
    shows: (store) => status(store, '/pets/1'),
    lasts: Date.parse('2030-12-05T00:00:00Z') - startsAt.getTime(),
    ...{ until: 200, after: 410 },
  },
  'the memory of an idempotency key': {
    begin: replayed,
    shows: replayed,
    ...{ lasts: '1 day', until: 'true', after: undefined },
  },
  'the time for which events are kept': {
    shows: async (store) => (await call(store, 'GET', '/store/events')).body.length,
    ...{ lasts: '7 days', until: 1, after: 0 },
  },
  'the wait of a fault with Retry-After': {
    begin: async (store) => {
      await store.rehearse([{ fault: 'rate-limited', retryAfterSeconds: 90 }]);
      await send(store, 1);
    },
    shows: status,
    ...{ lasts: '90 seconds', until: 429, after: 200 },
  },
  'a rehearsal': {
    begin: (store) => store.rehearse([{ fault: 'unavailable', times: 9 }], { expiresInSeconds: 120 }),
    shows: status,
    ...{ lasts: '2 minutes', until: 503, after: 200 },
  },
  'a recording': {
    begin: (store) => store.record({ expiresInSeconds: 120 }),
    shows: async (store) => {
      await send(store, 1);
      return (await call(store, 'GET', '/recordings', { start: '/lab' })).body[0].requests;
    },
    ...{ lasts: 120_001, until: 1, after: 1 },
  },
};

for (const [name, { options, begin, shows, lasts, until, after }] of Object.entries(endings)) {
  test(`moving the time ends ${name}, and not too early`, async (t) => {
    const store = await startFromCode(t, { ...options, clock: startsAt });
    await begin?.(store);
    await store.clock.advance(durationMs(lasts) - 1);
    assert.equal(await shows(store), until);
    await store.clock.advance(1);
    assert.equal(await shows(store), after);
  });
}

test('responses use the clock: Date, Retry-After, the reset of limits, and times in bodies', async (t) => {
  const store = await startFromCode(t, { clock: startsAt, quota: { perMinute: 2, perDay: 100 } });
  await store.clock.set(new Date('2027-01-01T00:00:20.500Z'));
  const { headers } = await call(store, 'POST', '/pets', { body: newPet });
  assert.equal(headers.date, 'Fri, 01 Jan 2027 00:00:20 GMT');
  assert.equal(headers['x-ratelimit-reset'], String(Date.parse('2027-01-01T00:01:00Z') / 1000));
  const [event] = (await call(store, 'GET', '/store/events?type=pet.created')).body;
  assert.equal(event.timestamp, '2027-01-01T00:00:20.500Z');
  assert.equal((await call(store, 'GET', '/pets')).headers['retry-after'], '40');
  const missing = await call(store, 'GET', '/nothing');
  assert.equal(missing.headers.date, 'Fri, 01 Jan 2027 00:00:20 GMT');
  const { port } = new URL(store.baseUrl);
  const broken = await text(connect(Number(port), '127.0.0.1').end('no request\r\n\r\n'));
  assert.match(broken, /^Date: Fri, 01 Jan 2027 00:00:20 GMT\r$/m);
});

test('recordings use the clock, and a skipped wait counts as waited', async (t) => {
  const store = await startFromCode(t, { clock: 'manual' });
  const recording = await store.record();
  await store.rehearse([{ fault: 'rate-limited', retryAfterSeconds: 30 }]);
  await send(store, 1);
  await store.clock.advance('30 seconds');
  await send(store, 1);
  const [first, second] = await recording.requests();
  const apartMs = Date.parse(second?.at ?? '') - Date.parse(first?.at ?? '');
  assert.ok(apartMs > 29_000 && apartMs < 31_000, `${apartMs}`);
  const { checks } = await recording.report();
  assert.equal(checks.find(({ name }) => name === 'retry-after.obeyed')?.result, 'passed');
});

test('with a stopped clock, recorded requests have the same instant, however long they took', async (t) => {
  const store = await startFromCode(t, { clock: startsAt });
  const recording = await store.record();
  await send(store, 1);
  await sleep(50);
  await send(store, 1);
  for (const { at, durationMs } of await recording.requests()) {
    const endMs = Date.parse(at) + durationMs;
    assert.ok(Math.abs(endMs - startsAt.getTime()) < 2, `${at} and ${durationMs} ms`);
  }
});

test('each retry of a webhook in the skipped time is sent at its time', async (t) => {
  const receiver = await startReceiver(t);
  receiver.behave = answer(500);
  const store = await startFromCode(t, { clock: startsAt });
  await call(store, 'POST', '/store/webhooks', { body: { url: receiver.url } });
  await call(store, 'POST', '/pets', { body: newPet });
  await store.clock.advance(0);
  assert.equal(receiver.messages.length, 1, 'what happened is sent before time moves');
  await store.clock.advance('5 seconds');
  assert.equal(receiver.messages.length, 2);
  await store.clock.advance('1 hour');
  const [first, ...later] = receiver.messages.map(({ headers }) => Number(headers['webhook-timestamp']));
  assert.deepEqual(
    later.map((at) => at - Number(first)),
    [5, 5 + 30, 5 + 30 + 300, 5 + 30 + 300 + 1800],
  );
  await store.clock.advance('3 days');
  assert.equal(receiver.messages.length, 9);
  const [delivery] = (await call(store, 'GET', '/store/webhooks/1/deliveries')).body;
  assert.equal(delivery.state, 'failed');
  assert.equal(delivery.attempts.length, 9);
});

test('a clock is real by default, and moves only forward', async (t) => {
  const real = await startFromCode(t);
  assert.ok(Math.abs(real.clock.now() - Date.now()) < 1_000);
  await real.clock.advance('1 day');
  const aheadMs = real.clock.now() - Date.now();
  assert.ok(aheadMs > 86_399_000 && aheadMs < 86_401_000, `${aheadMs}`);
  const manual = await startFromCode(t, { clock: 'manual' });
  const beganMs = manual.clock.now();
  await send(manual, 5);
  assert.equal(manual.clock.now(), beganMs);
  await Promise.all([manual.clock.advance(1), manual.clock.advance('2 milliseconds')]);
  assert.equal(manual.clock.now(), beganMs + 3);
  await assert.rejects(manual.clock.set(new Date(beganMs + 2)), { name: 'RangeError' });
  await assert.rejects(manual.clock.advance(Number.MAX_VALUE), { name: 'RangeError' });
  assert.equal(manual.clock.now(), beganMs + 3);
});

test('the clock stops early enough that all its deadlines have four-digit years', async (t) => {
  const store = await startFromCode(t);
  const message = 'Time cannot pass 9999-12-01T00:00:00.000Z.';
  await assert.rejects(store.clock.set(new Date('9999-12-01T00:00:01Z')), { name: 'RangeError', message });
  await assert.rejects(store.clock.set(new Date(8.64e15)), { name: 'RangeError', message });
  const last = await startFromCode(t, { clock: new Date('9999-12-01T00:00:00Z') });
  await assert.rejects(last.clock.advance(1), { name: 'RangeError', message });
  const lasting = { expiresInSeconds: 86_400 };
  await last.record(lasting);
  await last.rehearse([{ fault: 'banned', after: 2 }], lasting);
  assert.equal((await call(last, 'POST', '/pets', { body: newPet })).status, 201);
  for (const { timestamp } of (await call(last, 'GET', '/store/events')).body)
    assert.match(timestamp, /^9999-12-01T/);
});

for (const [duration, ms] of [
  [90, 90],
  ['1 millisecond', 1],
  ['90 seconds', 90_000],
  ['1.5 minutes', 90_000],
  ['2 hours', 7_200_000],
  ['1 day', 86_400_000],
] as [Duration, number][]) {
  test(`${duration} is ${ms} ms`, () => assert.equal(durationMs(duration), ms));
}

for (const wrong of ['soon', '1', '1 fortnight', '1minute', '-1 day', '', Number.NaN, Infinity, null, {}]) {
  test(`${JSON.stringify(wrong)} is not a duration`, () => {
    const message =
      /^A duration is a number of milliseconds, or a text such as '90 seconds' or '1 day', not /;
    assert.throws(() => durationMs(wrong as Duration), { name: 'TypeError', message });
  });
}

test('time does not go back', () => {
  assert.throws(() => durationMs(-1), { name: 'RangeError', message: 'Time cannot go back, by -1 ms.' });
});
