import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  type Answer,
  answerOf,
  createPetstore,
  type Petstore,
  PetstoreError,
  type Retry,
} from '../../src/client/index.ts';
import {
  answer,
  cut,
  fakeClock,
  refusal,
  startScripted,
  text,
  truncated,
} from '../support/scripted-server.ts';
import { statusesOf } from '../support/values.ts';

const pet = { id: 7, name: 'Smaug', categoryId: 1, status: 'available' };
const page = answer(200, [pet]);
const gatewayPage = text('<html>Gateway</html>', 504, { 'content-type': 'text/html' });
const readPage = (store: Petstore) => Array.fromAsync(store.listPets());
const addPet = (store: Petstore) => store.createPet({ name: 'Smaug', categoryId: 1 });

/** Asserts that a call rejects with an error of the client, which has these properties. */
const rejects = (promise: Promise<unknown>, expected: object = {}) =>
  assert.rejects(promise, { name: 'PetstoreError', ...expected });

/** The error of a rejected promise. */
async function errorOf(promise: Promise<unknown>): Promise<PetstoreError> {
  const error = await promise.catch((reason: unknown) => reason);
  assert.ok(error instanceof PetstoreError, String(error));
  return error;
}

test('it waits as Retry-After says, in seconds or until a date by the clock of the service', async (t) => {
  for (const [status, code, field, ms] of [
    [429, 'rate_limited', '7', 7_000],
    [503, 'unavailable', '7', 7_000],
    [403, 'key_banned', '60', 60_000],
    // An hour behind the clock of the client.
    [429, 'rate_limited', 'Mon, 01 Jun 2026 11:00:09 GMT', 9_000],
    [503, 'unavailable', 'Mon, 01 Jun 2026 10:59:00 GMT', 0],
  ] as const) {
    const headers = { 'retry-after': field, date: 'Mon, 01 Jun 2026 11:00:00 GMT' };
    const { store, got, clock } = await startScripted(t, [refusal(status, code, headers), page]);
    const before = clock.nowMs;
    assert.deepEqual(await readPage(store), [pet]);
    assert.equal(got.length, 2);
    const waited = clock.nowMs - before;
    assert.ok(waited >= ms && waited < ms + 2_000, `${field}: ${waited}`);
  }
});

test('a wait longer than maxWaitMs, even within timeoutMs, rejects at once, and nothing is sent until its end', async (t) => {
  const headers = { 'retry-after': '100' };
  const { store, got, clock } = await startScripted(t, [refusal(429, 'rate_limited', headers), page]);
  const retryAt = new Date(clock.nowMs + 100_000);
  const limited = { code: 'rate_limited', status: 429, isTemporary: true };
  await rejects(readPage(store), { ...limited, requestId: 'req-1', retryAt });
  const next = await errorOf(addPet(store));
  assert.deepEqual([next.code, next.status, next.mayBeDone], ['rate_limited', 429, false]);
  assert.ok((next.retryAt as Date) >= retryAt);
  assert.deepEqual([got.length, clock.waitsMs], [1, []]);
  clock.nowMs = (next.retryAt as Date).getTime();
  assert.deepEqual(await readPage(store), [pet]);
  const unavailable = await startScripted(t, [refusal(503, 'unavailable', headers)]);
  await rejects(readPage(unavailable.store), { code: 'unavailable', retryAt });
  assert.deepEqual([unavailable.got.length, unavailable.clock.waitsMs], [1, []]);
});

test('temporary failures are retried with growing waits, up to a limit', async (t) => {
  for (const [deed, code] of [
    [refusal(408, 'request_timeout'), 'request_timeout'],
    [refusal(500, 'internal_error'), 'internal_error'],
    [answer(502, 'Bad gateway'), 'unexpected_answer'],
    [gatewayPage, 'unexpected_answer'],
    [answer(504), 'unexpected_answer'],
    [cut, 'no_answer'],
    [truncated, 'no_answer'],
    [answer(200), 'no_answer'],
    [text('[{"id":1,"name":"[\\"'), 'no_answer'],
    [text('[{"id":1}'), 'no_answer'],
  ] as const) {
    const { store, got, clock } = await startScripted(t, [deed]);
    await rejects(readPage(store), { code, isTemporary: true, mayBeDone: false });
    assert.equal(got.length, 5);
    assert.deepEqual(clock.waitsMs, [300, 600, 1_200, 2_400]);
    const recovering = await startScripted(t, [deed, deed, page]);
    assert.deepEqual(await readPage(recovering.store), [pet]);
  }
});

test('a response of another service is an error, without a retry', async (t) => {
  const html = { 'content-type': 'text/html' };
  for (const [deed, why] of [
    [text('<!doctype html><p>Welcome to the "network" {', 200, html), /200, text\/html.*not JSON/],
    [text('[}', 200, {}), /no type.*not JSON/],
    [answer(200, null), /not what this operation returns/],
    [answer(200, 7), /not what this operation returns/],
    [answer(204), /204.*not what this operation returns/],
    [answer(304), /redirects to another address/],
    [
      answer(301, undefined, { location: 'https://shop.test/v1' }),
      /redirects to https:\/\/shop.test\/v1, .* baseUrl/,
    ],
    [answer(200, 'x'.repeat(2_000)), /more than 1000 bytes/],
    [text(gzipSync(' '.repeat(50_000_000)), 200, { 'content-encoding': 'gzip' }), /more than 1000 bytes/],
    [answer(418, { code: { toString: 1 }, message: ['x'] }), /status 418/],
  ] as const) {
    for (const call of [readPage, addPet]) {
      const { store, got } = await startScripted(t, [deed], { maxAnswerBytes: 1_000 });
      const error = await errorOf(call(store));
      assert.match(error.message, why);
      // After these statuses a pet may have been added.
      const mayBeDone = call === addPet && [200, 204].includes(error.status ?? 0);
      assert.deepEqual([error.code, error.isTemporary], ['unexpected_answer', false]);
      assert.deepEqual([error.mayBeDone, got.length], [mayBeDone, 1], error.message);
    }
  }
  const { store } = await startScripted(t, [page]);
  await assert.rejects(store.getCategory(1), { code: 'unexpected_answer' });
  const object = await startScripted(t, [answer(200, pet)]);
  await assert.rejects(readPage(object.store), { code: 'unexpected_answer' });
  // A body without a Content-Type is accepted.
  const unnamed = await startScripted(t, [text(JSON.stringify([pet]), 200, {})]);
  assert.deepEqual(await readPage(unnamed.store), [pet]);
});

test('every method is retried unchanged, a POST with the same Idempotency-Key', async (t) => {
  const calls: ((store: Petstore) => Promise<unknown>)[] = [
    addPet,
    (store) => store.createPet({ name: 'Smaug', categoryId: 1 }, { idempotencyKey: 'mine' }),
    (store) => store.replacePet(7, { name: 'Smaug', categoryId: 1 }, { ifMatch: '"a"' }),
    (store) => store.updatePet(7, { name: 'Smaug' }),
    (store) => store.pingWebhook(3),
  ];
  const keys = [];
  for (const call of calls) {
    const deeds = [cut, truncated, refusal(500, 'internal_error'), gatewayPage, answer(200, pet)];
    const { store, got } = await startScripted(t, deeds);
    assert.deepEqual(await call(store), pet);
    const [first, ...later] = got.map(({ headers, atMs: _, ...rest }) => ({
      ...rest,
      authorization: headers.authorization,
      key: headers['idempotency-key'],
      ifMatch: headers['if-match'],
      requestId: headers['x-request-id'],
    }));
    assert.equal(later.length, 4);
    for (const again of later) assert.deepEqual(again, first);
    assert.equal(first?.authorization, 'Bearer pet_secret');
    keys.push(first?.key);
  }
  assert.match(keys[0] as string, /^[0-9a-f]{32}$/);
  assert.equal(keys[1], 'mine');
  assert.deepEqual(keys.slice(2, 4), [undefined, undefined]);
  assert.equal(new Set(keys).size, 4);
});

test('a refusal rejects at once, with all details of the service', async (t) => {
  for (const status of [400, 403, 404, 405, 409, 410, 412, 413, 415, 422, 431]) {
    const details = { code: 'some_code', message: 'No.', status, hint: 1 };
    const { store, got } = await startScripted(t, [answer(status, details)]);
    const { hint: _, ...facts } = details;
    await rejects(addPet(store), { ...facts, details, isTemporary: false, mayBeDone: false });
    assert.equal(got.length, 1);
  }
});

test('a key that gets 401 is retried once, and not again until it works', async (t) => {
  const refused = refusal(401, 'unauthorized');
  const deeds = [refused, page, refused, refused, refused, page, refused, page];
  const { store, got } = await startScripted(t, deeds);
  assert.deepEqual(await readPage(store), [pet]);
  await rejects(readPage(store), { code: 'unauthorized', attempts: 2 });
  assert.equal(got.length, 4);
  await rejects(readPage(store), { attempts: 1 });
  assert.deepEqual(await readPage(store), [pet]);
  assert.deepEqual(await readPage(store), [pet]);
});

test('an odd Retry-After causes neither a retry at once nor a wait of days', async (t) => {
  const past = 'Mon, 01 Jun 2020 11:00:00 GMT';
  for (const status of [429, 503])
    for (const fields of [{}, { 'retry-after': '0' }, { 'retry-after': past }, { 'retry-after': 'soon' }]) {
      const { store, got, clock } = await startScripted(t, [refusal(status, 'rate_limited', fields)]);
      await rejects(readPage(store));
      assert.equal(got.length, 5);
      assert.ok(clock.waitsMs.every((ms) => ms >= 200 && ms < 20_000));
    }
  const inTenDays = new Date(Date.parse('2026-06-11T12:00:00Z')).toUTCString();
  for (const field of ['864000', inTenDays, '9'.repeat(400)]) {
    const headers = { 'retry-after': field, date: 'Mon, 01 Jun 2026 12:00:00 GMT' };
    const { store, got, clock } = await startScripted(t, [refusal(503, 'unavailable', headers)]);
    await rejects(readPage(store), {
      message: /asks to wait until 2026-06-02T\S+, longer than maxWaitMs allows \(70000 ms\)/,
      retryAt: new Date(clock.nowMs + 86_400_000),
    });
    assert.deepEqual([got.length, clock.waitsMs], [1, []]);
  }
});

test('a redirect within the origin is followed with method, body and key', async (t) => {
  for (const status of [307, 308]) {
    const moved = answer(status, undefined, { location: '/elsewhere/pets?x=1' });
    // A failure there starts again at the original URL.
    const { store, got } = await startScripted(t, [moved, cut, moved, answer(201, pet)]);
    assert.deepEqual(await addPet(store), pet);
    assert.deepEqual(
      got.map(({ url }) => url),
      ['/v1/pets', '/elsewhere/pets?x=1', '/v1/pets', '/elsewhere/pets?x=1'],
    );
    for (const { method, body, headers } of got) {
      assert.deepEqual([method, body], ['POST', '{"name":"Smaug","categoryId":1}']);
      assert.equal(headers.authorization, 'Bearer pet_secret');
      assert.equal(headers['idempotency-key'], got[0]?.headers['idempotency-key']);
    }
  }
  const endless = await startScripted(t, [answer(307, undefined, { location: '/v1/pets' })]);
  await rejects(readPage(endless.store), { message: /more than 5 redirects/ });
  assert.equal(endless.got.length, 6);
});

test('no redirect takes the key to another origin', async (t) => {
  const other = await startScripted(t, [page]);
  for (const location of [`${other.baseUrl}/pets`, '//localhost:1/pets', 'http://[', 'file:///etc/passwd']) {
    const { store, got } = await startScripted(t, [answer(307, undefined, { location })]);
    const { code, message } = await errorOf(readPage(store));
    assert.equal(code, 'unexpected_answer');
    assert.ok(message.includes(`redirects to ${location}, and the key is not sent there`), message);
    assert.equal(got.length, 1);
  }
  assert.equal(other.got.length, 0);
});

test('each retry is reported before its wait', async (t) => {
  const retried: Retry[] = [];
  const deeds = [cut, refusal(503, 'unavailable', { 'retry-after': '7' }), answer(201, pet)];
  const { store, got, clock, baseUrl } = await startScripted(t, deeds, {
    onRetry: (retry) => {
      assert.equal(clock.waitsMs.length, retried.length);
      retried.push(retry);
    },
  });
  const made = await addPet(store);
  const request = { method: 'POST', url: `${baseUrl}/pets`, requestId: got[0]?.headers['x-request-id'] };
  assert.deepEqual(
    retried.map(({ request, attempt, waitMs, cause }) => [request, attempt, waitMs, cause.code]),
    [
      [request, 1, clock.waitsMs[0], 'no_answer'],
      [request, 2, clock.waitsMs[1], 'unavailable'],
    ],
  );
  assert.equal(answerOf(made)?.attempts, 3);
  const reason = new Error('No more.');
  const stopping = await startScripted(t, [cut], {
    onRetry: () => {
      throw reason;
    },
  });
  await assert.rejects(readPage(stopping.store), reason);
  assert.equal(stopping.got.length, 1);
});

test('the caller gets the attempts and header fields of each response, also without a body', async (t) => {
  const fields = { 'x-ratelimit-remaining': '7' };
  const { store } = await startScripted(t, [
    cut,
    answer(204, undefined, fields),
    cut,
    answer(200, [pet], fields),
    refusal(404, 'not_found', fields),
  ]);
  const received: Answer[] = [];
  const onAnswer = (answer: Answer) => received.push(answer);
  await store.deletePet(7, { onAnswer });
  await store.listPets({}, { onAnswer }).toArray();
  assert.deepEqual(statusesOf(received), [204, 200]);
  for (const { attempts, headers } of received)
    assert.deepEqual([attempts, headers.get('x-ratelimit-remaining')], [2, '7']);
  const { attempts, headers } = await errorOf(store.getCategory(9));
  assert.deepEqual([attempts, headers?.get('x-ratelimit-remaining')], [1, '7']);
});

test('an error says whether the change may have been made', async (t) => {
  for (const [deeds, mayBeDone] of [
    [[cut], true],
    [[cut, refusal(404, 'not_found')], true],
    // The service does nothing while it is unavailable.
    [[refusal(503, 'unavailable', { 'retry-after': '1' })], false],
  ] as const) {
    const { store } = await startScripted(t, [...deeds]);
    await rejects(store.updatePet(7, { name: 'Smaug' }), { mayBeDone });
  }
});

test('a removal with a lost response succeeds if nothing is left', async (t) => {
  const { store, got } = await startScripted(t, [cut, refusal(404, 'not_found')]);
  assert.equal(await store.deletePet(7), undefined);
  assert.equal(got.length, 2);
  const absent = await startScripted(t, [refusal(404, 'not_found')]);
  await rejects(absent.store.deletePet(7), { code: 'not_found' });
});

test('a POST waits while its Idempotency-Key is in use, also by another program', async (t) => {
  const inUse = refusal(409, 'idempotency_key_in_use', { 'retry-after': '1' });
  for (const deeds of [
    [cut, inUse, answer(201, pet)],
    [inUse, inUse, answer(201, pet)],
  ]) {
    const { store, got, clock } = await startScripted(t, deeds);
    assert.deepEqual(await addPet(store), pet);
    assert.equal(new Set(got.map(({ headers }) => headers['idempotency-key'])).size, 1);
    assert.ok((clock.waitsMs.at(-1) as number) >= 1_000);
  }
  const { store, got } = await startScripted(t, [inUse]);
  await rejects(addPet(store), { code: 'idempotency_key_in_use', mayBeDone: true });
  assert.equal(got.length, 5);
});

test('a caller can abort a call during a wait and in flight', async (t) => {
  const reason = new Error('No longer wanted.');
  const waiting = new AbortController();
  const { store } = await startScripted(t, [refusal(500, 'internal_error'), page], {
    clock: {
      sleep: (_, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          waiting.abort(reason);
        }),
    },
  });
  await assert.rejects(Array.fromAsync(store.listPets({}, { signal: waiting.signal })), reason);
  const underWay = new AbortController();
  const silent = await startScripted(t, [() => underWay.abort(reason)]);
  await assert.rejects(
    silent.store.createPet({ name: 'Smaug', categoryId: 1 }, { signal: underWay.signal }),
    reason,
  );
  assert.equal(silent.got.length, 1);
  await assert.rejects(silent.store.getCategory(1, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(silent.got.length, 1);
});

test('an attempt has a time limit that includes its body, and a call has one overall', async (t) => {
  const silent = () => {};
  const halting = await startScripted(t, [silent, (response) => response.writeHead(200).write('['), page], {
    attemptTimeoutMs: 50,
  });
  assert.deepEqual(await readPage(halting.store), [pet]);
  assert.equal(halting.got.length, 3);
  const { store, got } = await startScripted(t, [silent], { timeoutMs: 50 });
  await rejects(addPet(store), { code: 'timed_out', mayBeDone: true });
  assert.equal(got.length, 1);
  // No wait begins that would end after the deadline.
  const busy = await startScripted(t, [refusal(503, 'unavailable', { 'retry-after': '20' })], {
    timeoutMs: 10_000,
  });
  await rejects(readPage(busy.store), { code: 'unavailable' });
  assert.deepEqual(busy.clock.waitsMs, []);
});

test('a refused connection is an error after all attempts', async () => {
  const clock = fakeClock();
  const access = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'pet_secret' };
  const error = await errorOf(readPage(createPetstore({ ...access, clock, attempts: 2 })));
  assert.deepEqual([error.code, error.status, clock.waitsMs.length], ['no_answer', undefined, 1]);
  assert.ok(error.cause instanceof Error);
});
