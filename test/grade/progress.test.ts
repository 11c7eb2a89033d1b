import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GradeProgress } from '../../src/grade/grade.ts';
import { progressOn, type Screen } from '../../src/grade/progress.ts';
import { carelessGrade, carelessRun } from './grades.ts';

const steps: GradeProgress[] = [
  { stage: 'baseline' },
  { stage: 'faults', runs: ['reset, middle use', 'delay, first use'], baseline: carelessGrade.baseline },
  { stage: 'begun', run: 'reset, middle use' },
  { stage: 'begun', run: 'delay, first use' },
  { stage: 'ended', fault: 'delay', required: true, run: carelessRun('delay') },
];

/** The text that a screen gets. */
function shownOn(screen: Pick<Screen, 'isTTY' | 'columns'>, { isVerbose = false } = {}): string {
  let shown = '';
  const reporter = progressOn({ ...screen, write: (text) => (shown += text) }, { isVerbose });
  for (const step of steps) reporter.report(step);
  reporter.showOutput('one\r\ntw', 'reset, middle use');
  reporter.showOutput('o \u001b[2J', 'reset, middle use');
  reporter.end();
  return shown;
}

test('progress is one changing line on a terminal, and a line for each run elsewhere', () => {
  const plain = shownOn({});
  assert.match(
    plain,
    /^Without faults …\n\[1\/2\] ✗ {2}delay, first use +hung +did not end within 10 s; did not give up\n$/,
  );
  const printed = 'reset, middle use: one\nreset, middle use: two \\u001b[2J\n';
  assert.equal(shownOn({ isTTY: true }, { isVerbose: true }), plain + printed);
  const states = shownOn({ isTTY: true, columns: 57 }).split('\r\u001b[2K');
  assert.deepEqual([states.length, states.at(-1)], [7, '']);
  assert.match(states[4] as string, / 0 of 2 {2}reset, middle use · de$/);
  assert.match(states[5] as string, / 1 of 2 {2}reset, middle use$/);
  for (const state of states) assert.ok(!state.includes('\n'));
});

test('an endless line is truncated', () => {
  let shown = '';
  const reporter = progressOn({ write: (text) => (shown += text) }, { isVerbose: true });
  const key = `pet_${'Ab3'.repeat(12)}`;
  reporter.showOutput(`${'x'.repeat(65_520)} ${key}`, 'reset');
  for (let left = 1_000; left > 0; left--) reporter.showOutput('y'.repeat(65_536), 'reset');
  reporter.showOutput('\nnext\nlast', 'reset');
  reporter.end();
  assert.match(shown, /^reset: x{65520} …\nreset: next\nreset: last\n$/);
});
