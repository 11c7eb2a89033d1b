import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { decide, type LimitPolicy, unusedAccount } from '../../../src/access/limits/decision.ts';
import { limitHeaders } from '../../../src/access/limits/headers.ts';
import { accountName, decideShared } from '../../../src/access/limits/shared-accounts.ts';
import { connectValkey, type Valkey } from '../../../src/access/limits/valkey.ts';
import { dayMs, minuteMs } from '../../../src/foundation/time.ts';
import { needsValkey, serverKinds, startValkey, type ValkeyServer } from '../../support/valkey.ts';

const startMs = Date.parse('2026-06-01T23:55:00Z');

const policy: fc.Arbitrary<LimitPolicy> = fc.record(
  {
    quota: fc.record({
      perMinute: fc.integer({ min: 1, max: 8 }),
      perDay: fc.integer({ min: 1, max: 40 }),
    }),
    banRules: fc.record({
      strikesFactor: fc.constantFrom(0, 0.7, 1, 2),
      firstMs: fc.constantFrom(1_000, 1_234.5, 7_500),
      longestMs: fc.constantFrom(500, 60_000, 200_000, 3_600_000),
      growth: fc.constantFrom(1, 1.1, 1.5, 2, 3),
      memoryMs: fc.constantFrom(0, 90_000, dayMs, 2 * dayMs),
    }),
  },
  { requiredKeys: ['quota'] },
);

const leaps = [2 * minuteMs, 20 * 3_600_000, 3_653 * dayMs];

/** Clocks that run, step back, reach the end of a ban or the next day, or were wrong by days. */
const steps = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 1, 1_000, 7_500) },
  { weight: 3, arbitrary: fc.integer({ min: -70_000, max: 70_000 }) },
  { weight: 6, arbitrary: fc.constantFrom(minuteMs, minuteMs - 1, minuteMs + 1, -1, -minuteMs, 90_000) },
  { weight: 2, arbitrary: fc.constantFrom(dayMs, dayMs - 1, dayMs / 2, 3_600_000, -2 * dayMs, -dayMs / 2) },
  { weight: 2, arbitrary: fc.constantFrom(...leaps, ...leaps.map((ms) => -ms)) },
);

/** Requests at one time. Before them time has passed, the plan may have changed, and the ban may have been cleared. */
const bursts = fc.array(
  fc.record({
    stepMs: steps,
    count: fc.integer({ min: 1, max: 30 }),
    plan: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(1, 2) }),
    pardonAfterMs: fc.option(fc.constantFrom(-1, 0, 5_000), { freq: 5, nil: undefined }),
  }),
  { minLength: 1, maxLength: 25 },
);

async function connect(t: TestContext, servers: ValkeyServer[]): Promise<Valkey> {
  const urls = servers.map(({ url }) => url);
  // Long enough for a busy machine.
  const valkey = await connectValkey(urls, 60_000);
  t.after(() => valkey.disconnect());
  return valkey;
}

for (const [name, start] of serverKinds) {
  test(`on ${name} the script decides as the pure function does`, needsValkey, async (t) => {
    const valkey = await connect(t, await start(t));
    let traces = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(policy, { minLength: 3, maxLength: 3 }), bursts, (plans, trace) =>
        assertSame(valkey, `account ${traces++}`, plans, trace),
      ),
      { numRuns: 300 },
    );
  });
}

test('an account is kept while it is relevant, and then expires', needsValkey, async (t) => {
  const valkey = await connect(t, [await startValkey(t)]);
  const hoursLeft = async (policy: LimitPolicy, count: number) => {
    const name = accountName({ workspaceId: 1, id: `key_${count}` });
    const nowMs = Date.parse('2026-06-01T22:00:00Z');
    await decideShared(valkey, name, policy, count, () => {}, nowMs);
    return Math.ceil((await valkey.pttl(name)) / 3_600_000);
  };
  const quota = { perMinute: 1, perDay: 1 };
  const banRules = { strikesFactor: 1, firstMs: 1000, longestMs: 1000, growth: 1, memoryMs: 8 * 3_600_000 };
  assert.equal(await hoursLeft({ quota }, 1), 3, 'to the end of the day, and an hour');
  assert.equal(await hoursLeft({ quota, banRules }, 12), 9, 'as long as the ban is remembered');
});

test('an invalid response of the script is refused, so the instance limits on its own', async () => {
  const decision = ['admitted', 0, ...Array(11).fill(1)];
  const others = [null, 'OK', ['admitted', 0, 1], ['admitted', 0, 1, ...Array(9).fill(1), 'x']];
  for (const answer of [null, 'OK', decision, [], [decision, decision], ...others.map((other) => [other])]) {
    const valkey = { evalsha: async () => answer } as unknown as Valkey;
    await assert.rejects(decideShared(valkey, 'name', { quota: { perMinute: 1, perDay: 1 } }, 1, () => {}));
  }
});

/** Asserts that every decision, its headers and the account after it are equal. */
async function assertSame(
  valkey: Valkey,
  name: string,
  plans: LimitPolicy[],
  trace: { stepMs: number; count: number; plan: number; pardonAfterMs: number | undefined }[],
): Promise<void> {
  let account = unusedAccount;
  let nowMs = startMs;
  let banClearedAtMs = 0;
  const expected = [];
  const answers = [];
  for (const { stepMs, count, plan, pardonAfterMs } of trace) {
    nowMs += stepMs;
    if (pardonAfterMs !== undefined) banClearedAtMs = nowMs + pardonAfterMs;
    const policy = { ...(plans[plan] as LimitPolicy), banClearedAtMs };
    for (let i = 0; i < count; i++) {
      const made = decide(account, policy, nowMs);
      account = made.account;
      expected.push(made);
    }
    answers.push(decideShared(valkey, name, policy, count, () => {}, nowMs));
  }
  const given = (await Promise.all(answers)).flat();
  assert.deepEqual(given, expected);
  assert.deepEqual(
    given.map(({ decision }) => limitHeaders(decision, true)),
    expected.map(({ decision }) => limitHeaders(decision, true)),
  );
}
