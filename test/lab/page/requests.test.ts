import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { preciseDuration } from '../../../src/foundation/words.ts';
import { prettyJson } from '../../../src/http/pages/pretty-json.ts';
import { findingOf } from '../../../src/lab/checks/check.ts';
import { banStops, retryAfterObeyed } from '../../../src/lab/checks/rate-limits.ts';
import { trafficOf } from '../../../src/lab/checks/traffic.ts';
import { curlOf } from '../../../src/lab/page/curl.ts';
import { inScope, wantedOf } from '../../../src/lab/page/request-filters.ts';
import { plain } from '../../../src/lab/page/template.ts';
import { type TimeLine, timeLineOf } from '../../../src/lab/page/timeline.ts';
import { preciseTime } from '../../../src/lab/page/times.ts';
import { petstoreApi } from '../../../src/lab/petstore/petstore-api.ts';
import { outcomeOf, outcomes } from '../../../src/lab/recordings/outcome-kinds.ts';
import type { RecordedRequest } from '../../../src/lab/recordings/schema.ts';
import { type Attempt, attemptsOf, type Wait, waitOf } from '../../../src/lab/recordings/timeline-layout.ts';
import { recorded as judged } from '../../support/recorded.ts';

const startMs = Date.parse('2026-06-01T12:00:00Z');

const recorded = (id: number, given: Partial<RecordedRequest> = {}, atMs = startMs): RecordedRequest => ({
  ...{ id: String(id), requestId: `mine-${id}`, at: new Date(atMs).toISOString(), method: 'GET' },
  ...{ target: '/v1/pets', operation: 'listPets', headers: {}, bodyBytes: 0, status: 200, durationMs: 4 },
  ...{ answerHeaders: {}, connection: 'c-1', offsetMs: atMs - startMs, fingerprint: 'head.body' },
  ...given,
});

const lineOf = (requests: readonly RecordedRequest[]) => timeLineOf(attemptsOf(requests, 0)) as TimeLine;

/** The arguments of curl, after a shell has read the line. */
function argumentsOf(line: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${line}`;
  const env = { PETSTORE_API_KEY: 'pet_secret' };
  return execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}

const base = 'http://localhost:8080/shop/v1';

test('a curl command sends the same request again, whatever it contains', () => {
  const body = `@it's {"a": "$HOME \`id\` \\n",\n"b": 10000000000000003}`;
  const request = recorded(1, {
    ...{ method: 'POST', target: `/v1/store/orders?q='[a]$(id)`, body, bodyBytes: Buffer.byteLength(body) },
    headers: {
      ...{ authorization: '(not kept)', 'x-mine': '(not kept)', host: 'a', 'content-length': '7' },
      ...{ 'content-type': 'application/json', accept: '', 'user-agent': `it's "mine"` },
    },
  });
  const { line, without } = curlOf(request, base);
  assert.equal(without, 'x-mine');
  assert.deepEqual(argumentsOf(line), [
    ...['--include', '--globoff', `http://localhost:8080/shop/v1/store/orders?q='[a]$(id)`],
    ...['--request', 'POST', '--header', 'Authorization: Bearer pet_secret'],
    ...['--header', 'content-type: application/json', '--header', 'accept;'],
    ...['--header', `user-agent: it's "mine"`, '--data-raw', body],
  ]);
});

test('a curl command has a body only if the recording has all of it, and names no other host', () => {
  const cut = recorded(1, {
    method: 'PUT',
    target: 'http://evil.test/v1/pets/1',
    body: '{"a"',
    bodyBytes: 9,
  });
  assert.deepEqual(curlOf(cut, base), {
    line: `curl --include 'http://localhost:8080/shop/v1/pets/1' \\\n  --request 'PUT'`,
    without: 'the body, which is incomplete',
  });
  const binary = recorded(1, { method: 'PUT', body: '(28 bytes that are not text)', bodyBytes: 28 });
  const byte = recorded(1, { method: 'PUT', body: '(1 byte that is not text)', bodyBytes: 1 });
  const unread = { ...recorded(1, { method: 'PUT' }), bodyBytes: undefined } as unknown as RecordedRequest;
  const harmful = recorded(1, { method: 'PUT', body: '\u001b[2J', bodyBytes: 4 });
  for (const request of [binary, byte, unread, harmful])
    assert.ok(!curlOf(request, base).line.includes('--data-raw'), String(request.body));
  assert.match(
    curlOf(recorded(1, { method: 'HEAD', target: '/v1/a/../b' }), base).line,
    /--path-as-is .* \\\n {2}--head$/,
  );
  assert.match(
    curlOf(recorded(1, { method: 'POST', body: 'a', bodyBytes: 1 }), base).line,
    /'Content-Type:'/,
  );
});

test('JSON is formatted with one value per line, and its numbers unchanged', () => {
  assert.equal(
    prettyJson('{"id":10000000000000003 ,"a":[ ],"b":[1e2,"x\\"{,:"],"c":{}}'),
    '{\n  "id": 10000000000000003,\n  "a": [],\n  "b": [\n    1e2,\n    "x\\"{,:"\n  ],\n  "c": {}\n}',
  );
  assert.equal(prettyJson('{"id":'), undefined);
  assert.ok((prettyJson('['.repeat(4_000) + ']'.repeat(4_000)) as string).length < 300_000);
});

test('filters of one group are combined by or, groups by and, and requests of the page are hidden', () => {
  const requests = [
    recorded(1),
    recorded(2, { status: 404, fault: 'large-ids', target: '/v1/Orders/1' }),
    recorded(3, { status: 503, retryOf: '2', answerHeaders: { deprecation: '@1' } }),
    recorded(4, { requestId: 'lab-page-1', status: 429 }, startMs - 10),
    recorded(5, { labPage: true, answerHeaders: { 'idempotency-replayed': 'true' } }),
  ];
  const seen = (only: string[], path = '', own = false) => {
    const wanted = { only: new Set(only) as never, path, own };
    return wantedOf(inScope(requests, wanted), wanted).map(({ request }) => request.id);
  };
  assert.deepEqual(seen([]), ['1', '2', '3', '4']);
  assert.deepEqual(seen([], '', true), ['1', '2', '3', '4', '5']);
  assert.deepEqual(seen(['4xx', '5xx']), ['2', '3', '4']);
  assert.deepEqual(seen(['4xx', 'faults']), ['2']);
  assert.deepEqual(seen(['deprecated', 'retries']), ['3']);
  assert.deepEqual(seen(['replayed'], '', true), ['5']);
  assert.deepEqual(seen([], ' orders '), ['2']);
  assert.deepEqual(seen([], '#3'), ['3']);
});

test('the timeline fits the requests, and shows early retries and the end of each wait', () => {
  const rateLimited = {
    status: 429,
    code: 'rate_limited',
    answerHeaders: { 'retry-after': '2' },
    durationMs: 10,
  };
  const line = lineOf([
    recorded(1, rateLimited),
    recorded(2, { ...rateLimited, gapMs: 500, retryOf: '1' }, startMs + 510),
    recorded(3, { gapMs: 2_000, retryOf: '2', durationMs: 30 }, startMs + 2_520),
  ]);
  const [lane, ...others] = line.lanes;
  assert.deepEqual(others, []);
  assert.equal(lane?.label, '#1 GET /v1/pets');
  assert.deepEqual(
    lane?.marks.map(({ attempt, wait }) => [attempt.word, wait?.ms, wait?.retryAfterMs, wait?.isTooSoon]),
    [
      ['429', undefined, undefined, undefined],
      ['429', 500, 2_000, true],
      ['200', 2_000, 2_000, false],
    ],
  );
  // The whole line is 2,550 ms long.
  assert.deepEqual(lane?.bands, [{ from: 0.39, to: 98.82, retryAfterMs: 2_000 }]);
  assert.deepEqual([lane?.marks[0]?.from, lane?.marks[2]?.to, line.ticks[0]?.at], [0, 100, 0]);
  assert.deepEqual(line.gaps, []);
});

test('a long time without a request is a labelled gap, also during an unfinished wait', () => {
  const wait = { status: 503, answerHeaders: { 'retry-after': '864000' }, durationMs: 0 };
  const line = lineOf([
    recorded(1, { durationMs: 1_000 }),
    recorded(2, wait, startMs + 61_000),
    recorded(3, {}, startMs + 61_000 + 9_999),
  ]);
  assert.deepEqual(
    line.gaps.map(({ ms }) => ms),
    [60_000, 864_000_000 - 10_003],
  );
  for (const { from, to } of line.gaps) assert.equal(Math.round(to - from), 15);
  // A text of six letters takes less than that of the line.
  const places = line.ticks.map(({ at }) => at);
  for (const [i, at] of places.slice(1).entries()) assert.ok(at - (places[i] as number) > 8.9, places.join());
  const [first, second] = line.lanes.map(({ marks }) => marks[0]?.to);
  assert.deepEqual([first, second], [line.gaps[0]?.from.toFixed(2), line.gaps[0]?.to.toFixed(2)].map(Number));
  assert.equal(line.lanes[1]?.bands[0]?.to, 100);
  // However many there are, they leave room for the requests.
  const polls = lineOf(Array.from({ length: 100 }, (_, i) => recorded(i + 1, {}, startMs + i * 15_000)));
  const widths = polls.gaps.map(({ from, to }) => to - from);
  assert.equal(widths.length, 99);
  assert.equal(Math.round(widths.reduce((sum, width) => sum + width)), 60);
});

test('the timeline marks the same early retries as the report card', async () => {
  const limit = { status: 429, code: 'rate_limited' };
  const ban = { status: 403, code: 'key_banned' };
  const unavailable = { status: 503, code: 'service_unavailable' };
  type Answer = { status: number; code?: string };
  const tooSoon = async (refused: Answer, early: Answer, gapMs = 1_000, retryAfter = '3') => {
    const answerHeaders = { 'retry-after': retryAfter };
    const pair = judged({ at: 0, durationMs: 0, ...refused, answerHeaders }, { at: gapMs, ...early });
    const findings = [retryAfterObeyed, banStops].map((check) =>
      findingOf(check, trafficOf(pair, petstoreApi)),
    );
    const [, attempt] = attemptsOf([
      recorded(1, { ...refused, answerHeaders, durationMs: 0 }),
      recorded(2, { ...early, gapMs, retryOf: '1' }, startMs + gapMs),
    ]);
    const { isTooSoon } = waitOf(attempt as Attempt) as Wait;
    const isCounted = findings.some(({ result }) => result === 'failed');
    assert.equal(isTooSoon, isCounted, JSON.stringify({ refused, early, gapMs }));
    return isTooSoon;
  };
  const all = [limit, ban, unavailable, { status: 200 }, { status: 404 }, { status: 500 }];
  const after = (refused: Answer) => Promise.all(all.map((early) => tooSoon(refused, early)));
  assert.deepEqual(await after(limit), [true, true, false, false, false, false]);
  assert.deepEqual(await after(ban), [false, true, false, false, false, false]);
  assert.deepEqual(await after(unavailable), [true, true, true, true, true, true]);
  const date = new Date(startMs + 3_000).toUTCString();
  const areTooSoon = (gapsMs: number[], as?: string) =>
    Promise.all(gapsMs.map((gapMs) => tooSoon(limit, limit, gapMs, as)));
  assert.deepEqual(await areTooSoon([1_900, 2_100], date), [true, false]);
  assert.deepEqual(await areTooSoon([2_900, 2_970]), [true, false]);
});

test('bans, other refusals and waits have different shapes and meanings', () => {
  const kinds = [{ status: 403, code: 'key_banned' }, { status: 403, code: 'forbidden' }, { status: 429 }];
  assert.deepEqual(
    kinds.map((answer) => outcomeOf(answer).kind),
    ['banned', 'refused', 'waits'],
  );
  const looks = Object.values(outcomes);
  assert.equal(new Set(looks.flatMap(({ meaning, path }) => [meaning, path])).size, 2 * looks.length);
});

test('lanes are in the order of their first requests, and the earliest requests share the first lane', () => {
  const retried = [recorded(1), recorded(2, { status: 503 }, startMs + 100)];
  const others = Array.from({ length: 8 }, (_, i) =>
    recorded(i + 4, { target: `/v1/pets/${i}`, operation: `op${i}` }, startMs + 300 + i),
  );
  const seen = (requests: RecordedRequest[]) =>
    lineOf(requests).lanes.map(({ label, attempts }) => [
      label,
      attempts.map(({ request }) => request.id).join(),
    ]);
  const again = recorded(3, { gapMs: 96, retryOf: '2' }, startMs + 200);
  assert.deepEqual(seen([...retried, again]), [
    ['#1 GET /v1/pets', '1'],
    ['#2 GET /v1/pets', '2,3'],
  ]);
  const [first, second, ...more] = seen([...retried, again, ...others]);
  assert.deepEqual(
    [first, second],
    [
      ['4 earlier requests', '1,2,3,4'],
      ['#5 GET /v1/pets/1', '5'],
    ],
  );
  assert.equal(more.length, 6);
});

test('the timeline has few marks for any number of requests, and shows the failed ones', () => {
  const many = Array.from({ length: 1_000 }, (_, i) =>
    recorded(
      i,
      { ...(i === 900 && { status: 500 }), operation: `op${i % 20}`, target: `/v1/${i % 20}` },
      startMs + i * 20,
    ),
  );
  const { lanes } = lineOf(many);
  const marks = lanes.flatMap((lane) => lane.marks);
  assert.ok(lanes.length === 8 && marks.length <= 200, `${lanes.length} ${marks.length}`);
  assert.equal(
    marks.reduce((sum, { more }) => sum + 1 + more, 0),
    200,
  );
  assert.ok(marks.some(({ attempt }) => attempt.kind === 'broken'));
  assert.equal(timeLineOf([]), undefined);
});

test('durations are short and exact', () => {
  assert.deepEqual([0, 3.24, 124.6, 999.6, 2_004.4, 59_999, 60_000, 65_000].map(preciseDuration), [
    ...['0 ms', '3.2 ms', '125 ms', '1 s', '2.004 s', '59.999 s', '1 min', '1 min 5 s'],
  ]);
  assert.match(preciseTime('2026-06-01T12:00:05.025Z'), /^\d\d:\d\d:05\.025$/);
});

test('a hidden character in a name is shown as its code, and a composed emoji stays unchanged', () => {
  for (const [text, shown] of [
    ['\u200b', '\\u200b'],
    ['Be\u200dlla\ufeff', 'Be\\u200dlla\\ufeff'],
    ['\u00ad\u3164\u{e0041}', '\\u00ad\\u3164\\ue0041'],
    ['\ufe0f\ufe0f', '\\ufe0f\\ufe0f'],
    ['\u200d👩', '\\u200d👩'],
    ['می\u200c\u200cخواهم', 'می\u200c\\u200cخواهم'],
  ] as const)
    assert.equal(plain(text), shown);
  for (const text of ['👩🏽‍💻 ❤️ 👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁷󠁬󠁳󠁿 #️⃣', '☎︎ 葛󠄀', 'नमस्ते', 'می\u200cخواهم', 'ශ්\u200dරී'])
    assert.equal(plain(text), text);
});
