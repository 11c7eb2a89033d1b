import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Decision,
  decide,
  isBanned,
  type LimitAccount,
  type LimitPolicy,
  peekWindows,
  unusedAccount,
} from '../../../src/access/limits/decision.ts';
import { limitHeaders, limitRefusal } from '../../../src/access/limits/headers.ts';
import { type BanRules, banRules as ourBanRules } from '../../../src/foundation/settings/plans.ts';
import { dayMs, minuteMs } from '../../../src/foundation/time.ts';

const startMs = Date.parse('2026-06-01T00:00:00Z');

/** A plan small enough for a trace to fill its windows, with minute and day quotas in any relation. */
const quotas = fc.record({
  perMinute: fc.integer({ min: 1, max: 12 }),
  perDay: fc.integer({ min: 1, max: 40 }),
});

const banRules: fc.Arbitrary<BanRules> = fc.record({
  strikesFactor: fc.constantFrom(0, 1, 2),
  firstMs: fc.constantFrom(1_000, 7_500, 60_000),
  longestMs: fc.constantFrom(60_000, 200_000, 3_600_000),
  growth: fc.constantFrom(1, 1.5, 2, 3),
  memoryMs: fc.constantFrom(0, 90_000, dayMs),
});

/** Steps of time that end inside, on and just before the edges of windows. */
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(0, 1, 50) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 70_000 }) },
    { weight: 2, arbitrary: fc.constantFrom(minuteMs, minuteMs - 1, minuteMs + 1) },
    { weight: 1, arbitrary: fc.constantFrom(dayMs, dayMs - 1, dayMs / 2, 3_600_000) },
  ),
  { minLength: 1, maxLength: 250 },
);

interface Made {
  nowMs: number;
  before: LimitAccount;
  after: LimitAccount;
  decision: Decision;
}

/** The time after each step. */
function timesAfter(stepsMs: readonly number[], fromMs = startMs): number[] {
  let nowMs = fromMs;
  return stepsMs.map((stepMs) => (nowMs += stepMs));
}

/** Decides on one request after each step of time. */
const run = (policy: LimitPolicy, stepsMs: readonly number[]) => runAt(policy, timesAfter(stepsMs));

/** Decides on one request at each time. */
function runAt(policy: LimitPolicy, times: readonly number[], account = unusedAccount): Made[] {
  return times.map((nowMs) => {
    const before = account;
    const made = decide(before, policy, nowMs);
    account = made.account;
    return { nowMs, before, after: account, decision: made.decision };
  });
}

/** Times of a clock. Each pair is a step of the right clock, and how far this clock is behind it. */
const behindBy = (trace: readonly (readonly [number, number])[]) =>
  timesAfter(trace.map(([stepMs]) => stepMs)).map((rightMs, i) => rightMs - (trace[i]?.[1] ?? 0));

const holds = (policy: LimitPolicy, account: LimitAccount, nowMs: number) =>
  decide(account, policy, nowMs).decision.outcome;

test('no calendar window admits more than the plan, or less while requests remain', () => {
  fc.assert(
    fc.property(quotas, steps, (quota, stepsMs) => {
      const minutes = new Map<number, number>();
      const days = new Map<number, number>();
      for (const { nowMs, decision } of run({ quota }, stepsMs)) {
        const [minute, day] = [Math.floor(nowMs / minuteMs), Math.floor(nowMs / dayMs)];
        const [inMinute, inDay] = [minutes.get(minute) ?? 0, days.get(day) ?? 0];
        const hasRoom = inMinute < quota.perMinute && inDay < quota.perDay;
        assert.equal(decision.outcome, hasRoom ? 'admitted' : 'limited');
        if (!hasRoom) continue;
        minutes.set(minute, inMinute + 1);
        days.set(day, inDay + 1);
      }
    }),
  );
});

test('with bans too, no calendar window admits more than the plan, even if the clock steps back by a minute', () => {
  const step = fc.tuple(fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: 0, max: minuteMs }));
  const trace = fc.array(step, { minLength: 1, maxLength: 250 });
  fc.assert(
    fc.property(quotas, banRules, trace, (quota, banRules, trace) => {
      const made = runAt({ quota, banRules }, behindBy(trace));
      const admitted = made.filter(({ decision }) => decision.outcome === 'admitted');
      for (const { length } of Map.groupBy(admitted, ({ after }) => after.minute).values())
        assert.ok(length <= quota.perMinute);
      for (const { length } of Map.groupBy(admitted, ({ after }) => after.day).values())
        assert.ok(length <= quota.perDay);
      const minutes = admitted.map(({ after }) => after.minute);
      assert.deepEqual(
        minutes,
        minutes.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('peeking at an account shows the windows of the next request, wherever the clock was set', () => {
  const jumps = fc.array(fc.constantFrom(0, 1, minuteMs, -minuteMs, -90_000, dayMs, -dayMs, -2 * dayMs), {
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(quotas, jumps, (quota, stepsMs) => {
      for (const { nowMs, before, decision } of run({ quota }, stepsMs)) {
        const { minute, day } = peekWindows(before, { quota }, nowMs);
        const taken = decision.outcome === 'admitted' ? 1 : 0;
        assert.deepEqual({ ...minute, remaining: minute.remaining - taken }, decision.minute);
        assert.deepEqual({ ...day, remaining: day.remaining - taken }, decision.day);
      }
    }),
  );
});

test('Retry-After is long enough, and not a second too long', () => {
  fc.assert(
    fc.property(quotas, banRules, fc.boolean(), steps, (quota, rules, hasBans, stepsMs) => {
      const policy = hasBans ? { quota, banRules: rules } : { quota };
      for (const { nowMs, after, decision } of run(policy, stepsMs)) {
        if (decision.outcome === 'admitted') continue;
        const seconds = Number(limitRefusal(decision).headers['Retry-After']);
        assert.ok(Number.isInteger(seconds) && seconds >= 1);
        assert.equal(holds(policy, after, nowMs + seconds * 1000), 'admitted');
        if (seconds > 1) assert.notEqual(holds(policy, after, nowMs + (seconds - 1) * 1000), 'admitted');
      }
    }),
  );
});

test('the headers describe the binding window: fewest left, and the longer one between equals', () => {
  fc.assert(
    fc.property(quotas, steps, (quota, stepsMs) => {
      for (const { nowMs, after, decision } of run({ quota }, stepsMs)) {
        const headers = limitHeaders(decision, true);
        const minuteLeft = quota.perMinute - after.minuteCount;
        const dayLeft = quota.perDay - after.dayCount;
        const isDay = dayLeft <= minuteLeft;
        const lengthMs = isDay ? dayMs : minuteMs;
        assert.equal(headers['X-RateLimit-Limit'], String(isDay ? quota.perDay : quota.perMinute));
        assert.equal(headers['X-RateLimit-Remaining'], String(Math.min(minuteLeft, dayLeft)));
        assert.equal(
          headers['X-RateLimit-Reset'],
          String((Math.floor(nowMs / lengthMs) + 1) * (lengthMs / 1000)),
        );
        const [minuteEnds, dayEnds] = [minuteMs, dayMs].map((ms) => Math.ceil((ms - (nowMs % ms)) / 1000));
        assert.equal(
          headers.RateLimit,
          `"minute";r=${minuteLeft};t=${minuteEnds},"day";r=${dayLeft};t=${dayEnds}`,
        );
      }
    }),
  );
});

test('Remaining falls with each admitted request of a minute and never rises within it', () => {
  fc.assert(
    fc.property(quotas, steps, (quota, stepsMs) => {
      const made = run({ quota }, stepsMs);
      for (const [i, { nowMs, decision }] of made.entries()) {
        const previous = made[i - 1];
        if (!previous || Math.floor(previous.nowMs / minuteMs) !== Math.floor(nowMs / minuteMs)) continue;
        const [then, now] = [previous.decision, decision].map((d) =>
          Number(limitHeaders(d, true)['X-RateLimit-Remaining']),
        );
        if (decision.outcome === 'admitted') assert.equal(now, (then as number) - 1);
        else assert.equal(now, 0);
      }
    }),
  );
});

test('a ban begins with the first strike too many, is as long as the rules say, and ends at its time', () => {
  fc.assert(
    fc.property(quotas, banRules, steps, (quota, rules, stepsMs) => {
      const policy = { quota, banRules: rules };
      let strikes = 0;
      let minute = -1;
      let last: { atMs: number; bans: number } | undefined;
      for (const { nowMs, before, after, decision } of run(policy, stepsMs)) {
        assert.ok(Object.values(after).every(Number.isSafeInteger), 'storage keeps integers');
        if (Math.floor(nowMs / minuteMs) !== minute) strikes = 0;
        minute = Math.floor(nowMs / minuteMs);
        if (decision.outcome === 'limited') strikes++;
        assert.ok(strikes <= Math.max(10, quota.perMinute * rules.strikesFactor));
        if (decision.isNewBan) {
          assert.equal(strikes, Math.max(10, quota.perMinute * rules.strikesFactor));
          const bans: number = last && nowMs - last.atMs < rules.memoryMs ? last.bans + 1 : 1;
          const lengthMs = Math.ceil(Math.min(rules.firstMs * rules.growth ** (bans - 1), rules.longestMs));
          assert.equal(decision.bannedUntilMs, nowMs + lengthMs);
          assert.equal(holds(policy, after, decision.bannedUntilMs - 1), 'banned');
          assert.notEqual(holds(policy, after, decision.bannedUntilMs), 'banned');
          last = { atMs: nowMs, bans };
          strikes = 0;
        } else if (decision.outcome === 'banned') {
          const { bans, bannedAtMs, bannedUntilMs } = before;
          const dayCount = before.day === after.day ? before.dayCount : 0;
          assert.partialDeepStrictEqual(after, { bans, bannedAtMs, bannedUntilMs, dayCount });
          assert.partialDeepStrictEqual(limitHeaders(decision, true), {
            'X-RateLimit-Remaining': '0',
            'X-RateLimit-Reset': String(Math.ceil(decision.bannedUntilMs / 1000)),
          });
        }
      }
    }),
  );
});

test('clearing a ban voids it and the memory of earlier bans, but no later ban', () => {
  const policy: LimitPolicy = {
    quota: { perMinute: 1, perDay: 1000 },
    banRules: { strikesFactor: 1, firstMs: 60_000, longestMs: 3_600_000, growth: 2, memoryMs: dayMs },
  };
  const requests = (count: number) => Array(count).fill(0);
  const banned = run(policy, requests(12)).at(-1) as Made;
  assert.equal(banned.decision.outcome, 'banned');
  const pardoned = { ...policy, banClearedAtMs: startMs + 5_000 };
  const after = decide(banned.after, pardoned, startMs + 6_000);
  assert.equal(after.decision.outcome, 'limited');
  assert.equal(after.account.bans, 0);
  const again = run(pardoned, [minuteMs, ...requests(11)]).at(-1) as Made;
  assert.equal(again.decision.outcome, 'banned');
  assert.equal(again.decision.bannedUntilMs, startMs + minuteMs + 60_000);
});

/** How far a clock was ahead for a moment. */
const leaps = fc.constantFrom(
  1_000,
  ...[minuteMs, 2 * minuteMs, 3 * minuteMs, 3_600_000, 20 * 3_600_000, 3 * dayMs, 3_653 * dayMs],
);

/** Requests by the right clock, then more while it is ahead. */
const excursions = fc.record({
  quota: quotas,
  banRules,
  leapMs: leaps,
  before: fc.array(fc.constantFrom(0, 1, 50, 20_000, minuteMs), { maxLength: 60 }),
  beganMs: fc.integer({ min: 0, max: dayMs - 1 }),
  ahead: fc.integer({ min: 1, max: 60 }),
});

type Excursion = typeof excursions extends fc.Arbitrary<infer One> ? One : never;

/** The account before the leap, and the account after it, when the clock is right again. */
function goAhead({ quota, banRules, leapMs, before, beganMs, ahead }: Excursion, perDay = quota.perDay) {
  const policy = { quota: { ...quota, perDay }, banRules };
  const times = timesAfter(before, startMs + beganMs);
  const rightMs = times.at(-1) ?? startMs + beganMs;
  const then = runAt(policy, times).at(-1)?.after ?? unusedAccount;
  const made = runAt(policy, Array(ahead).fill(rightMs + leapMs), then);
  return { policy, rightMs, then, made, after: (made.at(-1) as Made).after };
}

test('a clock that was briefly ahead blocks an account for two minutes at most', () => {
  fc.assert(
    fc.property(excursions, fc.integer({ min: 0, max: 3_600_000 }), (excursion, laterMs) => {
      const { policy, rightMs, then, after, made } = goAhead(excursion, 1_000_000);
      // A ban that began within the two minutes ahead is not caused by the clock.
      fc.pre(!made.some(({ decision }) => decision.isNewBan && decision.nowMs <= rightMs + 2 * minuteMs));
      const { decision, account } = decide(after, policy, rightMs);
      if (holds(policy, then, rightMs + 2 * minuteMs) === 'admitted')
        assert.ok(decision.outcome === 'admitted' || decision.retryAtMs <= rightMs + 2 * minuteMs);
      const nowMs = rightMs + 2 * minuteMs + laterMs;
      if (holds(policy, then, nowMs) === 'admitted') assert.equal(holds(policy, account, nowMs), 'admitted');
    }),
    { numRuns: 2_000 },
  );
});

test('a ban survives a clock that was briefly ahead, and a ban made by that clock does not', () => {
  fc.assert(
    fc.property(excursions, (excursion) => {
      const { policy, rightMs, then, made, after } = goAhead(excursion);
      const began = made.filter(({ decision }) => decision.isNewBan);
      if (began.length === 0) assert.equal(isBanned(after, {}, rightMs), isBanned(then, {}, rightMs));
      else if (excursion.leapMs > 2 * minuteMs) assert.ok(!isBanned(after, {}, rightMs));
      const { bannedUntilMs } = decide(after, policy, rightMs).decision;
      assert.ok(bannedUntilMs <= rightMs + 2 * minuteMs + policy.banRules.longestMs);
    }),
  );
});

test('the count of a day continues even if the clock often jumps ahead briefly', () => {
  const spells = fc.array(fc.tuple(leaps, fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: 15 })), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(quotas, fc.integer({ min: 0, max: dayMs / 2 }), spells, (quota, beganMs, spells) => {
      const nowMs = startMs + beganMs;
      const times = spells.flatMap(([leapMs, ahead, right]) => [
        ...Array(ahead).fill(nowMs + leapMs),
        ...Array(right).fill(nowMs),
      ]);
      const made = runAt({ quota }, times);
      const admitted = made.filter(({ decision }) => decision.outcome === 'admitted');
      const today = Math.floor(nowMs / dayMs);
      assert.ok(admitted.filter(({ after }) => after.day === today).length <= quota.perDay);
      const goesAhead = made.filter(({ nowMs: at, before }) => at >= (before.minute + 1) * minuteMs).length;
      const goesBack = made.filter(({ before, after }) => before.minute > after.minute).length;
      assert.ok(admitted.length <= (goesAhead + goesBack) * quota.perMinute);
    }),
  );
});

test('no window is reported to end later than its length from now, whatever the clock does', () => {
  const back = leaps.map((ms) => -ms);
  const jumps = fc.array(fc.oneof(leaps, back, fc.constant(0)), { maxLength: 100 });
  fc.assert(
    fc.property(quotas, banRules, jumps, (quota, banRules, stepsMs) => {
      for (const { nowMs, after, decision } of run({ quota, banRules }, stepsMs)) {
        const fields = limitHeaders(decision, true);
        const ends = [...String(fields.RateLimit).matchAll(/t=(\d+)/g)].map(([, seconds]) => Number(seconds));
        assert.ok((ends[0] as number) <= 60 && (ends[1] as number) <= 86_400);
        const resetMs = Number(fields['X-RateLimit-Reset']) * 1_000;
        const longestMs = decision.outcome === 'banned' ? banRules.longestMs + 2 * minuteMs : dayMs;
        assert.ok(resetMs < nowMs + longestMs + 1_000);
        assert.ok((after.minute + 1) * minuteMs <= nowMs + 2 * minuteMs);
      }
    }),
  );
});

test('clearing a ban voids counts made ahead of the clock, and a clearing from the future has no effect', () => {
  const quota = { perMinute: 1, perDay: 1_000 };
  const policy: LimitPolicy = { quota, banRules: ourBanRules };
  for (const leapMs of [minuteMs, 20 * 3_600_000]) {
    const ahead = runAt(policy, Array(12).fill(startMs + leapMs)).at(-1) as Made;
    assert.equal(ahead.decision.outcome, 'banned');
    const after = decide(ahead.after, { ...policy, banClearedAtMs: startMs + 500 }, startMs + 1_000);
    assert.equal(after.decision.outcome, 'admitted');
    assert.equal(after.account.bans, 0);
  }
  const pardoned = { ...policy, banClearedAtMs: startMs + 20 * 3_600_000 };
  assert.equal(runAt(pardoned, Array(13).fill(startMs)).at(-1)?.decision.outcome, 'banned');
});

test('an account a minute ahead stays in that minute, and waiting for Retry-After is enough', () => {
  const policy = { quota: { perMinute: 1, perDay: 1 } };
  const ahead = decide(unusedAccount, policy, startMs + 2 * dayMs).account;
  assert.equal(decide(ahead, policy, startMs).decision.outcome, 'admitted');
  const slightlyAhead = decide(unusedAccount, policy, startMs + minuteMs).account;
  const { decision } = decide(slightlyAhead, policy, startMs);
  assert.equal(decision.outcome, 'limited');
  assert.equal(limitRefusal(decision).headers['Retry-After'], String(dayMs / 1000));
});
