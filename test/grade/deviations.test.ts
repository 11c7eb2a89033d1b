import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeResultOf } from '../../src/grade/compare/store-result.ts';
import type { Deviation, Verdict } from '../../src/grade/grade.ts';
import type { Run } from '../../src/grade/run/run.ts';
import { isFailing, worst } from '../../src/grade/verdict.ts';
import type { RecordedRequest } from '../../src/lab/recordings/schema.ts';

import {
  baselineOf,
  create,
  found,
  initial,
  judge,
  list,
  lost,
  order,
  remove,
  rename,
  runOf,
  type Sketch,
  setStock,
  stocked,
  told,
} from './runs.ts';

test('a pet that was created twice counts as twice, also after one or both were deleted', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug'), remove(2, 'Smaug')])];
  for (const rest of [[remove(3, 'Smaug')], [remove(2, 'Smaug'), remove(3, 'Smaug')]]) {
    const run = judge(calm, runOf([create(2, 'Smaug', lost), create(3, 'Smaug'), ...rest]));
    assert.equal(run.verdict, 'did-it-twice');
    assert.deepEqual(found(run)[0], ['twice', 'two pets Smaug instead of one', '1 2']);
    const [{ service, change }] = run.deviations as [Deviation];
    assert.equal(service, 'Committed request 1, then cut the connection.');
    assert.match(change ?? '', /`Idempotency-Key`/);
  }
});

test('a change that is applied again, to its own result, counts as made twice', () => {
  const golden = 'Smaug the Golden';
  const calm: [Run] = [runOf([create(2, 'Smaug'), rename(2, 'Smaug', golden)])];
  const twice = `${golden} the Golden`;
  const again = [create(2, 'Smaug'), rename(2, 'Smaug', golden, lost), rename(2, golden, twice)];
  const run = judge(calm, runOf(again));
  assert.deepEqual(found(run), [['twice', `pet Smaug has name ${twice} instead of ${golden}`, '2 3']]);
  assert.equal(run.verdict, 'did-it-twice');
  const andBack = judge(calm, runOf([...again, rename(2, twice, golden)]));
  assert.deepEqual(found(andBack), [
    ['twice', 'pet Smaug: name was changed three times instead of once', '2 3 4'],
  ]);
  const through = (name: string) => [create(2, 'Smaug'), rename(2, 'Smaug', name), rename(2, name, golden)];
  assert.deepEqual(found(judge([runOf(through('Fafnir'))], runOf(through('Fluffy')))), [
    ['other', 'pet Smaug: name was temporarily Fluffy instead of Fafnir', '2 3'],
  ]);
});

test('if only one of two runs deletes the pet that it created, the pet is reported as deleted, or as not deleted', () => {
  const [kept, deleted] = [[create(2, 'Smaug')], [create(2, 'Smaug'), remove(2, 'Smaug')]];
  const toldOf = (calm: Sketch[], run: Sketch[]) => told(judge([runOf(calm)], runOf(run)));
  assert.deepEqual(toldOf(deleted, kept), ['undone: pet Smaug was not deleted']);
  assert.deepEqual(toldOf(kept, deleted), ['other: pet Smaug was deleted instead of kept']);
});

test('a pet created twice does not change how other changes are described', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug'), rename(2, 'Smaug', 'Fafnir')])];
  const twice = [create(2, 'Smaug', lost), create(3, 'Smaug'), rename(3, 'Smaug', 'Fafnir')];
  assert.deepEqual(found(judge(calm, runOf(twice))), [['twice', 'two pets Smaug instead of one', '1 2']]);
});

test('a stock change caused by an order is not another deviation', () => {
  const calm: [Run] = [runOf([order(1, 8)])];
  const twice = judge(calm, runOf([order(1, 8, lost), order(2, 7)]));
  assert.deepEqual(found(twice), [['twice', 'two orders of 1 Rex instead of one', '1 2']]);
  const other = judge([runOf([setStock([9, 5])])], runOf([setStock([9, 6])]));
  assert.deepEqual(found(other), [['other', 'pet Rex has stock 6 instead of 5', '1']]);
  assert.equal(other.verdict, 'did-something-else');
});

test('an order is named by its pet, even if that was deleted', () => {
  const calm: [Run] = [runOf([order(1, 8), remove(1, 'Rex')])];
  assert.deepEqual(told(judge(calm, runOf([order(1, 8)]))), [
    'undone: pet Rex was not deleted',
    'other: order of 1 Rex has pet Rex instead of none',
  ]);
});

test('a list that was left early is a finding only if the result differs, and then required and the cause', () => {
  const page = { ...list, answerHeaders: { link: '</v1/pets?cursor=a>; rel="next"' } };
  const calm: [Run] = [runOf([list, create(2, 'Smaug')], ['4 pets'])];
  const resultOf = (rest: Sketch[], lines: string[], exitStatus = 0) => {
    const run = runOf([{ ...page, fault: 'small-pages' }, ...rest], lines, exitStatus);
    const judged = judge(calm, run, { fault: 'small-pages' });
    const { result, level } = judged.checks.find(({ name }) => name === 'pages.to-the-end') ?? {};
    return [judged.verdict, result, level, ...found(judged).flatMap((one) => one.slice(1))];
  };
  const [written, cause] = [[create(2, 'Smaug')], ': the page after request 1 was not read'];
  assert.deepEqual(resultOf(written, ['4 pets']), ['survived', 'not_observed', 'recommended']);
  assert.deepEqual(resultOf(written, ['2 pets']), [
    ...['printed-something-else', 'failed', 'required'],
    ...[`printed "2 pets" instead of "4 pets"${cause}`, '1'],
  ]);
  assert.deepEqual(resultOf([], ['4 pets']), [
    ...['left-undone', 'failed', 'required', `no pet Smaug instead of one${cause}`, '1'],
  ]);
  assert.deepEqual(resultOf(written, [], 1), ['failed', 'failed', 'recommended']);
  const odd = judge(calm, runOf([{ ...page, fault: 'link-odd' }], ['4 pets']), { fault: 'link-odd' });
  assert.deepEqual(told(odd), [`undone: no pet Smaug instead of one${cause}`]);
});

test('orders missing after an unread page are one deviation with one cause', () => {
  const calm: [Run] = [runOf([list, list, order(1, 8), order(2, 7), create(2, 'A'), create(3, 'B')])];
  const fault = 'internal-error';
  const run = judge(calm, runOf([list, { ...list, status: 500, fault }, order(1, 8)]), { fault });
  assert.deepEqual(found(run), [
    ['undone', 'no pet A instead of one; no pet B instead of one; one order of 1 Rex instead of two', '2'],
  ]);
  assert.equal(run.verdict, 'left-undone');
  assert.equal(run.deviations[0]?.service, 'Responded with 500 (request 2).');
});

test('a program with an exit status other than 0 failed, unless it did something twice', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug'), create(3, 'Fafnir')])];
  const failed = judge(calm, runOf([{ ...list, ...lost }], [], 1));
  assert.deepEqual([failed.verdict, failed.deviations], ['failed', []]);
  const twice = judge(calm, runOf([create(2, 'Smaug', lost), create(3, 'Smaug')], [], 1));
  assert.equal(twice.verdict, 'did-it-twice');
  assert.deepEqual(found(twice), [['twice', 'two pets Smaug instead of one', '1 2']]);
  const hung = judge(calm, { ...runOf([list]), exitStatus: undefined });
  assert.equal(hung.verdict, 'hung');
  assert.deepEqual(told(hung), ['undone: no pet Smaug instead of one; no pet Fafnir instead of one']);
  assert.equal(hung.deviations[0]?.isWarning, true);
  const unreached = judge(calm, { ...runOf([]), performed: 0 });
  assert.deepEqual([unreached.verdict, unreached.deviations], ['not-reached', []]);
});

test("a program may build on another writer's change, but a change that it omits afterwards is reported as left undone", () => {
  /** The deviations of a run with changes before and after another writer. The last of `before` is the other writer's. */
  const under = (calm: [number, number][], before: [number, number][], after: [number, number][]) => {
    const other = { ...setStock(before.at(-1) as [number, number]), fault: 'conflict' };
    const run = runOf([...before.slice(0, -1).map(setStock), other, ...after.map(setStock)]);
    const events = [...before, ...after].map((values, i) => {
      const { requestId, at } = run.requests[i] as RecordedRequest;
      const isOther = i === before.length - 1;
      return { ...stocked(...values), requestId: isOther ? 'another writer' : requestId, timestamp: at };
    });
    const storeResult = storeResultOf(run.storeResult.state, initial(), events, 'another writer');
    return told(judge([runOf(calm.map(setStock))], { ...run, storeResult }, { fault: 'conflict' }));
  };
  // The program doubles the current stock.
  assert.deepEqual(under([[9, 18]], [[9, 10]], [[10, 20]]), []);
  // The other writer has made the same change.
  assert.deepEqual(under([[1, 2]], [[1, 2]], []), []);
  // The program refills a sold-out pet, whose status the other writer has changed.
  const soldOut: [number, number] = [9, 0];
  assert.deepEqual(under([soldOut, [0, 5]], [soldOut, [0, 1]], [[1, 5]]), []);
  const never = 'undone: pet Rex: stock was never changed, instead of once';
  assert.deepEqual(under([[9, 18]], [[9, 10]], []), [never]);
  const twice = [10, 20].map((before): [number, number] => [before, 2 * before]);
  const message = 'twice: pet Rex: stock was changed twice instead of once';
  assert.deepEqual(under([[9, 18]], [[9, 10]], twice), [message]);
});

test('a change that never occurs without faults does not count as twice', () => {
  const calm: [Run] = [runOf([list, create(2, 'Smaug')])];
  const run = runOf([list, create(2, 'Smaug'), rename(1, 'Rex', 'Rexy')]);
  assert.equal(judge(calm, run, { fault: 'small-pages' }).verdict, 'did-something-else');
});

test('only after a failure the card describes the service, and gives advice to retry', () => {
  const undone = (fault: string, status = 200) => {
    const run = runOf([{ ...list, status, fault }]);
    return judge([runOf([list, create(2, 'Smaug')])], run, { fault }).deviations[0] as Deviation;
  };
  assert.match(undone('unavailable', 503).change ?? '', /^Retry until/);
  assert.equal(undone('unavailable').change, undefined);
  assert.equal(undone('small-pages').service, undefined);
});

test('values that differ between runs without faults are not compared, but their number is', () => {
  const named = (n: number) => runOf([create(2, `a${n}`), rename(1, 'Rex', `r${n}`)]);
  const calm: [Run, Run] = [named(1), named(2)];
  const run = (...sketches: Sketch[]) => found(judge(calm, runOf(sketches)));
  assert.deepEqual(run(create(2, 'a3'), rename(1, 'Rex', 'r3')), []);
  assert.deepEqual(run(create(2, 'a3', lost), create(3, 'a4'), rename(1, 'Rex', 'r3')), [
    ['twice', 'two pets added instead of one, such as a4', '1 2'],
  ]);
  assert.deepEqual(run(create(2, 'a3'), rename(1, 'Rex', 'r3', lost), rename(1, 'r3', 'r4')), [
    ['twice', 'pet Rex: name was changed twice instead of once', '2 3'],
  ]);
  const names = ['Rex', 'a', 'b', 'c'];
  const renamed = (times: number) =>
    runOf(names.slice(0, times).map((name, i) => rename(1, name, names[i + 1] as string)));
  assert.deepEqual(judge([renamed(1), renamed(2)], renamed(3)).deviations, []);
});

test('attempts that share an X-Request-Id are distinguished by their commit time', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug')])];
  const run = runOf([
    { ...create(2, 'Smaug'), events: [], status: 503, fault: 'unavailable' },
    create(2, 'Fafnir'),
  ]);
  const requests = run.requests.map((request) => ({ ...request, requestId: 'mine' }));
  const histories = [...run.storeResult.histories].map(([key, life]) => {
    const created = life.created && { ...life.created, requestId: 'mine' };
    return [key, { ...life, ...(created && { created }) }] as const;
  });
  const storeResult = { ...run.storeResult, histories: new Map(histories) };
  const { deviations } = judge(calm, { ...run, requests, storeResult });
  assert.deepEqual(deviations.find(({ kind }) => kind === 'other')?.requests, ['2']);
});

test('refusals that occur in each run without faults are listed', () => {
  const refusal = { operation: 'createPet', status: 422, code: 'validation_failed' } as const;
  const always = create(9, 'x', { ...refusal, events: [] });
  const missing: Sketch = { ...always, status: 404, code: 'not_found' };
  const { refused } = baselineOf([runOf([always, missing]), runOf([list, always])]).toBaseline();
  assert.deepEqual(refused, [{ id: '2', ...refusal }]);
});

test('under a silent response the card shows when the program gave up, or that it never did', () => {
  const silent: Sketch = { ...list, isCut: true, fault: 'no-answer', durationMs: 5_003 };
  const gaveUp = (run: Run) => judge([runOf([list])], run, { fault: 'no-answer' }).gaveUpAfterMs;
  assert.equal(gaveUp(runOf([{ ...silent, left: true }, list])), 5_003);
  assert.equal(gaveUp(runOf([silent, list])), null);
  assert.equal(gaveUp({ ...runOf([{ ...silent, left: true }]), exitStatus: undefined }), null);
  assert.equal(gaveUp(runOf([list])), undefined);
  assert.equal(judge([runOf([list])], runOf([silent])).gaveUpAfterMs, undefined, 'not under other faults');
});

test('on a silent stream, the time until the program gave up is its silence', () => {
  const stream: Sketch = { operation: 'streamEvents', fault: 'stream-silent', durationMs: 50_010 };
  const gaveUp = (sketch: Sketch) =>
    judge([runOf([list])], runOf([sketch, list]), { fault: 'stream-silent' }).gaveUpAfterMs;
  assert.equal(gaveUp({ ...stream, silenceMs: 40_003 }), 40_003);
  assert.equal(gaveUp(stream), null);
});

test('under a failure that repeats, or a very long wait, a program may give up if it says so', () => {
  const calm: [Run] = [runOf([create(2, 'Smaug')])];
  const refused: Sketch = { ...create(2, 'Smaug'), events: [], status: 500, fault: 'internal-error' };
  const under = (run: Run, times: number) => judge(calm, run, { fault: 'internal-error', times }).verdict;
  const gaveUp = runOf([refused, refused, refused], [], 1);
  assert.deepEqual([under(gaveUp, 25), under(gaveUp, 1)], ['survived', 'failed']);
  assert.equal(under({ ...gaveUp, exitStatus: undefined }, 25), 'hung');
  assert.equal(under(runOf([refused, refused]), 25), 'left-undone');
  assert.equal(under(runOf([refused, create(2, 'Smaug'), create(3, 'Smaug')], [], 1), 25), 'did-it-twice');
  const fault = 'retry-after-odd';
  const odd = (seconds: string) => {
    const waits = { ...refused, status: 503, fault, answerHeaders: { 'retry-after': seconds } };
    return judge(calm, runOf([waits], [], 1), { fault }).verdict;
  };
  assert.deepEqual([odd('864000'), odd('2')], ['survived', 'failed']);
});

test('the worst run decides, and silent damage fails a program even under a recommended fault', () => {
  const some: Verdict[] = ['survived', 'hung', 'left-undone', 'not-reached'];
  assert.equal(worst(some), 'left-undone');
  assert.equal(worst([...some, 'did-it-twice']), 'did-it-twice');
  assert.equal(worst(['failed', 'survived']), 'failed');
  assert.equal(worst([]), 'not-reached');
  const failing = (required: boolean, mayWaitLong = false) =>
    (['did-it-twice', 'printed-something-else', 'hung', 'failed', 'survived', 'not-reached'] as const).filter(
      (verdict) => isFailing({ required, verdict, mayWaitLong }),
    );
  assert.deepEqual(failing(false), ['did-it-twice', 'printed-something-else', 'hung']);
  assert.deepEqual(failing(false, true), ['did-it-twice', 'printed-something-else']);
  assert.deepEqual(failing(true), ['did-it-twice', 'printed-something-else', 'hung', 'failed']);
});
