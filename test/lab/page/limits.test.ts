import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationInWords } from '../../../src/foundation/words.ts';
import type { Account } from '../../../src/lab/account/schema.ts';
import { blockOf, linesOf } from '../../../src/lab/page/account.ts';
import { Burst, predictBurst } from '../../../src/lab/page/burst.ts';
import { endToSecond, toBothTimes, toCountdown, toLocalTime } from '../../../src/lab/page/times.ts';

test('countdowns, durations and times have a readable format', () => {
  const left = [-1, 0, 1, 42_001, 60_000, 3_599_001, 3_725_000, 86_399_000].map(toCountdown);
  assert.deepEqual(left, ['0:00', '0:00', '0:01', '0:43', '1:00', '1:00:00', '1:02:05', '23:59:59']);
  const lengths = [0, 1, 60, 150, 3_600, 3_661].map(durationInWords);
  const words = [
    '0 seconds',
    '1 second',
    '1 minute',
    '2 minutes 30 seconds',
    '1 hour',
    '1 hour 1 minute 1 second',
  ];
  assert.deepEqual(lengths, words);
  const now = new Date(2026, 10, 22, 12, 0, 17).getTime();
  assert.equal(toLocalTime(now, now), '12:00:17');
  assert.equal(toLocalTime(now, now - 86_400_000), '22 Nov, 12:00');
  assert.deepEqual([now, now + 1].map(endToSecond), [now, now + 1_000]);
  assert.match(toBothTimes(now, now), /^12:00:17( UTC| \(\d\d:\d\d:17 UTC\))$/);
});

test('the header fields of the binding window, or of the ban, are marked', () => {
  const headers = {
    'X-RateLimit-Limit': '60',
    'RateLimit-Policy': '"minute";q=60;w=60,"day";q=1000;w=86400',
    RateLimit: '"minute";r=0;t=43,"day";r=940;t=43183',
    'retry-after': '43',
  };
  const marked = (binding: string, isBanned: boolean) =>
    linesOf(headers, binding, isBanned).map((line) =>
      line
        .filter(({ isMarked }) => isMarked)
        .map(({ text }) => text)
        .join(''),
    );
  const [limit, retry] = ['X-RateLimit-Limit: 60', 'retry-after: 43'];
  assert.deepEqual(marked('minute', false), [limit, '"minute";q=60;w=60,', '"minute";r=0;t=43,', retry]);
  assert.deepEqual(marked('day', false), [limit, '"day";q=1000;w=86400', '"day";r=940;t=43183', retry]);
  assert.deepEqual(marked('minute', true), [limit, '', headers.RateLimit, retry]);
  const texts = linesOf(headers, 'day', false).map((line) => line.map(({ text }) => text).join(''));
  assert.deepEqual(
    texts,
    Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  );
});

test('the page predicts a burst from the remaining requests and the strikes', () => {
  const account = (remaining: number, strikes: number, until?: string) =>
    ({
      minute: { remaining },
      day: { remaining: 200 },
      strikes,
      strikesAllowed: 60,
      ban: { nextSeconds: 120, until },
    }) as Account;
  assert.equal(
    predictBurst(account(150, 0)),
    'With 150 left, nothing would be refused. Use a key with a smaller plan to see refusals.',
  );
  assert.match(
    predictBurst(account(60, 20)),
    /60 would be admitted and 40 refused with 429, each a strike: 60 of 60\./,
  );
  assert.match(
    predictBurst(account(60, 21)),
    /39 refused with 429, and the next would start a ban of 2 minutes\./,
  );
  assert.match(predictBurst(account(0, 0)), /^Now none would be admitted, 60 refused/);
  assert.match(predictBurst(account(60, 0, '2026-06-01T12:01:00Z')), /all 100 would get 403/);
});

test('a burst counts the outcome of each request, also without a response, and can be stopped', async () => {
  const statuses = [200, 201, 429, 403, 500];
  let [sent, under, most] = [0, 0, 0];
  const burst: Burst = new Burst(
    async () => {
      const number = ++sent;
      most = Math.max(most, ++under);
      if (number === 50) burst.stop();
      await Promise.resolve();
      under--;
      const status = statuses[number % 6];
      if (!status) throw new TypeError('Failed to fetch');
      return new Response('[]', { status, headers: { 'retry-after': String(number) } });
    },
    () => {},
  );
  await burst.run();
  assert.equal(most, 10);
  assert.ok(sent >= 50 && sent < 60, `${sent} were sent`);
  assert.deepEqual(burst.first.limited, { number: 2, retryAfter: '2' });
  assert.ok(burst.count('fine') >= 16 && burst.count('other') >= 8 && burst.count('none') >= 7);
  assert.deepEqual(burst.outcomes.slice(0, 6), ['fine', 'limited', 'banned', 'other', 'none', 'fine']);
  assert.ok(burst.over <= sent);
  assert.equal(burst.answered, burst.over - burst.count('none'));
});

test('a ban or a used-up window blocks the key until the displayed second', () => {
  const window = { remaining: 1, reset: 1_800_000_060 };
  const used = { ...window, remaining: 0 };
  const until = new Date(1_800_000_000_001).toISOString();
  const untilMs = (limits: Parameters<typeof blockOf>[0]) => blockOf(limits)?.untilMs;
  assert.equal(untilMs({ ban: {}, minute: window, day: window }), undefined);
  assert.equal(untilMs({ ban: { until }, minute: used, day: used }), 1_800_000_001_000);
  assert.equal(untilMs({ ban: {}, minute: used, day: window }), 1_800_000_060_000);
});
