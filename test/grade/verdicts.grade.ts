import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FaultGrade, FaultRun, GradeProgress } from '../../src/grade/grade.ts';
import type { GradeOptions } from '../../src/grade/grade-program.ts';
import { faults } from '../../src/lab/faults/list.ts';
import { selectorOf } from '../../src/lab/rehearsals/fault-selector.ts';
import type { PlannedFault } from '../../src/lab/rehearsals/schema.ts';
import { temporaryFolder } from '../support/folder.ts';
import { careless, grade, programOf, runUnder } from '../support/grading.ts';
import { until } from '../support/until.ts';

/** The grade of a program under one fault, and its first run. */
async function under(fault: string | PlannedFault, command: string[], options: Partial<GradeOptions> = {}) {
  const { faults, ...whole } = await grade(command, { faults: [fault], ...options });
  assert.equal(whole.baseline.problem, undefined);
  const [found] = faults as [FaultGrade];
  return { ...whole, fault: found, run: found.runs[0] as FaultRun };
}

const careful = programOf('careful');

const whatIn = ({ deviations }: FaultRun) => deviations.map(({ what }) => what);

/** Without faults that make a program wait for half a minute, and without 401: the careful program has only one key. */
const quick = faults
  .filter(({ name, perMinute, isSilent }) => !perMinute && !isSilent && name !== 'unauthorized')
  .map(({ name }) => name);

test('a careful program survives every fault that it meets, and its checks pass', async () => {
  const reported: GradeProgress[] = [];
  const { verdict, baseline, faults, notCompared, runCount } = await grade(careful, {
    ...{ faults: quick, onProgress: (progress) => reported.push(progress) },
  });
  for (const { fault, runs } of faults)
    for (const { place, verdict, deviations } of runs) {
      assert.ok(['survived', 'not-reached'].includes(verdict), `${fault} ${place}: ${verdict}`);
      assert.deepEqual(deviations, [], `${fault} ${place}`);
    }
  assert.equal(verdict, 'passed');
  assert.equal(baseline.exitStatus, 0);
  assert.deepEqual(
    baseline.operations.map(({ operation }) => operation),
    ['createPet', 'placeOrder', 'listPets', 'updatePet', 'getInventory', 'updateInventory'],
  );
  assert.deepEqual(notCompared, []);
  const runs = faults.flatMap((fault) => fault.runs);
  assert.equal(runCount, 2 + runs.length);
  for (const { verdict, performed, requests, checks } of runs)
    if (verdict === 'survived') assert.ok(performed && requests.length && checks.length);
  const stages = Object.groupBy(reported, ({ stage }) => stage);
  assert.deepEqual(
    (['baseline', 'faults', 'begun', 'ended'] as const).map((stage) => stages[stage]?.length),
    [1, 1, runs.length, runs.length],
  );
});

test('a program that repeats a POST after a lost response did it twice, at any use', async () => {
  const { fault, run, verdict } = await under('lost-answer', careless('blind retries'));
  assert.equal(fault.verdict, 'did-it-twice');
  const shown = fault.runs.map((run) => [
    ...[run.place, run.faults.map(selectorOf).join(), whatIn(run).join(), run.deviations[0]?.requests],
  ]);
  assert.deepEqual(shown, [
    ['first', 'lost-answer:operation=createPet,after=0', 'two pets Smaug instead of one', ['1', '2']],
    ['last', 'lost-answer:operation=createPet,after=1', 'two pets Fafnir instead of one', ['2', '3']],
  ]);
  assert.equal(run.deviations[0]?.service, 'Committed request 1, then cut the connection.');
  assert.equal(run.exitStatus, 0);
  assert.equal(verdict, 'failed');
  const exactly = { fault: 'reset', operation: 'createPet', after: 1 };
  assert.equal((await under(exactly, careless('blind retries'))).fault.verdict, 'survived');
});

test('a program that reads only the first page leaves work undone when pages are small', async () => {
  const { fault, run } = await under('small-pages', careless('pages'));
  assert.equal(fault.verdict, 'left-undone');
  assert.match(whatIn(run).join(), /^category Birds has name Birds instead of Category 3, /);
});

test('a program that gives up fails, with its exit status and its last lines', async () => {
  const levels = { 'internal-error': 'required' } as const;
  const { fault, run, verdict } = await under('internal-error', careless('failures'), { levels });
  assert.deepEqual([fault.verdict, run.exitStatus, fault.required], ['failed', 1, true]);
  assert.match(run.lastLines.join('\n'), /POST \/pets: 500/);
  assert.deepEqual(run.deviations, [], 'it says itself that work is left');
  assert.equal(verdict, 'failed');
  const recommended = await under('internal-error', careless('failures'));
  assert.deepEqual([recommended.fault.required, recommended.verdict], [false, 'passed']);
  const off = await grade(careless('failures'), {
    ...{ faults: ['internal-error'], levels: { 'internal-error': 'off' } },
  });
  assert.deepEqual([off.faults, off.runCount, off.verdict], [[], 2, 'incomplete']);
});

test('a program that retries forever fails, and one that gives up after a few attempts survives', async () => {
  const repeated = ({ runs }: FaultGrade) => runs.find(({ faults }) => faults[0]?.times) as FaultRun;
  const hammers = await under('internal-error', careless('retries without end'));
  assert.ok(hammers.fault.runs.every(({ verdict }) => verdict === 'survived'));
  const { checks, exitStatus } = repeated(hammers.fault);
  const bounded = checks.find(({ name }) => name === 'attempts.bounded');
  assert.deepEqual([bounded?.result, exitStatus], ['failed', 0]);
  assert.equal(hammers.verdict, 'failed');
  const right = await under('internal-error', careful);
  assert.deepEqual([right.verdict, failedChecks(repeated(right.fault))], ['passed', []]);
  assert.equal(repeated(right.fault).verdict, 'survived');
  assert.notEqual(repeated(right.fault).exitStatus, 0);
});

test('a program may give up at once when Retry-After is days, in any of its forms', async () => {
  const { fault, verdict } = await under('retry-after-odd', careful);
  assert.deepEqual([fault.verdict, verdict], ['survived', 'passed']);
  const ends = fault.runs.flatMap(({ label, place, exitStatus }) =>
    place === 'first' ? [`${label} ${exitStatus}`] : [],
  );
  const expected = ['none 0', 'zero 0', 'past 0', 'malformed 0', 'ten-days 1', 'thirty-days 1'];
  assert.deepEqual(
    ends,
    expected.map((end) => `retry-after-odd ${end}`),
  );
});

test("another writer's changes do not count against a program; overwriting them fails a check", async () => {
  const blind = await under('conflict', careless('other writers'));
  assert.deepEqual([blind.fault.verdict, blind.verdict], ['survived', 'failed']);
  assert.deepEqual(failedChecks(blind.run), ['updates.not-lost']);
  const kept = await under('conflict', careless('what is no concern of it'));
  assert.deepEqual([kept.fault.verdict, kept.run.deviations, kept.verdict], ['survived', [], 'passed']);
});

const failedChecks = ({ checks }: FaultRun) =>
  checks.filter(({ level, result }) => level === 'required' && result === 'failed').map(({ name }) => name);

test('a program that does not end in time hangs', async () => {
  const { fault, run } = await under('rate-limited', careless('time'), { timeoutMs: 2_500 });
  assert.deepEqual([fault.verdict, run.exitStatus], ['hung', undefined]);
});

test('under a silent response the card shows how long the program waited', async () => {
  const silent = { fault: 'no-answer', operation: 'createPet', silenceMs: 1_500 };
  const patient = await under(silent, careless('blind retries'));
  assert.equal(patient.run.gaveUpAfterMs, null);
});

test('a fault that never applies is not reached, whether it was tried or not', async () => {
  const begun: string[] = [];
  const { faults, verdict } = await grade(careless('connections'), {
    faults: ['stale-connection', 'small-pages'],
    onProgress: (progress) => progress.stage === 'begun' && begun.push(progress.run),
  });
  assert.deepEqual(
    faults.map(({ fault, verdict, runs }) => [fault, verdict, runs.map(({ performed }) => performed)]),
    [
      ['stale-connection', 'not-reached', [0, 0]],
      ['small-pages', 'not-reached', []],
    ],
  );
  assert.deepEqual(begun, ['stale-connection, first use', 'stale-connection, last use']);
  assert.equal(verdict, 'incomplete');
});

test('near-limit is reached when no request remains', async () => {
  const performed = async (remaining: number) =>
    (await runUnder([{ fault: 'near-limit', remaining }], careless('nothing special'))).performed;
  assert.equal(await performed(3), 0);
  assert.equal(await performed(1), 2);
});

test('names that differ between runs are listed and not compared', async () => {
  const { fault, notCompared } = await under('new-fields', careless('names'));
  assert.equal(fault.verdict, 'survived');
  assert.match(notCompared.join('\n'), /^name of pet Smaug [\d.e-]+$/);
});

test('differences between later runs without faults count against no fault', async (t) => {
  const file = join(temporaryFolder(t), 'runs');
  const inTurn = programOf('careless', 'names in turn', file, 'Smaug,Smaug,Fafnir,Smaug,Fafnir');
  const reported: GradeProgress[] = [];
  const { fault, run, notCompared, verdict } = await under('new-fields', inTurn, {
    onProgress: (progress) => reported.push(progress),
  });
  assert.deepEqual([fault.verdict, run.deviations, verdict], ['survived', [], 'passed']);
  assert.deepEqual(notCompared, ['name of pet Smaug']);
  assert.equal(readFileSync(file, 'utf8').length, 5, 'runs until the difference is known');
  assert.deepEqual(reported.at(-1), { stage: 'ended', fault: 'new-fields', required: true, run });
});

test('ids in names are compared by meaning, unless the program rounds them', async () => {
  const { fault, run } = await under('large-ids', careless('ids in texts'));
  assert.deepEqual([fault.verdict, run.deviations], ['survived', []]);
  const rounded = await under('large-ids', programOf('careless', 'ids in texts', 'rounded'));
  assert.equal(rounded.fault.verdict, 'did-something-else');
  assert.match(whatIn(rounded.run).join(), /^pet Of 8, 8 has name Of 8, 1\d{16} instead of Of 8, 8$/);
});

const atRead = (operation: string) => ({ fault: 'unavailable', operation, after: 0 });

test('a program that writes and prints a total that it could not read must be fixed; the card names the read', async () => {
  const { run, verdict } = await under(atRead('listInventory'), careless('totals'));
  assert.deepEqual([run?.verdict, verdict], ['printed-something-else', 'failed']);
  assert.match(
    run?.deviations[0]?.what ?? '',
    /^printed "0 EUR" instead of "\d+ EUR": GET \/v1\/inventory never got a successful response$/,
  );
});

test('what a program leaves in a file is compared by the command for its result, whose failure ends the grading', async (t) => {
  const file = join(temporaryFolder(t), 'pet.json');
  const graded = (resultCommand: string) =>
    under(atRead('getPet'), careless('files', file), { atOnce: 1, resultCommand });
  const { run } = await graded(`cat ${file} 2>&1; rm -f ${file}`);
  assert.match(run?.deviations[0]?.what ?? '', /^the result command (?:printed|did not print) /);
  await assert.rejects(
    graded('echo no table pets >&2; exit 3'),
    /exited with 3, not with 0\. It printed: no table pets$/,
  );
});

test('a process that left the group of its run is ended with it', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const file = join(temporaryFolder(t), 'pid');
  await runUnder([{ fault: 'sunset' }], careless('processes', file));
  const isAlive = () => existsSync(`/proc/${readFileSync(file, 'utf8')}`);
  await until(() => !isAlive());
});

test('grade waits for requests that a program left in flight', async () => {
  const { fault, run } = await under('delay', careless('what it leaves'));
  assert.deepEqual([fault.verdict, run.deviations], ['survived', []]);
});
