import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checks } from '../src/lab/report/checks/all.ts';
import { recorded, type Sketch, startMs } from './support/recorded.ts';

/** Holds what a check finds in requests: its result, and the numbers of the requests that show it. */
async function finds(name: string, sketches: Sketch[], result: string, numbers: number[] = []) {
  const check = checks.find((one) => one.name === name);
  assert.ok(check);
  const finding = await check.judge(recorded(...sketches));
  assert.equal(finding.result, result, finding.because);
  assert.deepEqual(
    finding.evidence.map(({ number }) => number),
    numbers,
  );
}

const cut = { status: undefined } as unknown as Omit<Sketch, 'at'>;
const limited = { status: 429, code: 'rate_limited', answer: { 'retry-after': '2' } };
const rehearsed = { ...limited, fault: 'rate-limited' };
const categories = { target: '/v1/categories', operation: 'listCategories' };
const elsewhere = { connection: 'c2' };
const post = { method: 'POST', target: '/v1/categories', operation: 'createCategory', body: '{"name":"a"}' };
const key = (text: string) => ({ headers: { 'idempotency-key': text } });

test('retry-after.obeyed counts from the end of the answer, less a tolerance for timers', async () => {
  const name = 'retry-after.obeyed';
  const slow = { at: 0, tookMs: 500, ...limited };
  await finds(name, [slow, { at: 2_499 }], 'passed', [1, 2]);
  await finds(name, [slow, { at: 2_450 }], 'passed', [1, 2]);
  await finds(name, [slow, { at: 2_449, ...limited }], 'failed', [1, 2]);
  await finds(name, [slow, { at: 100_000 }], 'passed', [1, 2]);
  await finds(name, [slow], 'not_observed');
});

test('retry-after.obeyed reads a date, and bears a clock that is a little ahead', async () => {
  const date = (seconds: number) => ({
    ...limited,
    answer: { 'retry-after': new Date(startMs + seconds * 1_000).toUTCString() },
  });
  await finds('retry-after.obeyed', [{ at: 0, ...date(5) }, { at: 4_001 }], 'passed', [1, 2]);
  await finds(
    'retry-after.obeyed',
    [
      { at: 0, ...date(5) },
      { at: 3_990, ...limited },
    ],
    'failed',
    [1, 2],
  );
  // Half of a short wait is too little.
  await finds(
    'retry-after.obeyed',
    [
      { at: 0, ...date(1) },
      { at: 400, ...limited },
    ],
    'failed',
    [1, 2],
  );
});

test('a request that was under way when another was refused is no disobedience', async () => {
  const name = 'retry-after.obeyed';
  const other = { ...elsewhere, target: '/v1/pets?limit=1' };
  const refused = { at: 0, tookMs: 100, ...rehearsed };
  await finds(name, [refused, { at: 50, ...elsewhere, ...rehearsed }], 'not_observed');
  await finds(name, [refused, { at: 300, ...other, ...rehearsed }], 'not_observed');
  await finds(name, [refused, { at: 400, ...other, ...rehearsed }], 'failed', [1, 2]);
  // Who sends on the same connection has the answer.
  await finds(name, [refused, { at: 102, ...other, connection: 'c1', ...rehearsed }], 'failed', [1, 2]);
  await finds(name, [refused, { at: 102, ...elsewhere, ...rehearsed }], 'not_observed');
  // A proxy puts the requests of many on one connection.
  const proxied = { isProxied: true, connection: 'c1' };
  await finds(
    name,
    [
      { ...refused, ...proxied },
      { at: 102, ...other, ...proxied },
    ],
    'not_observed',
  );
});

test('a rehearsed 429 concerns its operation, a real one what gets 429 again, and 503 the same request', async () => {
  const name = 'retry-after.obeyed';
  await finds(
    name,
    [
      { at: 0, ...rehearsed },
      { at: 500, ...categories },
    ],
    'not_observed',
  );
  await finds(
    name,
    [
      { at: 0, ...limited },
      { at: 500, ...categories },
    ],
    'not_observed',
  );
  await finds(
    name,
    [
      { at: 0, ...limited },
      { at: 500, ...limited, ...categories },
    ],
    'failed',
    [1, 2],
  );
  const unavailable = { status: 503, answer: { 'retry-after': '2' } };
  await finds(
    name,
    [
      { at: 0, ...unavailable },
      { at: 500, target: '/v1/pets?limit=1' },
    ],
    'not_observed',
  );
  await finds(name, [{ at: 0, ...unavailable }, { at: 500 }], 'failed', [1, 2]);
  await finds(name, [{ at: 0, status: 429 }, { at: 5 }], 'not_observed');
});

test('backoff.grows fails waits that are equal or none, and leaves to jitter what may be jitter', async () => {
  const name = 'backoff.grows';
  const failing = (...at: number[]) => at.map((ms) => ({ at: ms, status: 500 }));
  await finds(name, failing(0, 5, 10), 'failed', [1, 2, 3]);
  await finds(name, failing(0, 1_000, 2_050, 3_000), 'failed', [1, 2, 3, 4]);
  await finds(name, failing(0, 1_000, 2_000), 'not_observed');
  await finds(name, failing(0, 500, 1_500), 'passed', [1, 2, 3]);
  await finds(name, failing(0, 900, 1_000, 1_500), 'not_observed');
  await finds(name, failing(0, 900, 1_000, 3_500), 'passed', [1, 2, 3, 4]);
  await finds(name, failing(0, 5), 'not_observed');
  // An answer in between begins anew.
  const mended = [0, 10, 20, 30].flatMap((at) => [{ at, status: 500 }, { at: at + 5 }]);
  await finds(name, mended, 'not_observed');
  // Where a time was told, that time counts.
  const told = { status: 503, answer: { 'retry-after': '1' } };
  const obedient = [0, 1_100, 2_200, 3_300].map((at) => ({ at, ...told }));
  await finds(name, obedient, 'not_observed');
});

test('retry.only-when-useful tells a retry from another request and another question', async () => {
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
  // Another worker sends in between.
  const busy = [
    { at: 0, ...missing },
    { at: 5, ...elsewhere },
    { at: 9, ...missing },
  ];
  await finds(name, busy, 'failed', [1, 3]);
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

test('failures.retried lets a client give up in the end, and asks for no blind POST', async () => {
  const name = 'failures.retried';
  await finds(
    name,
    [
      { at: 0, ...cut },
      { at: 100, ...cut },
    ],
    'passed',
    [1, 2],
  );
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
  // Two workers fail side by side, and one of them goes on.
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

test('idempotency: equal POSTs after a success are two things, and only an uncertain end makes a retry blind', async () => {
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

test('behind a proxy neither cuts nor connections are those of the client', async () => {
  const proxied = { isProxied: true };
  await finds(
    'idempotency.no-blind-post-retry',
    [
      { at: 0, ...post, ...cut, ...proxied },
      { at: 9, ...post, ...proxied },
    ],
    'not_observed',
  );
  const apart = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map((connection, index) => ({
    at: index * 10,
    connection,
  }));
  await finds('connections.reused', apart, 'failed', [2, 3, 4, 5, 6]);
  await finds(
    'connections.reused',
    apart.map((one) => ({ ...one, ...proxied })),
    'not_observed',
  );
});

test('connections.reused does not ask for what cannot be: busy, old and broken connections', async () => {
  const name = 'connections.reused';
  const each = (gapMs: number, more: object = {}) =>
    [1, 2, 3, 4, 5, 6].map((number) => ({ at: number * gapMs, connection: `c${number}`, ...more }));
  await finds(name, each(10), 'failed', [2, 3, 4, 5, 6]);
  await finds(name, each(10, { tookMs: 100 }), 'not_observed');
  await finds(name, each(3_000), 'not_observed');
  await finds(name, each(10, cut), 'not_observed');
  await finds(name, each(10, { operation: 'streamEvents' }), 'not_observed');
});

test('ban.stops and limits.foreseen concern the whole key', async () => {
  const banned = { status: 403, code: 'key_banned', answer: { 'retry-after': '60' } };
  await finds(
    'ban.stops',
    [
      { at: 0, ...banned },
      { at: 59_000, ...banned, ...categories },
    ],
    'failed',
    [1, 2],
  );
  await finds(
    'ban.stops',
    [
      { at: 0, ...banned },
      { at: 60_001, ...categories },
    ],
    'passed',
    [1, 2],
  );
  await finds('ban.stops', [{ at: 0, ...banned }], 'not_observed');
  const reset = String(startMs / 1_000 + 60);
  const none = { answer: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } };
  await finds(
    'limits.foreseen',
    [
      { at: 0, ...none },
      { at: 100, ...limited },
    ],
    'failed',
    [1, 2],
  );
  // The window has ended by the clock that counts.
  await finds('limits.foreseen', [{ at: 0, ...none }, { at: 100 }], 'not_observed');
  await finds('limits.foreseen', [{ at: 0, ...none }, { at: 60_001 }], 'passed', [1, 2]);
});

test('pages.to-the-end judges shortened pages alone, and asks for the page that each names', async () => {
  const name = 'pages.to-the-end';
  const to = (cursor: string) => ({
    answer: { link: `<http://localhost:8080/v1/pets?cursor=${cursor}>; rel="next"` },
  });
  const at = (cursor: string) => ({ target: `/v1/pets?limit=5&cursor=${cursor}` });
  const short = { fault: 'small-pages' };
  await finds(name, [{ at: 0, ...to('a') }], 'not_observed');
  await finds(name, [{ at: 0, ...short, ...to('a') }], 'failed', [1]);
  await finds(
    name,
    [
      { at: 0, ...short, ...to('a') },
      { at: 9, ...at('a') },
    ],
    'passed',
    [1],
  );
  await finds(
    name,
    [
      { at: 0, ...short, ...to('a') },
      { at: 9, ...at('a'), ...short, ...to('b') },
    ],
    'failed',
    [2],
  );
  // An empty page in the middle leads to itself.
  const empty = { ...at('a'), fault: 'empty-page', ...to('a') };
  await finds(name, [{ at: 0, ...empty }], 'failed', [1]);
  await finds(
    name,
    [
      { at: 0, ...empty },
      { at: 9, ...at('a') },
    ],
    'passed',
    [1],
  );
  await finds(name, [{ at: 0, ...short }], 'not_observed');
});

test('ids.exact finds what a double would have made of an id, and nothing else', async () => {
  const name = 'ids.exact';
  const exact = '10000000000000003';
  const rounded = String(Number(exact));
  assert.notEqual(rounded, exact);
  await finds(name, [{ at: 0, target: `/v1/pets/${exact}` }], 'passed', [1]);
  await finds(
    name,
    [
      { at: 0, target: `/v1/pets/${exact}` },
      { at: 9, target: `/v1/pets/${rounded}` },
    ],
    'failed',
    [2],
  );
  await finds(name, [{ at: 0, target: `/v1/pets?id=${exact}&id=${rounded}` }], 'failed', [1]);
  await finds(name, [{ at: 0, ...post, body: `{"petId": ${rounded}}` }], 'failed', [1]);
  await finds(name, [{ at: 0, ...post, body: `{"petId": 1.0000000000000004e+16}` }], 'failed', [1]);
  await finds(name, [{ at: 0, target: '/v1/pets/1.0000000000000004e%2B16' }], 'failed', [1]);
  await finds(
    name,
    [{ at: 0, ...post, body: `{"name": "no. ${rounded} \\" ${rounded}", "petId": 7}` }],
    'not_observed',
  );
  await finds(name, [{ at: 0, target: '/v1/pets/9999999999999998' }], 'not_observed');
  await finds(name, [{ at: 0, target: '/v1/pets/18014398509481984' }], 'not_observed');
  await finds(name, [{ at: 0, target: '/v1/pets/18014398509481983' }], 'passed', [1]);
  await finds(name, [{ at: 0, target: '/v1/pets/%zz' }], 'not_observed');
});

test('if-match.sent and conflict.read-again take no star for a decision', async () => {
  const pet = '/v1/pets/1';
  const read = (at: number) => ({ at, target: '/v1/pets?id=1' });
  const change = (at: number, tag: string | undefined, status = 200) => ({
    at,
    method: 'PATCH',
    target: pet,
    operation: 'updatePet',
    status,
    ...(tag && { headers: { 'if-match': tag } }),
  });
  await finds('if-match.sent', [read(0), change(5, '"a"')], 'passed', [2]);
  await finds('if-match.sent', [read(0), change(5, '*')], 'failed', [2]);
  await finds('if-match.sent', [change(5, undefined)], 'not_observed');
  await finds('if-match.sent', [read(0), { ...change(5, undefined), method: 'DELETE' }], 'not_observed');
  const again = 'conflict.read-again';
  await finds(again, [change(0, '"a"', 412), read(5), change(9, '"b"')], 'passed', [1, 3]);
  await finds(again, [change(0, '"a"', 412), read(5), change(9, '*')], 'failed', [1, 3]);
  await finds(again, [change(0, '"a"', 412), read(5), change(9, '"a"', 412)], 'failed', [1, 3]);
  await finds(again, [change(0, '"a"', 412), change(9, '"b"')], 'passed', [1, 2]);
  await finds(again, [change(0, '"a"', 412), read(5)], 'passed', [1, 2]);
  await finds(
    again,
    [change(0, '"a"', 412), read(5), change(9, '"b"', 412), read(12), change(15, '"c"')],
    'passed',
    [1, 3, 5],
  );
  await finds(again, [change(0, '"a"', 412)], 'not_observed');
});

test('lifecycle: what is not needed any more is not observed', async () => {
  const old = { target: '/v1/pets/1', operation: 'getPet' };
  await finds('deprecated.not-called', [{ at: 0, ...categories }], 'not_observed');
  await finds('deprecated.not-called', [{ at: 0 }, { at: 5, ...old }], 'failed', [2]);
  const gone = { ...old, status: 410 };
  await finds(
    'sunset.successor-used',
    [
      { at: 0, ...gone },
      { at: 5, ...categories },
    ],
    'not_observed',
  );
  await finds('sunset.successor-used', [{ at: 0, ...gone }, { at: 5 }], 'passed', [1, 2]);
});

test('backoff.grows spares pollers and workers, and fails many retries without one real wait', async () => {
  const name = 'backoff.grows';
  const failing = (...at: number[]) => at.map((ms) => ({ at: ms, status: 500 }));
  await finds(name, failing(0, 40, 55, 130, 150), 'failed', [1, 2, 3, 4, 5]);
  await finds(name, failing(0, 40, 55, 130), 'not_observed');
  await finds(name, [...failing(0, 300, 600, 900), { at: 1_200 }, { at: 1_500 }], 'not_observed');
  await finds(name, [{ at: 0 }, ...failing(300, 600, 900, 1_200)], 'not_observed');
  await finds(name, [...failing(0, 300, 600, 900), { at: 1_200 }], 'failed', [1, 2, 3, 4, 5]);
  // Retries of a broken connection come on new ones, and so do workers that begin.
  const apart = (...at: number[]) => at.map((ms) => ({ at: ms, ...cut, connection: `c${ms}` }));
  await finds(name, apart(0, 3, 6, 9, 12), 'failed', [1, 2, 3, 4, 5]);
  await finds(
    name,
    [...apart(0, 3, 6, 9, 12), { at: 300, connection: 'c300' }, { at: 302, connection: 'c302' }],
    'not_observed',
  );
});

test('what a client left by itself is an uncertain end, and no failure of the service', async () => {
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

test('idempotency pairs equal keys first, and blames nobody who may be another worker', async () => {
  const same = 'idempotency.same-key-on-retry';
  const lost = { at: 0, ...post, ...key('a'), ...cut };
  const other = { at: 20, ...post, ...elsewhere, ...key('b') };
  await finds(same, [lost, other, { at: 200, ...post, ...key('a'), connection: 'c3' }], 'passed', [1, 3]);
  await finds(same, [lost, other], 'failed', [1, 2]);
  const busy = { at: 10, tookMs: 50, connection: 'c9' };
  await finds(same, [lost, busy, other], 'not_observed');
  await finds(same, [{ at: -9, ...elsewhere }, lost, other], 'not_observed');
  const blind = { at: 0, ...post, ...cut };
  await finds('idempotency.no-blind-post-retry', [blind, busy, { ...other, headers: {} }], 'not_observed');
});

test('a limit or a ban that lets a request in has ended, and 503 has not', async () => {
  await finds('retry-after.obeyed', [{ at: 0, ...rehearsed }, { at: 500 }, { at: 600 }], 'not_observed');
  await finds(
    'retry-after.obeyed',
    [
      { at: 0, ...rehearsed },
      { at: 500, ...rehearsed },
    ],
    'failed',
    [1, 2],
  );
  const banned = { status: 403, code: 'key_banned', answer: { 'retry-after': '60' } };
  await finds('ban.stops', [{ at: 0, ...banned }, { at: 900 }], 'not_observed');
  const down = { status: 503, answer: { 'retry-after': '2' } };
  await finds('retry-after.obeyed', [{ at: 0, ...down }, { at: 500 }], 'failed', [1, 2]);
  // Another worker was not told, if it had its connection before.
  await finds(
    'retry-after.obeyed',
    [
      { at: -9, ...elsewhere },
      { at: 0, ...down },
      { at: 500, ...elsewhere },
    ],
    'not_observed',
  );
  await finds(
    'retry-after.obeyed',
    [
      { at: 0, ...down },
      { at: 500, ...elsewhere },
    ],
    'failed',
    [1, 2],
  );
});

test('updates.not-lost fails what overwrote the other writer for certain', async () => {
  const name = 'updates.not-lost';
  const change = { at: 0, target: '/v1/pets/1', operation: 'updatePet', method: 'PATCH', fault: 'conflict' };
  await finds(name, [{ ...change, properties: ['name'] }], 'failed', [1]);
  await finds(name, [{ ...change, properties: ['name'], headers: { 'if-match': '*' } }], 'failed', [1]);
  await finds(name, [{ ...change, properties: ['status'] }], 'not_observed');
  await finds(name, [{ ...change, method: 'PUT', operation: 'replacePet' }], 'failed', [1]);
  await finds(name, [{ ...change, method: 'DELETE', operation: 'deletePet' }], 'not_observed');
  await finds(name, [{ ...change, status: 412, headers: { 'if-match': '"a"' } }], 'passed', [1]);
  await finds(name, [{ ...change, fault: '', properties: ['name'] }], 'not_observed');
});

test('no check finds anything in a recording of nothing', async () => {
  for (const { name } of checks) await finds(name, [], 'not_observed');
});
