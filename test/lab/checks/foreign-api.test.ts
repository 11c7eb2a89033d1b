import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { Id } from '../../../src/foundation/schema.ts';
import type { Operation } from '../../../src/http/operation.ts';
import { checks } from '../../../src/lab/checks/list.ts';
import { reportOn } from '../../../src/lab/checks/report.ts';
import type { TargetApi } from '../../../src/lab/target-api.ts';
import { cut, key, sent } from '../../support/findings.ts';
import { recorded, type Sketch, startMs } from '../../support/recorded.ts';
import { numbers } from '../../support/values.ts';

const notice = Type.Object({ text: Type.String() }, { title: 'Notice' });
const errors = ['rate_limited', 'key_banned', 'idempotency_key_reused', 'precondition_failed'] as const;

/** The operations of a hotel. `hasConventions`: whether it has those of Petstore, as far as operations show them. */
function hotel(hasConventions: boolean): TargetApi {
  const operation = (id: string, method: string, path: string, kind: string, more: object = {}) =>
    ({
      ...{ id, method, path, params: {}, query: {}, errors: hasConventions ? errors : [] },
      success: { kind, status: 200, description: '' },
      ...more,
    }) as unknown as Operation;
  const page = (items: object) => ({ kind: 'page', schema: { items } });
  return {
    operations: [
      operation('findRooms', 'GET', '/rooms', 'page', {
        query: hasConventions ? { cursor: Type.String() } : { offset: Type.Integer() },
      }),
      operation('oldRooms', 'GET', '/beds', 'page', {
        deprecated: { since: '2026-01-01', sunset: '2027-01-01', successor: 'findRooms' },
      }),
      operation('book', 'POST', '/bookings', 'created'),
      operation('readBooking', 'GET', '/bookings/{code}', 'resource', {
        params: { code: hasConventions ? Id('The booking.') : Type.String() },
      }),
      operation('changeBooking', 'PATCH', '/bookings/{code}', 'resource'),
      operation('watch', 'GET', '/notices/live', 'stream', { success: { kind: 'stream', event: notice } }),
      operation('readNotices', 'GET', '/notices', 'page', { success: page(notice) }),
    ],
  };
}

const rooms = { target: '/api/rooms', operation: 'findRooms' };
const beds = { target: '/api/beds', operation: 'oldRooms' };
const booking = { target: '/api/bookings/B7', operation: 'readBooking', answerHeaders: { etag: '"1"' } };
const change = { target: '/api/bookings/B7', operation: 'changeBooking', method: 'PATCH' };
const watch = { target: '/api/notices/live', operation: 'watch' };
const notices = { target: '/api/notices', operation: 'readNotices' };
const book = { target: '/api/bookings', operation: 'book', method: 'POST', body: '{}', bodyBytes: 2 };
const failed = { status: 500 };
const later = { at: 90_000, ...rooms };

const retryAfter = (seconds: number) => ({ status: 429, answerHeaders: { 'retry-after': String(seconds) } });
const ban = { status: 403, code: 'key_banned', answerHeaders: { 'retry-after': '5' } };
const conflict = { fault: 'conflict', otherWriter: { property: 'guest', before: '"Ann"' } };
const ifMatch = (etag: string) => ({ headers: { 'if-match': etag } });
const next = (query: string) => ({
  answerHeaders: { link: `<http://hotel/api/rooms?${query}>; rel="next"` },
});
const shortPage = sent(0, rooms, next('cursor=c2'), { fault: 'small-pages' });
const seaView = sent(0, rooms, next('view=sea&cursor=c2'));
const cutStream = sent(0, watch, { fault: 'stream-cut', cutEventId: '7' });
const away = (status: number, headers: Record<string, string>) => ({
  ...rooms,
  ...{ fault: 'moved-away', status, headers },
});
const lastOne = {
  answerHeaders: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(startMs / 1_000 + 5) },
};
const series = (times: number[], given: object): Sketch[] => times.map((at) => ({ at, ...given }));
const sixOn = (connectionOf: (count: number) => string) =>
  numbers(6).map((count) => sent(50 * count, rooms, { connection: connectionOf(count) }));

/** For each check: requests of a client that fails it, and of one that passes. */
const clients: Record<string, { bad: Sketch[]; good: Sketch[] }> = {
  'retry-after.obeyed': {
    bad: series([0, 100], { ...rooms, ...retryAfter(2) }),
    good: [sent(0, rooms, retryAfter(2)), sent(2_100, rooms)],
  },
  'backoff.grows': {
    bad: series([0, 3, 6], { ...rooms, ...failed }),
    good: series([0, 200, 800], { ...rooms, ...failed }),
  },
  'attempts.bounded': {
    bad: numbers(22).map((count) => sent(100 * count, rooms, failed)),
    good: [...series([0, 300], { ...rooms, ...failed }), sent(900, notices)],
  },
  'time-limit.exists': {
    bad: [sent(0, rooms, cut, { fault: 'no-answer', durationMs: 25_000 })],
    good: [sent(0, rooms, cut, { fault: 'no-answer', durationMs: 3_000, left: true })],
  },
  'retry.only-when-useful': {
    bad: [...series([0, 50], { ...book, status: 422 }), later],
    good: [sent(0, book, { status: 422 }), later],
  },
  'failures.retried': {
    bad: [sent(0, rooms, { status: 503 }), { ...later, ...notices }],
    good: [sent(0, rooms, { status: 503 }), sent(1_500, rooms)],
  },
  'retry.same-body': {
    bad: [sent(0, book, failed, { headers: { 'content-type': 'application/json' } }), sent(50, book)],
    good: series([0, 50], { ...book, ...failed }),
  },
  'idempotency.same-key-on-retry': {
    bad: [sent(0, book, failed, key('a')), sent(50, book, failed, key('b'))],
    good: series([0, 50], { ...book, ...failed, ...key('a') }),
  },
  'idempotency.no-blind-post-retry': {
    bad: series([0, 50], { ...book, ...failed }),
    good: [sent(0, book, failed), later],
  },
  'idempotency.key-for-one-thing': {
    bad: [sent(0, book, key('a')), sent(50, book, { body: '[]' }, key('a'))],
    good: [sent(0, book, key('a')), sent(50, book, { body: '[]' }, key('b'))],
  },
  'credentials.not-forwarded': {
    bad: [
      sent(0, away(307, { host: 'hotel', authorization: '' })),
      sent(9, away(200, { host: 'other', authorization: '' })),
    ],
    good: [sent(0, away(307, { host: 'hotel' })), sent(9, away(200, { host: 'other' }))],
  },
  'ban.stops': {
    bad: series([0, 100], { ...rooms, ...ban }),
    good: [sent(0, rooms, ban), sent(6_000, rooms)],
  },
  'limits.foreseen': {
    bad: [sent(0, rooms, lastOne), sent(100, notices, { status: 429 })],
    good: [sent(0, rooms, lastOne), sent(6_000, notices)],
  },
  'pages.to-the-end': {
    bad: [shortPage, { ...later, ...notices }],
    good: [shortPage, sent(50, rooms, { target: '/api/rooms?cursor=c2' })],
  },
  'pages.filters-kept': {
    bad: [seaView, sent(50, rooms, { target: '/api/rooms?cursor=c2' })],
    good: [seaView, sent(50, rooms, { target: '/api/rooms?cursor=c2&view=sea' })],
  },
  'streams.resumed': {
    bad: [cutStream, sent(50, watch)],
    good: [cutStream, sent(50, watch, { headers: { 'last-event-id': '6' } })],
  },
  'ids.exact': {
    bad: [sent(0, booking, { target: '/api/bookings/10000000000000004' })],
    good: [sent(0, booking, { target: '/api/bookings/10000000000000003' })],
  },
  'if-match.sent': {
    bad: [sent(0, booking), sent(50, change)],
    good: [sent(0, booking), sent(50, change, ifMatch('"1"'))],
  },
  'updates.not-lost': {
    bad: [sent(0, booking), sent(50, change, conflict, { values: { guest: '' } })],
    good: [sent(0, booking), sent(50, change, conflict, { status: 412 }, ifMatch('"1"'))],
  },
  'conflict.read-again': {
    bad: [sent(0, change, { status: 412 }, ifMatch('"1"')), sent(50, change)],
    good: [
      sent(0, change, { status: 412 }, ifMatch('"1"')),
      sent(50, booking),
      sent(90, change, ifMatch('"2"')),
    ],
  },
  'deprecated.not-called': { bad: [sent(0, beds)], good: [sent(0, rooms)] },
  'sunset.successor-used': {
    bad: [sent(0, beds, { status: 410 }), sent(50, beds)],
    good: [sent(0, beds, { status: 410 }), sent(50, rooms)],
  },
  'connections.reused': { bad: sixOn((count) => `c${count}`), good: sixOn(() => 'c') },
  'operations.covered': {
    bad: [sent(0, rooms)],
    good: [rooms, beds, book, booking, change, watch, notices].map((one, at) => sent(at, one)),
  },
};

test('every check judges the clients of another API, or says which convention that lacks', () => {
  assert.deepEqual(
    Object.keys(clients),
    checks.map(({ name }) => name),
  );
  for (const { name, needs } of checks) {
    const { bad, good } = clients[name] as (typeof clients)[string];
    const resultIn = (api: TargetApi, sketches: Sketch[]) =>
      reportOn('rec_1', recorded(...sketches), api).checks.find((check) => check.name === name)?.result;
    const expected = [name === 'operations.covered' ? 'not_observed' : 'failed', 'passed'];
    const [inHotel, inPlain] = [hotel(true), hotel(false)].map((api) =>
      [bad, good].map((sketches) => resultIn(api, sketches)),
    );
    assert.deepEqual(inHotel, expected, name);
    assert.deepEqual(inPlain, needs ? [undefined, undefined] : expected, name);
  }
});

test('a client may read the list of events instead of opening its stream again', () => {
  const stream = clients['streams.resumed']?.bad as Sketch[];
  const { checks } = reportOn('rec_1', recorded(...stream, { at: 90, ...notices }), hotel(false));
  assert.equal(checks.find(({ name }) => name === 'streams.resumed')?.result, 'not_observed');
});
