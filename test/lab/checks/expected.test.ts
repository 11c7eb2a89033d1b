import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectedOf } from '../../../src/lab/checks/expected.ts';
import { reportOn } from '../../../src/lab/checks/report.ts';
import { petstoreApi } from '../../../src/lab/petstore/petstore-api.ts';
import {
  categories,
  crowd,
  cut,
  elsewhere,
  finds,
  key,
  limited,
  linkTo,
  post,
  sent,
  unavailableFor,
} from '../../support/findings.ts';
import { recorded, type Sketch } from '../../support/recorded.ts';

const without = (...sketches: Sketch[]) =>
  expectedOf([recorded(...sketches), recorded(...sketches)], petstoreApi);
/** Several workers, so that connections and gaps give no evidence. */
const busy = { at: 0, durationMs: 9_000, ...categories, connection: 'w' };
const once = without({ ...busy }, { at: 5, ...post });

test('the expected number of a request is the maximum of the runs without faults, per operation if its body is new', () => {
  const order = (at: number, body: string) => ({
    ...{ at, method: 'POST', target: '/v1/store/orders', operation: 'placeOrder', body },
  });
  const runs = [
    recorded(order(0, 'a'), order(1, 'a'), order(2, 'b'), { at: 5 }),
    recorded(order(0, 'a'), order(1, 'b'), order(2, 'b'), order(3, 'b')),
  ];
  const { timesOf } = expectedOf(runs, petstoreApi);
  const times = (sketch: Sketch) => timesOf(recorded(sketch)[0] as (typeof runs)[number][number]);
  assert.equal(times(order(0, 'a')), 2);
  assert.equal(times(order(0, 'b')), 3);
  assert.equal(times(order(0, 'of this run alone')), 3);
  assert.equal(times({ at: 0 }), 1);
  assert.equal(times({ at: 0, ...categories }), 1);
  // If the body was not read, it may be any of the four.
  assert.equal(times({ ...order(0, 'a'), isGuessed: true }), 4);
});

test('an identical request beyond the expected number is a retry, on any connection', () => {
  const same = 'idempotency.same-key-on-retry';
  const lost = { at: 10, ...post, ...key('a'), ...cut };
  const again = { at: 700, ...post, ...key('b'), connection: 'c3' };
  finds(same, [busy, lost, again], 'not_observed');
  finds(same, [busy, lost, again], 'failed', [2, 3], once);
  finds('idempotency.key-for-one-thing', [busy, lost, again], 'not_observed', [], once);
  finds('idempotency.no-blind-post-retry', [busy, lost, again], 'not_observed', [], once);
  const blind = [busy, sent(10, post, cut), sent(700, post, { connection: 'c3' })];
  finds('idempotency.no-blind-post-retry', blind, 'failed', [2, 3], once);
  finds('failures.retried', [busy, lost, again], 'not_observed', [], once);
  // Both are expected. The second is no retry of the first, even on the same connection.
  const twice = without({ at: 0, ...post }, { at: 5, ...post });
  finds(same, [lost, { ...again, connection: 'c1' }], 'not_observed', [], twice);
  finds('failures.retried', [lost, { ...again, connection: 'c1' }], 'failed', [1], twice);
  finds(same, [lost, sent(20, post, key('c')), again], 'failed', [1, 2], twice);
  // The key identifies the repeated one of the two.
  finds(same, [lost, sent(20, post, key('c')), { ...again, ...key('a') }], 'passed', [1, 3], twice);
  // If either of two may have been repeated, it is unknown which.
  const both = [lost, { ...lost, at: 20, ...key('c'), connection: 'c9' }, sent(30, categories)];
  finds(same, [...crowd, ...both, again], 'not_observed', [], twice);
});

test('a known retry can be too early, also on another connection and beside other workers', () => {
  const refused = { at: 10, ...post, ...key('a'), ...limited, fault: 'rate-limited' };
  const early = { ...refused, at: 31, connection: 'c3' };
  const name = 'retry-after.obeyed';
  // The same key also proves it.
  finds(name, [busy, refused, early], 'failed', [2, 3]);
  const reading = { at: 10, target: '/v1/pets?id=1', ...limited, fault: 'rate-limited' };
  const readAgain = { ...reading, at: 31, connection: 'c3' };
  finds(name, [busy, reading, readAgain], 'not_observed');
  finds(name, [busy, reading, readAgain], 'failed', [2, 3], without(busy, { ...reading, at: 20 }));
  // A repeated poll may come from another worker.
  const polls = without(busy, ...[20, 30, 40].map((at) => ({ ...reading, at })));
  finds(name, [busy, reading, readAgain], 'not_observed', [], polls);
  finds(name, [busy, sent(10, post, unavailableFor(1)), again(500)], 'failed', [2, 3], once);
});

const again = (at: number): Sketch => ({ at, ...post, connection: 'c3' });

test('a program with concurrent requests without faults has several workers under faults too', () => {
  const requests = [
    sent(0, limited, { fault: 'rate-limited' }),
    sent(20, { target: '/v1/pets?limit=1' }, limited, elsewhere, { fault: 'rate-limited' }),
  ];
  finds('retry-after.obeyed', requests, 'failed', [1, 2]);
  finds('retry-after.obeyed', requests, 'failed', [1, 2], without({ at: 0 }, { at: 5 }));
  finds('retry-after.obeyed', requests, 'not_observed', [], without({ at: 0 }, { at: 0, ...elsewhere }));
});

test('requests that a test suite sends on purpose without faults are no retries', () => {
  const missing = (at: number) => ({ at, target: '/v1/inventory/9', status: 404 });
  const name = 'retry.only-when-useful';
  finds(name, [missing(0), missing(9)], 'failed', [1, 2]);
  const requests = [missing(0), sent(5), missing(9), sent(20, categories)];
  const expected = without(missing(0), { at: 5 }, missing(9));
  const refused = { at: 0, ...post, status: 422 };
  finds(name, [{ ...refused }, { ...refused, at: 9 }], 'failed', [1, 2], once);
  const suite = without(refused, { ...refused, at: 9 });
  // It is also no evidence that the client repeats nothing.
  finds(name, [refused, { ...refused, at: 9 }, sent(20)], 'not_observed', [], suite);
  finds(name, requests, 'not_observed', [], expected);
  const posts = [0, 9, 30].map((at) => ({ ...refused, at }));
  finds(name, posts, 'failed', [1, 2, 3], without(...posts));
  // A retry loop also repeats a refusal without faults.
  const gone = [0, 140, 420].map((at) => ({ at, method: 'DELETE', target: '/v1/pets/23', status: 404 }));
  finds(name, gone, 'failed', [1, 2, 3], without(...gone));
  const [first, ...later] = gone as [Sketch, ...Sketch[]];
  const down = [{ ...first, status: 503 }, ...later];
  finds('failures.retried', down, 'passed', [1, 2], without(...gone));
  // One repetition more is too many.
  finds(name, [...requests, missing(30), missing(35)], 'failed', [1, 3, 5, 6], expected);
});

test('a refusal that also happens without faults is not what a client repeats', () => {
  const missing = (at: number) => ({ at, target: '/v1/inventory/9', operation: 'getInventory', status: 404 });
  const name = 'retry.only-when-useful';
  // It starts over after the failure in between.
  const requests = [missing(0), sent(9, post, { status: 500 }), missing(90), sent(99, post)];
  finds(name, requests, 'failed', [1, 3]);
  finds(name, requests, 'not_observed', [], without(missing(0), { at: 9, ...post }));
  finds(name, requests, 'failed', [1, 3], without({ ...missing(0), status: 200 }, { at: 9, ...post }));
});

test('with several workers, any of them may have looked before a POST was sent again', () => {
  const name = 'idempotency.no-blind-post-retry';
  const lost = { at: 10, ...post, ...cut };
  const look = (at: number) => ({ at, ...categories, target: '/v1/categories?limit=9', connection: 'c9' });
  finds(name, [busy, lost, look(300), again(700)], 'not_observed', [], once);
  finds(name, [busy, lost, again(700), look(800)], 'failed', [2, 3], once);
});

test('a request with a guessed body is a retry only if more requests have its length', () => {
  const names = without({ at: 0, ...post, body: 'Ann' }, { at: 5, ...post, body: 'Bob' });
  // Ann was cut off before her body was read, so the guess is Bob.
  const guess = { at: 0, ...post, body: 'Bob', ...cut, isGuessed: true as const };
  const bob = (at: number) => ({ at, ...post, body: 'Bob' });
  finds('idempotency.no-blind-post-retry', [guess, bob(9)], 'passed', [1], names);
  const ann = { at: 5, ...post, body: 'Ann' };
  finds('idempotency.no-blind-post-retry', [guess, ann, bob(9)], 'failed', [1, 3], names);
});

test('a list that a program also leaves without faults need not be read to its end', () => {
  const short = sent(0, linkTo('cursor=a'), { fault: 'small-pages' });
  const left = sent(0, linkTo('cursor=b'));
  const name = 'pages.to-the-end';
  finds(name, [short], 'not_observed', [], without(left));
  finds(name, [short], 'failed', [1], without(left, { at: 5, target: '/v1/pets?cursor=b' }));
  // With another filter it is another list.
  const of = (status: string) => ({
    target: `/v1/pets?status=${status}`,
    ...linkTo(`status=${status}&cursor=a`),
  });
  const shortSold = { ...short, ...of('sold') };
  finds(name, [shortSold], 'not_observed', [], without({ ...left, ...of('sold') }));
  finds(name, [shortSold], 'failed', [1], without({ ...left, ...of('pending') }));
  // Lists with different filters have equal cursors.
  const pending = { at: 9, target: '/v1/pets?status=pending&cursor=a' };
  finds(name, [shortSold, pending], 'failed', [1]);
  finds(name, [shortSold, { at: 9, target: '/v1/pets?cursor=a&limit=9&status=sold' }], 'passed', [1]);
});

test('custom levels replace the levels of checks, and a check that is off is omitted', () => {
  const requests = recorded({ at: 0, status: 400 }, { at: 5, status: 400 });
  const name = 'retry.only-when-useful';
  const of = (levels: Parameters<typeof reportOn>[3]) => {
    const { verdict, checks } = reportOn('rec_1', requests, petstoreApi, levels);
    return [verdict, checks.find((check) => check.name === name)?.level];
  };
  assert.deepEqual(of({}), ['failed', 'required']);
  assert.deepEqual(of({ levels: { [name]: 'recommended' } }), ['incomplete', 'recommended']);
  assert.deepEqual(of({ levels: { [name]: 'off' } }), ['incomplete', undefined]);
});
