import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bannedFor,
  categories,
  crowd,
  cut,
  elsewhere,
  finds,
  limited,
  post,
  rehearsed,
  sent,
  unavailableFor,
} from '../../support/findings.ts';
import { startMs } from '../../support/recorded.ts';

test('retry-after.obeyed counts from the beginning of the refused request, less a tolerance for timers', () => {
  const name = 'retry-after.obeyed';
  const slow = { at: 0, durationMs: 500, ...limited };
  finds(name, [slow, sent(1_999)], 'passed', [1, 2]);
  finds(name, [slow, sent(1_948)], 'passed', [1, 2]);
  finds(name, [slow, sent(1_947, limited)], 'failed', [1, 2]);
  finds(name, [slow, sent(100_000)], 'passed', [1, 2]);
  finds(name, [slow], 'not_observed');
  // The service recorded the end of the response late. The client was already waiting.
  const late = { at: 0, durationMs: 60, ...limited, answerHeaders: { 'retry-after': '1' } };
  finds(name, [late, sent(1_008)], 'passed', [1, 2]);
  // The clocks of two machines drift apart within a day.
  const day = { at: 0, ...limited, answerHeaders: { 'retry-after': '86400' } };
  finds(name, [day, sent(86_398_000)], 'passed', [1, 2]);
});

test('retry-after.obeyed reads a date, and tolerates a clock that is slightly ahead', () => {
  const name = 'retry-after.obeyed';
  const until = (seconds: number) => {
    const date = new Date(startMs + seconds * 1_000).toUTCString();
    return sent(0, limited, { answerHeaders: { 'retry-after': date } });
  };
  finds(name, [until(5), sent(4_001)], 'passed', [1, 2]);
  finds(name, [until(5), sent(3_990, limited)], 'failed', [1, 2]);
  // Half of a short wait is not enough.
  finds(name, [until(1), sent(400, limited)], 'failed', [1, 2]);
});

test('a request in flight when another was refused does not fail retry-after.obeyed', () => {
  const name = 'retry-after.obeyed';
  const other = { ...elsewhere, target: '/v1/pets?limit=1' };
  const refused = { at: 0, durationMs: 100, ...rehearsed };
  finds(name, [refused, sent(50, elsewhere, rehearsed)], 'not_observed');
  finds(name, [...crowd, refused, sent(300, other, rehearsed)], 'not_observed');
  // The same goes for a request of another worker without a refusal, however late a busy machine sends it.
  finds(name, [...crowd, refused, sent(1_900, other, rehearsed)], 'not_observed');
  // A client that sends on the same connection has the response, unless it had waited for a free connection.
  finds(name, [refused, sent(102, other, { connection: 'c1' }, rehearsed)], 'failed', [1, 2]);
  const busy = { at: 60, durationMs: 100, ...categories, connection: 'c3' };
  finds(name, [refused, busy, sent(102, other, { connection: 'c1' }, rehearsed)], 'not_observed');
  finds(name, [...crowd, refused, sent(102, elsewhere, rehearsed)], 'not_observed');
  // A proxy puts the requests of many on one connection.
  const proxied = { proxied: true as const, connection: 'c1' };
  finds(name, [...crowd, { ...refused, ...proxied }, sent(102, other, rehearsed, proxied)], 'not_observed');
});

test('requests that never overlap come from one worker, which knows each response, on any connection', () => {
  const name = 'retry-after.obeyed';
  for (const waitMs of [0.5, 20, 100, 249, 1_900]) {
    const early = { at: 1 + waitMs, ...elsewhere, ...rehearsed };
    finds(name, [sent(0, rehearsed), early], 'failed', [1, 2]);
    // A later wait does not excuse the early request.
    const later = { at: 4_000, ...elsewhere };
    finds(name, [sent(0, rehearsed), early, later], 'failed', [1, 2]);
    // Another worker may have sent it. But then nothing shows that somebody waited.
    finds(name, [...crowd, sent(0, rehearsed), early, later], 'not_observed');
  }
  const proxied = { proxied: true as const };
  finds(name, [sent(0, rehearsed, proxied), sent(102, rehearsed, proxied)], 'failed', [1, 2]);
  // The stream of events is always open beside other requests.
  const path = { operation: 'streamEvents', target: '/v1/store/events/stream' };
  const stream = sent(-50, { durationMs: 60_000, connection: 's' }, path);
  finds(name, [stream, sent(0, rehearsed), sent(21, elsewhere, rehearsed)], 'failed', [2, 3]);
});

/** A POST with its own body. */
const create = (at: number, name: string, more: object = {}) => ({ at, ...post, body: name, ...more });

test("workers that wait for one connection do not know each other's responses", () => {
  const name = 'retry-after.obeyed';
  const queued = [create(0, 'Ann', limited), create(2, 'Bob', limited)];
  finds(name, [...queued, create(2_100, 'Ann'), create(2_102, 'Bob')], 'not_observed');
  // A worker that does not wait sends its next request instead.
  const loop = [...queued, create(400, 'Cat', limited), create(2_100, 'Dan')];
  finds(name, loop, 'failed', [1, 2, 3]);
  // An early retry still counts as one.
  finds(name, [...queued, create(400, 'Ann', limited), create(2_400, 'Ann')], 'failed', [1, 3]);
  const held = [create(0, 'Ann', bannedFor(2)), sent(2, bannedFor(2))];
  finds('ban.stops', [...held, create(2_100, 'Ann'), sent(2_101)], 'not_observed');
  finds('ban.stops', [...held, sent(2_101)], 'failed', [1, 2]);
});

test('identical requests on one connection come from one worker only if some of them never wait', () => {
  const name = 'retry-after.obeyed';
  const at = (ms: number, more: object = rehearsed) => ({ at: ms, connection: 'c3', ...more });
  finds(name, [...crowd, at(0), at(5), at(2_100, {}), at(2_105, {})], 'not_observed');
  finds(name, [...crowd, at(0), at(20), at(40), at(2_100, {})], 'failed', [4, 5]);
  // A pipelined request was sent before the response.
  finds(name, [sent(0, { durationMs: 40 }, rehearsed), sent(5, rehearsed)], 'not_observed');
});

test('workers may each wait for their own Retry-After, unless their key is banned for it', () => {
  const name = 'retry-after.obeyed';
  const alone = [...crowd, sent(0, limited), sent(20, elsewhere, limited, { target: '/v1/pets?limit=1' })];
  const waited = [sent(2_100), sent(2_130, elsewhere, { target: '/v1/pets?limit=1' })];
  finds(name, [...alone, ...waited], 'not_observed');
  const ban = bannedFor(60);
  const { because } = finds(name, [...alone, sent(900, ban)], 'failed', [4, 5]);
  assert.match(because, /until the key was banned \(request 5\)\.$/);
  finds(name, [...alone, sent(900, ban, { fault: 'banned' })], 'not_observed');
  const bannedAtOnce = sent(900, ban, elsewhere, categories);
  finds(name, [...crowd, sent(0, limited), bannedAtOnce], 'not_observed');
});

test('a change whose body was not read is identified by its resource, its length and its conditions', () => {
  const name = 'retry-after.obeyed';
  const change = { method: 'PATCH', target: '/v1/pets/1', operation: 'updatePet', body: '{"name":"a"}' };
  const tag = { headers: { 'if-match': '"a"' } };
  const down = { ...change, ...tag, ...unavailableFor(2), isGuessed: true as const };
  finds(name, [sent(0, down), sent(500, change, tag)], 'failed', [1, 2]);
  finds(name, [sent(0, down), sent(2_000, change, tag)], 'passed', [1, 2]);
  finds(name, [sent(0, down), sent(500, change)], 'not_observed');
  // It may still have another body.
  finds('retry.same-body', [sent(0, down), sent(2_000, change, tag)], 'not_observed');
});

test('a simulated 429 applies to its operation, a real one to requests that get 429 again, and 503 to the same request', () => {
  const name = 'retry-after.obeyed';
  finds(name, [sent(0, rehearsed), sent(500, categories)], 'not_observed');
  finds(name, [sent(0, limited), sent(500, categories)], 'not_observed');
  finds(name, [sent(0, limited), sent(500, limited, categories)], 'failed', [1, 2]);
  finds(name, [sent(0, unavailableFor(2)), sent(500, { target: '/v1/pets?limit=1' })], 'not_observed');
  finds(name, [sent(0, unavailableFor(2)), sent(500)], 'failed', [1, 2]);
  finds(name, [sent(0, { status: 429 }), sent(5)], 'not_observed');
});

/** Six requests, each on its own connection. */
const each = (gapMs: number, more: object = {}) =>
  [1, 2, 3, 4, 5, 6].map((number) => ({ at: number * gapMs, connection: `c${number}`, ...more }));

test('behind a proxy neither cuts nor connections count as those of the client', () => {
  const proxied = { proxied: true as const };
  const lost = [sent(0, post, cut, proxied), sent(9, post, proxied)];
  finds('idempotency.no-blind-post-retry', lost, 'not_observed');
  finds('connections.reused', each(10, proxied), 'not_observed');
});

test('connections.reused ignores busy, new, old and broken connections', () => {
  const name = 'connections.reused';
  const { because } = finds(name, each(10), 'failed', [2, 3, 4, 5, 6]);
  assert.equal(
    because,
    '5 of 5 requests opened a connection although the client could have kept the one before.',
  );
  finds(name, each(10, { durationMs: 100 }), 'not_observed');
  finds(name, each(3_000), 'not_observed');
  // Workers that begin at once. The service has served some before it reads the last.
  finds(name, [...crowd, ...each(10)], 'not_observed');
  finds(name, [...crowd, ...each(1_500)], 'failed', [4, 5, 6, 7, 8]);
  finds(name, each(10, cut), 'not_observed');
  finds(name, each(10, { operation: 'streamEvents' }), 'not_observed');
  finds(name, each(10, { status: 307 }), 'not_observed');
  // The service ends a connection if the client asks for it, or for an upgrade.
  const close = { connection: 'close' };
  finds(name, each(10, { answerHeaders: close }), 'not_observed');
  finds(name, each(10, { answerHeaders: close, headers: close }), 'failed', [2, 3, 4, 5, 6]);
  finds(name, each(10, { answerHeaders: close, headers: { connection: 'Upgrade' } }), 'not_observed');
});

test('ban.stops and limits.foreseen concern the whole key', () => {
  const ban = bannedFor(60);
  finds('ban.stops', [sent(0, ban), sent(59_000, ban, categories)], 'failed', [1, 2]);
  finds('ban.stops', [sent(0, ban), sent(60_001, categories)], 'passed', [1, 2]);
  finds('ban.stops', [sent(0, ban)], 'not_observed');
  const reset = String(startMs / 1_000 + 60);
  const none = { answerHeaders: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } };
  finds('limits.foreseen', [sent(0, none), sent(100, limited)], 'failed', [1, 2]);
  // By the clock of the service the window has ended.
  finds('limits.foreseen', [sent(0, none), sent(100)], 'not_observed');
  finds('limits.foreseen', [sent(0, none), sent(60_001)], 'passed', [1, 2]);
  // Another worker does not know it.
  const others = [...crowd, sent(0, none), sent(900, elsewhere, limited)];
  finds('limits.foreseen', others, 'not_observed');
  // A clock that is a second ahead sees that the window has ended.
  finds('limits.foreseen', [sent(59_100, none), sent(59_200, limited)], 'not_observed');
});

test('a limit or a ban that admits a request has ended, but a 503 has not', () => {
  const name = 'retry-after.obeyed';
  finds(name, [sent(0, rehearsed), sent(500), sent(600)], 'not_observed');
  finds(name, [sent(0, rehearsed), sent(500, rehearsed)], 'failed', [1, 2]);
  finds('ban.stops', [sent(0, bannedFor(60)), sent(900)], 'not_observed');
  const down = sent(0, unavailableFor(2));
  finds(name, [down, sent(500)], 'failed', [1, 2]);
  // Another worker does not know it.
  finds(name, [...crowd, sent(-9, elsewhere), down, sent(500, elsewhere)], 'not_observed');
  finds(name, [down, sent(500, elsewhere)], 'failed', [1, 2]);
});
