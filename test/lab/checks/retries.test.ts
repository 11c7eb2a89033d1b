import assert from 'node:assert/strict';
import { test } from 'node:test';
import { categories, crowd, cut, elsewhere, finds, key, limited, post } from '../../support/findings.ts';

test('backoff.grows fails equal or missing waits, and tolerates jitter', async () => {
  const name = 'backoff.grows';
  const failing = (...at: number[]) => at.map((ms) => ({ at: ms, status: 500 }));
  await finds(name, failing(0, 5, 10), 'failed', [1, 2, 3]);
  await finds(name, failing(0, 1_000, 2_050, 3_000), 'failed', [1, 2, 3, 4]);
  await finds(name, failing(0, 1_000, 2_000), 'not_observed');
  await finds(name, failing(0, 500, 1_500), 'passed', [1, 2, 3]);
  await finds(name, failing(0, 900, 1_000, 1_500), 'not_observed');
  await finds(name, failing(0, 900, 1_000, 3_500), 'passed', [1, 2, 3, 4]);
  await finds(name, failing(0, 5), 'not_observed');
  // On a busy machine waits of 10, 20 and 40 ms became longer.
  await finds(name, failing(0, 32, 64, 104), 'not_observed');
  // A success in between starts the sequence again.
  const mended = [0, 10, 20, 30].flatMap((at) => [{ at, status: 500 }, { at: at + 5 }]);
  await finds(name, mended, 'not_observed');
  // With Retry-After, that time counts.
  const unavailable = { status: 503, answerHeaders: { 'retry-after': '1' } };
  const obedient = [0, 1_100, 2_200, 3_300].map((at) => ({ at, ...unavailable }));
  await finds(name, obedient, 'not_observed');
});

test('retry.only-when-useful distinguishes a retry from another request, and from asking again later', async () => {
  const name = 'retry.only-when-useful';
  const missing = { target: '/v1/orders/9', status: 404 };
  await finds(
    name,
    [
      { at: 0, ...missing },
      { at: 9, ...missing },
    ],
    'failed',
    [1, 2],
  );
  await finds(name, [{ at: 0, ...missing }, { at: 5 }, { at: 9, ...missing }], 'failed', [1, 3]);
  await finds(
    name,
    [
      { at: 0, ...missing },
      { at: 90_000, ...missing },
    ],
    'passed',
    [1],
  );
  // Another worker sends in between, and may have waited for the connection.
  const busy = [
    { at: 0, ...missing },
    { at: 5, ...elsewhere },
    { at: 9, ...missing },
  ];
  await finds(name, [...crowd, ...busy], 'not_observed');
  const later = { at: 900, ...missing, connection: 'c9' };
  await finds(name, [...crowd, { at: 0, ...missing }, later], 'not_observed');
  await finds(name, busy, 'failed', [1, 3]);
  await finds(
    name,
    [
      { at: -5, durationMs: 4, ...elsewhere },
      { at: 0, ...missing },
      { at: 9, ...missing },
    ],
    'failed',
    [2, 3],
  );
  // The client may not have received it.
  const broken = { ...missing, fault: 'truncated' };
  await finds(
    name,
    [
      { at: 0, ...broken },
      { at: 9, ...missing },
      { at: 20, ...categories },
    ],
    'passed',
    [2],
  );
  const type = (text: string) => ({ ...post, headers: { 'content-type': text } });
  await finds(
    name,
    [
      { at: 0, ...type('text/plain'), status: 415 },
      { at: 5, ...type('application/json') },
    ],
    'passed',
    [1],
  );
  await finds(name, [{ at: 0, status: 403, code: 'key_banned' }, { at: 5 }], 'not_observed');
  await finds(name, [{ at: 0, status: 409 }, { at: 5 }], 'not_observed');
  await finds(name, [{ at: 0 }, { at: 5 }], 'not_observed');
});

test('failures.retried allows giving up after retries, and asks for no blind POST', async () => {
  const name = 'failures.retried';
  await finds(
    name,
    [
      { at: 0, ...cut },
      { at: 1_000, ...cut },
    ],
    'passed',
    [1, 2],
  );
  // Half a second is shorter than the restart of a service, unless there is a third attempt.
  const hasty = [
    { at: 0, ...cut },
    { at: 500, ...cut },
  ];
  await finds(name, hasty, 'failed', [1, 2]);
  await finds(name, [...hasty, { at: 900, ...cut }], 'passed', [1, 2, 3]);
  await finds(
    name,
    [
      { at: 0, ...cut },
      { at: 100, ...categories },
    ],
    'failed',
    [1],
  );
  await finds(name, [{ at: 0, ...post, ...cut }], 'not_observed');
  await finds(name, [{ at: 0, ...post, ...key('k'), ...cut }], 'failed', [1]);
  await finds(name, [{ at: 0, ...post, status: 503 }], 'failed', [1]);
  // Nobody waits for ten days.
  const unavailable = (seconds: number) => ({
    status: 503,
    answerHeaders: { 'retry-after': String(seconds) },
  });
  await finds(
    name,
    [
      { at: 0, ...unavailable(864_000) },
      { at: 9, ...categories },
    ],
    'not_observed',
  );
  await finds(
    name,
    [
      { at: 0, ...unavailable(60) },
      { at: 9, ...categories },
    ],
    'failed',
    [1],
  );
  // Two workers fail at the same time, and one of them continues.
  const both = [
    { at: 0, ...cut },
    { at: 0, ...cut, ...elsewhere },
  ];
  await finds(name, [...both, { at: 50, connection: 'c3' }], 'failed', [2]);
  await finds(
    name,
    [...both, { at: 50, connection: 'c3' }, { at: 50, connection: 'c4' }],
    'passed',
    [1, 2, 3, 4],
  );
});

test('idempotency checks: equal POSTs after a success are two orders, and only an unknown outcome makes a retry blind', async () => {
  const same = 'idempotency.same-key-on-retry';
  await finds(
    same,
    [
      { at: 0, ...post, ...key('a'), status: 201 },
      { at: 9, ...post, ...key('b') },
    ],
    'not_observed',
  );
  await finds(
    same,
    [
      { at: 0, ...post, ...key('a'), ...cut },
      { at: 9, ...post, ...key('a') },
    ],
    'passed',
    [1, 2],
  );
  await finds(
    same,
    [
      { at: 0, ...post, ...key('a'), ...cut },
      { at: 9, ...post },
    ],
    'failed',
    [1, 2],
  );
  await finds(
    same,
    [
      { at: 0, ...post, ...key('a'), status: 503 },
      { at: 9, ...post, ...key('b') },
    ],
    'not_observed',
  );
  const blind = 'idempotency.no-blind-post-retry';
  await finds(
    blind,
    [
      { at: 0, ...post, status: 500 },
      { at: 9, ...post },
    ],
    'failed',
    [1, 2],
  );
  await finds(blind, [{ at: 0, ...post, status: 500 }], 'passed', [1]);
  await finds(
    blind,
    [
      { at: 0, ...post, status: 500 },
      { at: 9, ...post, body: '{}' },
    ],
    'passed',
    [1],
  );
  await finds(
    blind,
    [
      { at: 0, ...post, status: 503 },
      { at: 9, ...post },
    ],
    'not_observed',
  );
  await finds(
    blind,
    [
      { at: 0, ...post, ...key('a'), ...cut },
      { at: 9, ...post, ...key('a') },
    ],
    'passed',
    [1],
  );
  await finds(
    blind,
    [
      { at: 0, method: 'PUT', ...cut },
      { at: 9, method: 'PUT' },
    ],
    'not_observed',
  );
});

test('backoff.grows ignores pollers and workers, and fails many retries without one real wait', async () => {
  const name = 'backoff.grows';
  const failing = (...at: number[]) => at.map((ms) => ({ at: ms, status: 500 }));
  await finds(name, failing(0, 40, 55, 130, 150), 'failed', [1, 2, 3, 4, 5]);
  await finds(name, failing(0, 40, 55, 130), 'not_observed');
  await finds(name, [...failing(0, 300, 600, 900), { at: 1_200 }, { at: 1_500 }], 'not_observed');
  await finds(name, [{ at: 0 }, ...failing(300, 600, 900, 1_200)], 'not_observed');
  await finds(name, [...failing(0, 300, 600, 900), { at: 1_200 }], 'failed', [1, 2, 3, 4, 5]);
  // Reading another page of the same list is no poll, whatever the time between.
  const listed = [...failing(0, 300, 600, 900), { at: 1_200 }, { at: 1_300, ...categories }];
  await finds(name, [...listed, { at: 1_500 }], 'failed', [1, 2, 3, 4, 5]);
  const inTurns = listed.flatMap((one) => [one, { at: one.at + 9, ...categories }]);
  await finds(name, [...inTurns.slice(0, 10), { at: 1_500 }], 'not_observed');
  // Retries after a broken connection use new ones, and so do workers that start.
  const apart = (...at: number[]) => at.map((ms) => ({ at: ms, ...cut, connection: `c${ms}` }));
  await finds(name, apart(0, 3, 6, 9, 12), 'failed', [1, 2, 3, 4, 5]);
  await finds(name, [...crowd, ...apart(0, 3, 6, 9, 12)], 'not_observed');
});

test('a request that the client aborted has an unknown outcome, and is no failure of the service', async () => {
  const left = { ...post, ...cut, left: true as const };
  const again = { at: 50, ...post, ...elsewhere };
  await finds('idempotency.no-blind-post-retry', [{ at: 0, ...left }, again], 'failed', [1, 2]);
  await finds('idempotency.no-blind-post-retry', [{ at: 0, ...left, status: 201 }, again], 'failed', [1, 2]);
  const same = 'idempotency.same-key-on-retry';
  await finds(
    same,
    [
      { at: 0, ...left, ...key('a') },
      { ...again, ...key('a') },
    ],
    'passed',
    [1, 2],
  );
  await finds(
    same,
    [
      { at: 0, ...left, ...key('a') },
      { ...again, ...key('b') },
    ],
    'failed',
    [1, 2],
  );
  await finds(
    'failures.retried',
    [
      { at: 0, ...cut, left: true },
      { at: 9, ...categories },
    ],
    'not_observed',
  );
});

test('idempotency checks pair equal keys first, and do not fail if another worker may have sent the request', async () => {
  const same = 'idempotency.same-key-on-retry';
  const lost = { at: 0, ...post, ...key('a'), ...cut };
  const other = { at: 20, ...post, ...elsewhere, ...key('b') };
  await finds(same, [lost, other, { at: 200, ...post, ...key('a'), connection: 'c3' }], 'passed', [1, 3]);
  await finds(same, [lost, other], 'failed', [1, 2]);
  const busy = { at: 10, durationMs: 50, connection: 'c9' };
  await finds(same, [lost, busy, other], 'not_observed');
  await finds(same, [...crowd, { at: -9, ...elsewhere }, lost, other], 'not_observed');
  await finds(same, [{ at: -9, ...elsewhere }, lost, other], 'failed', [2, 3]);
  const blind = { at: 0, ...post, ...cut };
  await finds('idempotency.no-blind-post-retry', [blind, busy, { ...other, headers: {} }], 'not_observed');
});

test('retry.same-body finds a lost body, and ignores ETags and other requests', async () => {
  const name = 'retry.same-body';
  const put = (at: number, headers: Record<string, string>, more: object = {}) => ({
    ...{ at, method: 'PUT', target: '/v1/pets/1', operation: 'replacePet', body: '{"name":"a"}' },
    ...{ bodyBytes: 12, headers, ...more },
  });
  const failing = put(0, { 'if-match': '"a"', 'content-type': 'application/json' }, { status: 500 });
  const type = { 'content-type': 'application/json' };
  await finds(name, [failing, put(900, { ...type, 'if-match': '"a"' })], 'passed', [1, 2]);
  await finds(name, [failing, put(900, { ...type, 'if-match': '"b"' })], 'passed', [1, 2]);
  await finds(name, [failing, put(900, type)], 'failed', [1, 2]);
  await finds(name, [failing, put(900, { 'if-match': '"a"' })], 'failed', [1, 2]);
  const emptied = put(900, {}, { body: '', bodyBytes: 0, status: 400 });
  await finds(name, [failing, emptied], 'failed', [1, 2]);
  await finds(name, [failing, { at: 800 }, emptied], 'not_observed');
  await finds(name, [...crowd, failing, emptied], 'not_observed');
  // The same key also proves it beside other workers.
  const create = (at: number, body: string, status: number) => ({
    ...{ at, ...post, ...key('a'), body, bodyBytes: body.length, status },
  });
  await finds(name, [...crowd, create(0, '{"at":1}', 500), create(900, '{"at":2}', 422)], 'failed', [3, 4]);
  const other = 'idempotency.key-for-one-thing';
  await finds(other, [create(0, '{"at":1}', 500), create(900, '{"at":2}', 422)], 'not_observed');
  await finds(other, [create(0, '{"at":1}', 201), create(900, '{"at":2}', 422)], 'failed', [1, 2]);
  const banned = { ...create(0, '{"at":1}', 403), code: 'key_banned' };
  await finds(other, [banned, create(900, '', 400)], 'not_observed');
  await finds(name, [banned, create(900, '', 400)], 'failed', [1, 2]);
  await finds(name, [create(0, '{"at":1}', 201), create(900, '{"at":2}', 422)], 'not_observed');
  // The request was still repeated.
  await finds(
    'failures.retried',
    [create(0, '{"at":1}', 500), create(900, '{"at":22}', 201)],
    'passed',
    [1, 2],
  );
  // An unread body may have been another, even with the same key.
  const { bodyBytes: _, ...unread } = create(0, '{"at":1}', 500);
  await finds(name, [unread, create(900, '{"at":1}', 201)], 'not_observed');
  const used = { ...create(0, '{"at":1}', 422), code: 'idempotency_key_reused' };
  await finds(other, [used], 'failed', [1]);
  const second = { ...create(9, '{"at":2}', 201), ...key('b') };
  await finds(other, [create(0, '{"at":1}', 201), second], 'passed', [1, 2]);
  // It may be one resource that was created twice.
  await finds(
    other,
    [create(0, '{"at":1}', 500), { ...create(9, '{"at":1}', 201), ...key('b') }],
    'not_observed',
  );
});

test('attempts.bounded tolerates waits for a limit, and requires an end of all other retries', async () => {
  const name = 'attempts.bounded';
  const failing = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, index) => ({ at: index * 1_000, status: 500, ...more }));
  const next = { at: 90_000, ...categories };
  await finds(name, [...failing(4), next], 'passed', [1, 2, 3, 4]);
  await finds(name, failing(4), 'not_observed');
  await finds(name, [...failing(1), next], 'not_observed');
  await finds(name, [...failing(3), { at: 3_000 }, next], 'not_observed');
  await finds(
    name,
    [...failing(20), next],
    'passed',
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  await finds(
    name,
    failing(21),
    'failed',
    Array.from({ length: 21 }, (_, index) => index + 1),
  );
  await finds(name, failing(40, limited), 'not_observed');
  // Two workers send the same thing at once, in the middle.
  const thing = { ...post, ...key('k') };
  const overlapping = (count: number) =>
    failing(count, thing).map((one, index) => (index === 7 ? { ...one, at: 6_000, ...elsewhere } : one));
  await finds(name, [...crowd, ...overlapping(12), { at: 13_000, ...thing }, next], 'not_observed');
  const { because } = await finds(
    name,
    [...crowd, ...overlapping(25), { at: 26_000, ...thing }],
    'failed',
    Array.from({ length: 26 }, (_, index) => index + 3),
  );
  assert.equal(because, 'The client made 26 attempts at one request.');
  // A poller keeps its pace, whatever the responses.
  await finds(name, [...failing(30), { at: 30_000 }, { at: 31_000 }], 'not_observed');
});

test('401 allows one retry, and 409 one with the same key', async () => {
  const name = 'retry.only-when-useful';
  const refused = (at: number) => ({ at, status: 401 });
  await finds(name, [refused(0), { at: 9 }, { at: 20, ...categories }], 'passed', [1]);
  await finds(name, [refused(0), refused(9), { at: 20, ...categories }], 'passed', [1, 2]);
  await finds(name, [refused(0), refused(9), refused(20)], 'failed', [2, 3]);
  const inUse = { code: 'idempotency_key_in_use', status: 409, answerHeaders: { 'retry-after': '1' } };
  const create = (at: number, name: string, more: object = inUse) => ({ at, ...post, ...key(name), ...more });
  const waits = 'retry-after.obeyed';
  await finds(waits, [create(0, 'a'), create(1_100, 'a', {})], 'passed', [1, 2]);
  await finds(waits, [create(0, 'a'), create(500, 'a', {})], 'failed', [1, 2]);
  const same = 'idempotency.same-key-on-retry';
  await finds(same, [create(0, 'a'), create(1_100, 'a', {})], 'passed', [1, 2]);
  await finds(same, [create(0, 'a'), create(1_100, 'b', {})], 'failed', [1, 2]);
  // Other causes of 409 are permanent.
  const sold = { status: 409, code: 'conflict' };
  await finds(waits, [create(0, 'a', sold), create(9, 'a', sold)], 'not_observed');
  await finds(same, [create(0, 'a', sold), create(9, 'b', {})], 'not_observed');
});
