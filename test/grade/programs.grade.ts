import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { careless, grade, programOf } from '../support/grading.ts';
import { isAlive } from '../support/programs.ts';
import { until } from '../support/until.ts';

const pidsIn = (file: string) => readFileSync(file, 'utf8').trim().split('\n').map(Number);

test('without faults the program must exit with 0 and use the store', async () => {
  for (const [command, problem] of [
    [['no-such-program'], /^no-such-program does not start \(ENOENT\)\.$/],
    [['./package.json/foo'], /^\.\/package\.json\/foo does not start \(ENOTDIR\)\.$/],
    [['x'.repeat(300)], /^x+ does not start \(ENAMETOOLONG\)\.$/],
    [[''], /^'' does not start /],
    [careless('nothing'), /No request with the key/],
    [careless('another key'), /No request with the key/],
    [careless('paths'), /None of its requests/],
    [programOf('rude', 'kills itself'), /exits with 137/],
  ] as const) {
    const { baseline, faults, verdict } = await grade(command as string[]);
    assert.match(baseline.problem ?? '', problem);
    assert.deepEqual([faults, verdict], [[], 'failed']);
  }
});

test('a program gets no input, and the last lines of its output are kept, without its key', async () => {
  const read = await grade(programOf('rude', 'reads'), { faults: [] });
  assert.deepEqual(read.baseline.lastLines, ['Read "".']);
  let characters = 0;
  const { baseline } = await grade(programOf('rude', 'writes'), {
    ...{ faults: [], onOutput: (text) => (characters += text.length) },
  });
  assert.ok(characters > 4_000_000);
  assert.equal(baseline.lastLines.length, 20);
  assert.ok(baseline.lastLines.some((line) => /^line 49\d\d\d x+$/.test(line)));
  assert.ok(baseline.lastLines.includes('the end pet_***'));
});

test('a graded program may itself be a Node.js test, because it does not see that a test grades it', async () => {
  assert.ok(process.env.NODE_TEST_CONTEXT);
  const suite = programOf('rude', 'reads').toSpliced(1, 0, '--test');
  const { baseline } = await grade(suite, { faults: [] });
  assert.ok(baseline.lastLines.includes('ℹ pass 1'), baseline.lastLines.join('\n'));
});

test('all processes in the group of a program are ended', async (t) => {
  const pidsOf = async (what: string, timeoutMs?: number) => {
    const pids = join(temporaryFolder(t), 'pids');
    const { baseline } = await grade(programOf('rude', what, pids), { faults: [], timeoutMs });
    return { baseline, pids: pidsIn(pids) };
  };
  const stayed = await pidsOf('stays', 2_500);
  assert.match(stayed.baseline.problem ?? '', /does not end within 2\.5 s\. .*--timeout/);
  const left = await pidsOf('leaves a child');
  assert.equal(left.baseline.problem, undefined);
  assert.equal(stayed.pids.length, 2);
  for (const pid of [...stayed.pids, ...left.pids]) assert.ok(!isAlive(pid), `${pid} is gone`);
});

test('grade does not wait for a process that left the group of the program', async () => {
  const beganMs = performance.now();
  await grade(programOf('rude', 'leaves a daemon'), { faults: [] });
  assert.ok(performance.now() - beganMs < 8_000);
});

test('an aborted grading ends the program, and throws the reason', async (t) => {
  const pids = join(temporaryFolder(t), 'pids');
  const reason = new Error('Ctrl-C');
  const stop = new AbortController();
  const graded = grade(programOf('rude', 'stays', pids), { signal: stop.signal });
  const rejected = assert.rejects(graded, reason);
  await until(() => existsSync(pids) && pidsIn(pids).length === 2);
  stop.abort(reason);
  await rejected;
  for (const pid of pidsIn(pids)) assert.ok(!isAlive(pid));
});
