import { test } from 'node:test';
import {
  categories,
  crowd,
  cut,
  elsewhere,
  finds,
  limited,
  post,
  rehearsed,
} from '../../support/findings.ts';
import { startMs } from '../../support/recorded.ts';

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
  await finds(name, [...crowd, refused, { at: 300, ...other, ...rehearsed }], 'not_observed');
  await finds(name, [...crowd, refused, { at: 400, ...other, ...rehearsed }], 'failed', [3, 4]);
  // Who sends on the same connection has the answer, unless it had waited for one that is free.
  await finds(name, [refused, { at: 102, ...other, connection: 'c1', ...rehearsed }], 'failed', [1, 2]);
  const busy = { at: 60, tookMs: 100, ...categories, connection: 'c3' };
  await finds(name, [refused, busy, { at: 102, ...other, connection: 'c1', ...rehearsed }], 'not_observed');
  await finds(name, [...crowd, refused, { at: 102, ...elsewhere, ...rehearsed }], 'not_observed');
  // A proxy puts the requests of many on one connection.
  const proxied = { isProxied: true, connection: 'c1' };
  await finds(
    name,
    [...crowd, { ...refused, ...proxied }, { at: 102, ...other, ...rehearsed, ...proxied }],
    'not_observed',
  );
});

test('requests that never overlap come from one worker, which has each answer, whatever connection it uses', async () => {
  const name = 'retry-after.obeyed';
  for (const waitMs of [0.5, 20, 100, 249, 1_900]) {
    const early = { at: 1 + waitMs, ...elsewhere, ...rehearsed };
    await finds(name, [{ at: 0, ...rehearsed }, early], 'failed', [1, 2]);
    // Who waits in the end was too early all the same.
    const later = { at: 4_000, ...elsewhere };
    await finds(name, [{ at: 0, ...rehearsed }, early, later], 'failed', [1, 2]);
    // Another worker may have sent it, but then nothing shows that somebody waited.
    const unsure = waitMs < 250 ? 'not_observed' : 'failed';
    await finds(name, [...crowd, { at: 0, ...rehearsed }, early, later], unsure, waitMs < 250 ? [] : [3, 4]);
  }
  const proxied = { isProxied: true };
  await finds(
    name,
    [
      { at: 0, ...rehearsed, ...proxied },
      { at: 102, ...rehearsed, ...proxied },
    ],
    'failed',
    [1, 2],
  );
  // The stream of events is always open beside other requests.
  const stream = { at: -50, tookMs: 60_000, operation: 'streamEvents', target: '/v1/store/events/stream' };
  const early = { at: 21, ...elsewhere, ...rehearsed };
  await finds(name, [{ ...stream, connection: 's' }, { at: 0, ...rehearsed }, early], 'failed', [2, 3]);
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
  // Another worker was not told.
  await finds(
    'retry-after.obeyed',
    [...crowd, { at: -9, ...elsewhere }, { at: 0, ...down }, { at: 500, ...elsewhere }],
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
