import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  categories,
  crowd,
  cut,
  elsewhere,
  finds,
  key,
  limited,
  post,
  sent,
  unavailableFor,
} from '../../support/findings.ts';
import type { Sketch } from '../../support/recorded.ts';
import { numbers } from '../../support/values.ts';

const failing = (...at: number[]) => at.map((ms) => ({ at: ms, status: 500 }));

test('backoff.grows fails equal or missing waits, and tolerates jitter', () => {
  const name = 'backoff.grows';
  finds(name, failing(0, 5, 10), 'failed', [1, 2, 3]);
  finds(name, failing(0, 1_000, 2_050, 3_000), 'failed', [1, 2, 3, 4]);
  finds(name, failing(0, 1_000, 2_000), 'not_observed');
  finds(name, failing(0, 500, 1_500), 'passed', [1, 2, 3]);
  finds(name, failing(0, 900, 1_000, 1_500), 'not_observed');
  finds(name, failing(0, 900, 1_000, 3_500), 'passed', [1, 2, 3, 4]);
  finds(name, failing(0, 5), 'not_observed');
  // On a busy machine waits of 10, 20 and 40 ms became longer.
  finds(name, failing(0, 32, 64, 104), 'not_observed');
  // A success in between starts the sequence again.
  const mended = [0, 10, 20, 30].flatMap((at) => [sent(at, { status: 500 }), sent(at + 5)]);
  finds(name, mended, 'not_observed');
  // With Retry-After, that time counts.
  const obedient = [0, 1_100, 2_200, 3_300].map((at) => sent(at, unavailableFor(1)));
  finds(name, obedient, 'not_observed');
});

test('retry.only-when-useful distinguishes a retry from another request, and from asking again later', () => {
  const name = 'retry.only-when-useful';
  const missing = { target: '/v1/orders/9', status: 404 };
  finds(name, [sent(0, missing), sent(9, missing)], 'failed', [1, 2]);
  finds(name, [sent(0, missing), sent(5), sent(9, missing)], 'failed', [1, 3]);
  finds(name, [sent(0, missing), sent(90_000, missing)], 'passed', [1]);
  // Another worker sends in between, and may have waited for the connection.
  const busy = [sent(0, missing), sent(5, elsewhere), sent(9, missing)];
  finds(name, [...crowd, ...busy], 'not_observed');
  const later = { at: 900, ...missing, connection: 'c9' };
  finds(name, [...crowd, sent(0, missing), later], 'not_observed');
  finds(name, busy, 'failed', [1, 3]);
  finds(name, [sent(-5, { durationMs: 4 }, elsewhere), sent(0, missing), sent(9, missing)], 'failed', [2, 3]);
  // The client may not have received it.
  const broken = { ...missing, fault: 'truncated' };
  finds(name, [sent(0, broken), sent(9, missing), sent(20, categories)], 'passed', [2]);
  const type = (text: string) => ({ ...post, headers: { 'content-type': text } });
  const mistyped = sent(0, type('text/plain'), { status: 415 });
  finds(name, [mistyped, sent(5, type('application/json'))], 'passed', [1]);
  finds(name, [sent(0, { status: 403, code: 'key_banned' }), sent(5)], 'not_observed');
  // A conflict ends by itself only if it says when.
  const conflict = (headers: Record<string, string>) => ({ ...post, status: 409, answerHeaders: headers });
  finds(name, [sent(0, conflict({})), sent(9, conflict({}))], 'failed', [1, 2]);
  finds(name, [sent(0, conflict({})), sent(9, post, { body: '{"name":"b"}' })], 'passed', [1]);
  finds(name, [sent(0, conflict({})), sent(4, { method: 'DELETE' }), sent(9, post)], 'passed', [1]);
  finds(name, [sent(0, conflict({ 'retry-after': '1' })), sent(1_100, post)], 'not_observed');
  finds(name, [sent(0), sent(5)], 'not_observed');
});

test('failures.retried allows giving up after retries, and asks for no blind POST', () => {
  const name = 'failures.retried';
  finds(name, [sent(0, cut), sent(1_000, cut)], 'passed', [1, 2]);
  // Half a second is shorter than the restart of a service, unless there is a third attempt.
  const hasty = [sent(0, cut), sent(500, cut)];
  finds(name, hasty, 'failed', [1, 2]);
  finds(name, [...hasty, sent(900, cut)], 'passed', [1, 2, 3]);
  finds(name, [sent(0, cut), sent(100, categories)], 'failed', [1]);
  finds(name, [sent(0, post, cut)], 'not_observed');
  finds(name, [sent(0, post, key('k'), cut)], 'failed', [1]);
  finds(name, [sent(0, post, { status: 503 })], 'failed', [1]);
  // Nobody waits for ten days.
  finds(name, [sent(0, unavailableFor(864_000)), sent(9, categories)], 'not_observed');
  finds(name, [sent(0, unavailableFor(60)), sent(9, categories)], 'failed', [1]);
  // Two workers fail at the same time, and one of them continues.
  const both = [sent(0, cut), sent(0, cut, elsewhere)];
  const [third, fourth] = [sent(50, { connection: 'c3' }), sent(50, { connection: 'c4' })];
  finds(name, [...both, third], 'failed', [2]);
  finds(name, [...both, third, fourth], 'passed', [1, 2, 3, 4]);
});

test('failures.retried counts a new change of a resource that was read again as a retry', () => {
  const name = 'failures.retried';
  const change = (at: number, more: object) => ({
    ...{ at, method: 'PATCH', target: '/v1/pets/1', operation: 'updatePet', body: `at ${at}`, ...more },
  });
  const read = { at: 400, target: '/v1/pets?id=1' };
  const down = change(0, { status: 503 });
  finds(name, [down, read, change(900, {})], 'passed', [1, 3]);
  finds(name, [down, { ...read, target: '/v1/pets?id=2' }, change(900, {})], 'failed', [1]);
  finds(name, [down, change(900, {})], 'failed', [1]);
  // After a lost response, the read shows whether the change took effect. After 503 it did not.
  finds(name, [change(0, cut), read], 'not_observed');
  finds(
    name,
    [change(0, cut), categories, read].map((one, at) => sent(at, one)),
    'not_observed',
  );
  finds(name, [down, read], 'failed', [1]);
});

test('a POST without a key may be sent again after the list was read to its end, by the same worker and after the failure', () => {
  const name = 'idempotency.no-blind-post-retry';
  const list = (at: number, query = '', more: object = {}) => ({
    ...{ at, ...categories, ...more, target: `/v1/categories${query}` },
  });
  const next = (cursor: string) => ({
    answerHeaders: { link: `</v1/categories?name=a&cursor=${cursor}>; rel="next"` },
  });
  const [lost, again] = [sent(0, post, cut), sent(900, post)];
  const cases: [what: string, between: Sketch[], isLook: boolean][] = [
    ['whole', [list(100)], true],
    ['filtered', [list(100, '?name=a')], true],
    ['paged', [list(100, '?name=a', next('1')), list(150, '?cursor=1&name=a')], true],
    [
      'paged, with a page that failed',
      [
        list(100, '?name=a', next('1')),
        list(120, '?cursor=1&name=a', { status: 500 }),
        list(150, '?cursor=1&name=a'),
      ],
      true,
    ],
    ['not to its end', [list(100, '?name=a', next('1'))], false],
    ['only its end', [list(150, '?cursor=1&name=a')], false],
    ['without success', [list(100, '', { status: 503 })], false],
    ['cut off', [list(100, '', { fault: 'truncated' })], false],
    ['before the failure', [], false],
    ['another list', [sent(100)], false],
  ];
  for (const [what, between, isLook] of cases) {
    const requests = [list(-90), lost, ...between, again];
    const { because } = finds(
      name,
      requests,
      isLook ? 'not_observed' : 'failed',
      isLook ? [] : [2, requests.length],
    );
    if (isLook) assert.match(because, /after the client had read the list/, what);
  }
  // A list that answers with one known pet shows no new one.
  const pets = { ...post, target: '/v1/pets', operation: 'createPet' };
  finds(name, [sent(0, pets, cut), { at: 100, target: '/v1/pets?id=1' }, sent(900, pets)], 'failed', [1, 3]);
  finds(
    name,
    [sent(0, pets, cut), { at: 100, target: '/v1/pets?status=sold' }, sent(900, pets)],
    'not_observed',
  );
});

test('idempotency checks: equal POSTs after a success are two orders, and only an unknown outcome makes a retry blind', () => {
  const same = 'idempotency.same-key-on-retry';
  finds(same, [sent(0, post, key('a'), { status: 201 }), sent(9, post, key('b'))], 'not_observed');
  finds(same, [sent(0, post, key('a'), cut), sent(9, post, key('a'))], 'passed', [1, 2]);
  finds(same, [sent(0, post, key('a'), cut), sent(9, post)], 'failed', [1, 2]);
  finds(same, [sent(0, post, key('a'), { status: 503 }), sent(9, post, key('b'))], 'not_observed');
  const blind = 'idempotency.no-blind-post-retry';
  finds(blind, [sent(0, post, { status: 500 }), sent(9, post)], 'failed', [1, 2]);
  finds(blind, [sent(0, post, { status: 500 })], 'passed', [1]);
  finds(blind, [sent(0, post, { status: 500 }), sent(9, post, { body: '{}' })], 'passed', [1]);
  finds(blind, [sent(0, post, { status: 503 }), sent(9, post)], 'not_observed');
  finds(blind, [sent(0, post, key('a'), cut), sent(9, post, key('a'))], 'passed', [1]);
  finds(blind, [sent(0, { method: 'PUT' }, cut), sent(9, { method: 'PUT' })], 'not_observed');
});

test('backoff.grows ignores pollers and workers, and fails many retries without one real wait', () => {
  const name = 'backoff.grows';
  finds(name, failing(0, 40, 55, 130, 150), 'failed', [1, 2, 3, 4, 5]);
  finds(name, failing(0, 40, 55, 130), 'not_observed');
  finds(name, [...failing(0, 300, 600, 900), sent(1_200), sent(1_500)], 'not_observed');
  finds(name, [sent(0), ...failing(300, 600, 900, 1_200)], 'not_observed');
  finds(name, [...failing(0, 300, 600, 900), sent(1_200)], 'failed', [1, 2, 3, 4, 5]);
  // Reading another page of the same list is no poll, whatever the time between.
  const listed = [...failing(0, 300, 600, 900), sent(1_200), sent(1_300, categories)];
  finds(name, [...listed, sent(1_500)], 'failed', [1, 2, 3, 4, 5]);
  const inTurns = listed.flatMap((one) => [one, sent(one.at + 9, categories)]);
  finds(name, [...inTurns.slice(0, 10), sent(1_500)], 'not_observed');
  // Retries after a broken connection use new ones, and so do workers that start.
  const apart = (...at: number[]) => at.map((ms) => ({ at: ms, ...cut, connection: `c${ms}` }));
  finds(name, apart(0, 3, 6, 9, 12), 'failed', [1, 2, 3, 4, 5]);
  finds(name, [...crowd, ...apart(0, 3, 6, 9, 12)], 'not_observed');
});

test('a request that the client aborted has an unknown outcome, and is no failure of the service', () => {
  const left = { ...post, ...cut, left: true as const };
  const again = { at: 50, ...post, ...elsewhere };
  finds('idempotency.no-blind-post-retry', [sent(0, left), again], 'failed', [1, 2]);
  finds('idempotency.no-blind-post-retry', [sent(0, left, { status: 201 }), again], 'failed', [1, 2]);
  const same = 'idempotency.same-key-on-retry';
  finds(same, [sent(0, left, key('a')), { ...again, ...key('a') }], 'passed', [1, 2]);
  finds(same, [sent(0, left, key('a')), { ...again, ...key('b') }], 'failed', [1, 2]);
  finds('failures.retried', [sent(0, cut, { left: true }), sent(9, categories)], 'not_observed');
});

test('idempotency checks pair equal keys first, and do not fail if another worker may have sent the request', () => {
  const same = 'idempotency.same-key-on-retry';
  const lost = { at: 0, ...post, ...key('a'), ...cut };
  const other = { at: 20, ...post, ...elsewhere, ...key('b') };
  finds(same, [lost, other, sent(200, post, key('a'), { connection: 'c3' })], 'passed', [1, 3]);
  finds(same, [lost, other], 'failed', [1, 2]);
  const busy = { at: 10, durationMs: 50, connection: 'c9' };
  finds(same, [lost, busy, other], 'not_observed');
  finds(same, [...crowd, sent(-9, elsewhere), lost, other], 'not_observed');
  finds(same, [sent(-9, elsewhere), lost, other], 'failed', [2, 3]);
  const blind = { at: 0, ...post, ...cut };
  finds('idempotency.no-blind-post-retry', [blind, busy, { ...other, headers: {} }], 'not_observed');
});

test('retry.same-body finds a lost body, and ignores ETags and other requests', () => {
  const name = 'retry.same-body';
  const put = (at: number, headers: Record<string, string>, more: object = {}) => ({
    ...{ at, method: 'PUT', target: '/v1/pets/1', operation: 'replacePet', body: '{"name":"a"}' },
    ...{ bodyBytes: 12, headers, ...more },
  });
  const failing = put(0, { 'if-match': '"a"', 'content-type': 'application/json' }, { status: 500 });
  const type = { 'content-type': 'application/json' };
  finds(name, [failing, put(900, { ...type, 'if-match': '"a"' })], 'passed', [1, 2]);
  finds(name, [failing, put(900, { ...type, 'if-match': '"b"' })], 'passed', [1, 2]);
  finds(name, [failing, put(900, type)], 'failed', [1, 2]);
  finds(name, [failing, put(900, { 'if-match': '"a"' })], 'failed', [1, 2]);
  const emptied = put(900, {}, { body: '', bodyBytes: 0, status: 400 });
  finds(name, [failing, emptied], 'failed', [1, 2]);
  finds(name, [failing, sent(800), emptied], 'not_observed');
  finds(name, [...crowd, failing, emptied], 'not_observed');
  // The same key also proves it beside other workers.
  const create = (at: number, body: string, status: number) => ({
    ...{ at, ...post, ...key('a'), body, bodyBytes: body.length, status },
  });
  finds(name, [...crowd, create(0, '{"at":1}', 500), create(900, '{"at":2}', 422)], 'failed', [3, 4]);
  const other = 'idempotency.key-for-one-thing';
  finds(other, [create(0, '{"at":1}', 500), create(900, '{"at":2}', 422)], 'not_observed');
  finds(other, [create(0, '{"at":1}', 201), create(900, '{"at":2}', 422)], 'failed', [1, 2]);
  const banned = { ...create(0, '{"at":1}', 403), code: 'key_banned' };
  finds(other, [banned, create(900, '', 400)], 'not_observed');
  finds(name, [banned, create(900, '', 400)], 'failed', [1, 2]);
  finds(name, [create(0, '{"at":1}', 201), create(900, '{"at":2}', 422)], 'not_observed');
  // The request was still repeated.
  finds('failures.retried', [create(0, '{"at":1}', 500), create(900, '{"at":22}', 201)], 'passed', [1, 2]);
  // An unread body may have been another, even with the same key.
  const { bodyBytes: _, ...unread } = create(0, '{"at":1}', 500);
  finds(name, [unread, create(900, '{"at":1}', 201)], 'not_observed');
  const used = { ...create(0, '{"at":1}', 422), code: 'idempotency_key_reused' };
  finds(other, [used], 'failed', [1]);
  const second = { ...create(9, '{"at":2}', 201), ...key('b') };
  finds(other, [create(0, '{"at":1}', 201), second], 'passed', [1, 2]);
  // It may be one resource that was created twice.
  finds(other, [create(0, '{"at":1}', 500), { ...create(9, '{"at":1}', 201), ...key('b') }], 'not_observed');
});

test('attempts.bounded tolerates waits for a limit, and requires an end of all other retries', () => {
  const name = 'attempts.bounded';
  const times = (count: number, more: object = {}) =>
    numbers(count, 0).map((second) => ({ at: second * 1_000, status: 500, ...more }));
  const next = { at: 90_000, ...categories };
  finds(name, [...times(4), next], 'passed', [1, 2, 3, 4]);
  finds(name, times(4), 'not_observed');
  finds(name, [...times(1), next], 'not_observed');
  finds(name, [...times(3), sent(3_000), next], 'not_observed');
  finds(name, [...times(20), next], 'passed', numbers(20));
  finds(name, times(21), 'failed', numbers(21));
  finds(name, times(40, limited), 'not_observed');
  // Two workers send the same thing at once, in the middle.
  const thing = { ...post, ...key('k') };
  const overlapping = (count: number) =>
    times(count, thing).map((one, index) => (index === 7 ? { ...one, at: 6_000, ...elsewhere } : one));
  finds(name, [...crowd, ...overlapping(12), sent(13_000, thing), next], 'not_observed');
  const many = [...crowd, ...overlapping(25), sent(26_000, thing)];
  const { because } = finds(name, many, 'failed', numbers(26, 3));
  assert.equal(because, 'The client made 26 attempts at one request.');
  // A poller keeps its pace, whatever the responses.
  finds(name, [...times(30), sent(30_000), sent(31_000)], 'not_observed');
});

test('401 allows one retry, and 409 one with the same key', () => {
  const name = 'retry.only-when-useful';
  const refused = (at: number) => ({ at, status: 401 });
  finds(name, [refused(0), sent(9), sent(20, categories)], 'passed', [1]);
  finds(name, [refused(0), refused(9), sent(20, categories)], 'passed', [1, 2]);
  finds(name, [refused(0), refused(9), refused(20)], 'failed', [2, 3]);
  const inUse = { code: 'idempotency_key_in_use', status: 409, answerHeaders: { 'retry-after': '1' } };
  const create = (at: number, name: string, more: object = inUse) => ({ at, ...post, ...key(name), ...more });
  const waits = 'retry-after.obeyed';
  finds(waits, [create(0, 'a'), create(1_100, 'a', {})], 'passed', [1, 2]);
  finds(waits, [create(0, 'a'), create(500, 'a', {})], 'failed', [1, 2]);
  const same = 'idempotency.same-key-on-retry';
  finds(same, [create(0, 'a'), create(1_100, 'a', {})], 'passed', [1, 2]);
  finds(same, [create(0, 'a'), create(1_100, 'b', {})], 'failed', [1, 2]);
  // Other causes of 409 are permanent.
  const sold = { status: 409, code: 'conflict' };
  finds(waits, [create(0, 'a', sold), create(9, 'a', sold)], 'not_observed');
  finds(same, [create(0, 'a', sold), create(9, 'b', {})], 'not_observed');
});
