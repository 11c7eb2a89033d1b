import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { faultNames } from '../../src/lab/faults/list.ts';
import { temporaryFolder } from '../support/folder.ts';
import { commands } from '../support/service.ts';

test('grade shows its usage and its faults without a run, and says what is wrong with a call', async (t) => {
  const folder = temporaryFolder(t);
  const levels = join(folder, 'levels');
  const bad = join(folder, 'bad');
  const goal = join(folder, 'goal');
  writeFileSync(bad, 'reset: off');
  writeFileSync(goal, '{ "goal": "x", "wanted": [{ "resource": "pets", "where": { "nam": "Rex" } }] }');
  writeFileSync(levels, '# Ours.\n\nreset=required\nretry = off\n');
  const calls: [string[], number, RegExp][] = [
    [[], 2, /give the program and its arguments after --, or --list alone/],
    [['--list', '--', 'true'], 2, /--list alone/],
    [['--list', '--thorough'], 2, /'--thorough' cannot be used with option '--list'/],
    [
      ['--fault', 'lost-answer:shape=zero', '--', 'true'],
      2,
      /lost-answer takes no shape: it takes operation,/,
    ],
    [['--level', 'reset', '--', 'true'], 2, /must be one of NAME=required, NAME=recommended, NAME=off/],
    [['--level', 'x=off', '--', 'true'], 2, /no fault or check x/],
    [['--level', 'reset=off', '--fault', 'reset', '--', 'true'], 2, /names reset, but its level is off/],
    [
      ['--levels', levels, '--', 'true'],
      2,
      /there is no fault or check retry; did you mean retry-after-odd\?/,
    ],
    [['--levels', join(folder, 'none'), '--', 'true'], 2, /none cannot be read \(ENOENT\)/],
    [['--levels', bad, '--', 'true'], 2, /bad "reset: off" must be one of NAME=required,/],
    [['--compare', levels, '--', 'true'], 2, /levels is not JSON: pass a card/],
    [['--compare', join(folder, 'none'), '--', 'true'], 2, /^error: \S+none cannot be read \(ENOENT\)/],
    [['--host', '0.0.0.0', '--', 'true'], 2, /--host must be one address/],
    [['--fault', 'lost-answr', '--', 'true'], 2, /no fault lost-answr; did you mean lost-answer\?/],
    [
      ['--fault', 'reset:operation=creatPet', '--', 'true'],
      2,
      /no operation creatPet; did you mean createPet\?/,
    ],
    [
      ['--fault', 'slow:delayMs=2', '--', 'true'],
      2,
      /^error: slow takes no delayMs: it takes .*bytesPerSecond /,
    ],
    [['--fault', 'xyz', '--', 'true'], 2, /no fault xyz; "petstore grade --list" lists all faults/],
    [['--at-once', '0', '--', 'true'], 2, /an integer above 0/],
    [['--trials', '2', '--', 'true'], 2, /--trials needs --goal/],
    [['--trials', '101', '--', 'true'], 2, /must be at most 100/],
    [['--goal', bad, '--', 'true'], 2, /bad is not JSON: /],
    [['--goal', join(folder, 'none'), '--', 'true'], 2, /none cannot be read \(ENOENT\)/],
    [
      ['--goal', goal, '--', 'true'],
      2,
      /goal is not a goal: #\/wanted\/0\/where must not have "nam"; it takes id, name, /,
    ],
    [['--timeout', '0', '--', 'true'], 2, /an integer above 0/],
    [['--timeout', '86401', '--', 'true'], 2, /must be at most 86400/],
    [['--html', folder, '--', 'true'], 2, / cannot be written \(EISDIR\)/],
    [['--junit', join(folder, 'no/such.xml'), '--', 'true'], 2, /no\/such\.xml cannot be written \(ENOENT\)/],
  ];
  const shown = [['--help'], ['--list'], ['--list', '--json'], ['--list', '--fault', 'sunset', '--json']];
  const ended = await commands([...calls.map(([args]) => args), ...shown].map((args) => ['grade', ...args]));
  for (const [i, [, status, message]] of calls.entries()) {
    assert.equal(ended[i]?.status, status);
    assert.match(ended[i]?.stderr as string, message);
    assert.match(ended[i]?.stderr as string, /^error: .+ \(see --help\)\n$/);
    assert.equal(ended[i]?.stdout, '');
  }
  const [help, list, json, one] = ended.slice(calls.length).map(({ stdout }) => stdout) as [
    string,
    string,
    string,
    string,
  ];
  assert.match(
    help,
    /^Usage: petstore grade \[options\] -- COMMAND\.\.\.\n.+\nExamples:\n {2}petstore grade -- /s,
  );
  assert.match(list, /: petstore lab faults NAME\n$/);
  for (const name of faultNames)
    assert.match(list, new RegExp(`^${name} +(?:required|recommended) +[A-Z\`]`, 'm'));
  for (const line of help.split('\n')) assert.ok(line.length <= 80, line);
  const faults: { fault: string; required: boolean }[] = JSON.parse(json);
  assert.deepEqual(
    faults.map(({ fault }) => fault),
    faultNames,
  );
  assert.equal(new Set(faults.map(({ required }) => required)).size, 2);
  assert.deepEqual(JSON.parse(one).length, 1);
});
