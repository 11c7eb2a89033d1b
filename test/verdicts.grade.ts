import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FaultGrade, Progress } from '../src/grade/grade.ts';
import type { GradeOptions } from '../src/grade/grade-program.ts';
import { faults } from '../src/lab/rehearsals/faults.ts';
import { temporaryFolder } from './support/folder.ts';
import { careless, grade, programOf, runUnder } from './support/grading.ts';

/** The grade of a program under one fault. */
async function under(fault: string, command: string[], options: Partial<GradeOptions> = {}) {
  const { faults, ...whole } = await grade(command, { faults: [fault], ...options });
  assert.equal(whole.baseline.problem, undefined);
  return { ...whole, fault: faults[0] as FaultGrade };
}

/** Waits for a minute to end, so it is left to a test of its own. */
const quick = faults.map(({ name }) => name).filter((name) => name !== 'near-limit');

test('a careful program survives every fault that it meets, and its checks pass', async () => {
  const told: Progress[] = [];
  const { verdict, baseline, faults, notCompared } = await grade(programOf('careful'), {
    ...{ faults: quick, atOnce: 8, onProgress: (progress) => told.push(progress) },
  });
  assert.deepEqual(
    faults.map(({ fault, verdict, difference }) => ({ fault, verdict, difference })),
    quick.map((fault) => ({
      fault,
      verdict: fault === 'sunset' ? 'not-reached' : 'survived',
      difference: [],
    })),
  );
  assert.equal(verdict, 'passed');
  assert.equal(baseline.exitStatus, 0);
  assert.deepEqual(baseline.operations, [
    ...['createPet', 'placeOrder', 'listPets', 'updatePet', 'getInventory', 'updateInventory'],
  ]);
  assert.deepEqual(notCompared, []);
  const reached = faults.filter(({ verdict }) => verdict === 'survived');
  assert.ok(
    reached.every(({ performed, requests, checks }) => performed && requests.length && checks.length),
  );
  const stages = (stage: Progress['stage']) => told.filter((progress) => progress.stage === stage).length;
  assert.deepEqual([stages('baseline'), stages('faults'), stages('begun')], [1, 1, reached.length]);
  assert.equal(stages('ended'), quick.length);
});

test('a program that repeats a POST changes the store where the answer to it was lost', async () => {
  const { fault, verdict } = await under('lost-answer', careless('blind retries'));
  assert.equal(fault.verdict, 'changed-the-store');
  assert.deepEqual(fault.difference, ['two pets Smaug where there was one']);
  assert.equal(fault.exitStatus, 0);
  assert.equal(verdict, 'failed');
  assert.equal((await under('reset', careless('blind retries'))).fault.verdict, 'survived');
});

test('a program that takes the first page for all changes the store where pages are small', async () => {
  const { fault } = await under('small-pages', careless('pages'));
  assert.equal(fault.verdict, 'changed-the-store');
  assert.ok(
    fault.difference.some((told) =>
      told.startsWith('category Category 3: name Birds instead of Category 3,'),
    ),
    fault.difference.join('\n'),
  );
});

test('a program that gives up fails, with its exit status and its last lines', async () => {
  const { fault, verdict } = await under('rate-limited', careless('refusals'));
  assert.deepEqual([fault.verdict, fault.exitStatus, fault.required], ['failed', 1, true]);
  assert.match(fault.lastLines.join('\n'), /POST \/pets: 429/);
  assert.deepEqual(fault.difference, [
    'no pet Smaug where there was one',
    'no pet Fafnir where there was one',
  ]);
  assert.equal(verdict, 'failed');
});

test('what a client had better survive does not fail it', async () => {
  const { fault, verdict } = await under('internal-error', careless('failures'));
  assert.deepEqual([fault.verdict, fault.required], ['failed', false]);
  assert.equal(verdict, 'passed');
});

test('what another writer left is not held against a program, and to overwrite it is, by a check', async () => {
  const blind = await under('conflict', careless('other writers'));
  assert.deepEqual([blind.fault.verdict, blind.verdict], ['survived', 'failed']);
  assert.deepEqual(failedChecks(blind.fault), ['updates.not-lost']);
  const kept = await under('conflict', careless('what is no concern of it'));
  assert.deepEqual([kept.fault.verdict, kept.fault.difference, kept.verdict], ['survived', [], 'passed']);
});

const failedChecks = ({ checks }: FaultGrade) =>
  checks.filter(({ level, result }) => level === 'required' && result === 'failed').map(({ name }) => name);

test('a program that does not end in time hangs', async () => {
  const { fault } = await under('rate-limited', careless('time'), { timeoutMs: 2_500 });
  assert.deepEqual([fault.verdict, fault.exitStatus], ['hung', undefined]);
});

test('a fault that the program gives no occasion to is not reached, whether it was tried or not', async () => {
  const begun: string[] = [];
  const { faults, verdict } = await grade(careless('connections'), {
    faults: ['stale-connection', 'small-pages'],
    onProgress: (progress) => progress.stage === 'begun' && begun.push(progress.fault),
  });
  assert.deepEqual(
    faults.map(({ fault, verdict, performed }) => [fault, verdict, performed]),
    [
      ['stale-connection', 'not-reached', 0],
      ['small-pages', 'not-reached', 0],
    ],
  );
  assert.deepEqual(begun, ['stale-connection']);
  assert.equal(verdict, 'incomplete');
});

test('a limit is reached when nothing is left of it, and not when it is told', async () => {
  const performed = async (remaining: number) =>
    (await runUnder([{ fault: 'near-limit', remaining }], careless('nothing special'))).performed;
  assert.equal(await performed(3), 0);
  assert.equal(await performed(1), 2);
});

test('names that differ from run to run are told and not compared', async () => {
  const { fault, notCompared } = await under('new-fields', careless('names'));
  assert.equal(fault.verdict, 'survived');
  assert.match(notCompared.join('\n'), /^pet Smaug [\d.e-]+: name$/);
});

test('what differs from run to run, though not in the first ones, is held against no fault', async (t) => {
  const file = join(temporaryFolder(t), 'runs');
  const inTurn = programOf('careless', 'names in turn', file, 'Smaug,Smaug,Fafnir,Smaug,Fafnir');
  const told: Progress[] = [];
  const { fault, notCompared, verdict } = await under('new-fields', inTurn, {
    onProgress: (progress) => told.push(progress),
  });
  assert.deepEqual([fault.verdict, fault.difference, verdict], ['survived', [], 'passed']);
  assert.deepEqual(notCompared, ['pet Smaug: name']);
  assert.equal(readFileSync(file, 'utf8').length, 5, 'runs until the difference is known');
  assert.deepEqual(told.at(-1), { stage: 'ended', grade: fault });
});

test('ids that a program writes into names are those that it means, unless it rounds them', async () => {
  const { fault } = await under('large-ids', careless('ids in texts'));
  assert.deepEqual([fault.verdict, fault.difference], ['survived', []]);
  const rounded = await under('large-ids', programOf('careless', 'ids in texts', 'rounded'));
  assert.equal(rounded.fault.verdict, 'changed-the-store');
  assert.match(rounded.fault.difference.join(), /^pet Of 8, 8: name Of 8, 1\d{16} instead of Of 8, 8$/);
});

test('what a program has left running is waited for', async () => {
  const { fault } = await under('delay', careless('what it leaves'));
  assert.deepEqual([fault.verdict, fault.difference], ['survived', []]);
});
