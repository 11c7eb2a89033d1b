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
  const calls: [args: string[], message: RegExp][] = [
    [['--fault', 'lost-answer:shape=zero'], /lost-answer takes no shape: it takes operation,/],
    [['--level', 'reset'], /must be one of NAME=required, NAME=recommended, NAME=off/],
    [['--level', 'x=off'], /no fault or check x/],
    [['--level', 'reset=off', '--fault', 'reset'], /names reset, but its level is off/],
    [['--levels', levels], /there is no fault or check retry; did you mean retry-after-odd\?/],
    [['--levels', join(folder, 'none')], /none cannot be read \(ENOENT\)/],
    [['--levels', bad], /bad "reset: off" must be one of NAME=required,/],
    [['--compare', levels], /levels is not JSON: pass a card/],
    [['--compare', join(folder, 'none')], /^error: \S+none cannot be read \(ENOENT\)/],
    [['--host', '0.0.0.0'], /--host must be one address/],
    [['--fault', 'lost-answr'], /no fault lost-answr; did you mean lost-answer\?/],
    [['--fault', 'reset:operation=creatPet'], /no operation creatPet; did you mean createPet\?/],
    [['--fault', 'slow:delayMs=2'], /^error: slow takes no delayMs: it takes .*bytesPerSecond /],
    [['--fault', 'xyz'], /no fault xyz; "petstore grade --list" lists all faults/],
    [['--at-once', '0'], /an integer above 0/],
    [['--trials', '2'], /--trials needs --goal/],
    [['--trials', '101'], /must be at most 100/],
    [['--goal', bad], /bad is not JSON: /],
    [['--goal', join(folder, 'none')], /none cannot be read \(ENOENT\)/],
    [['--goal', goal], /goal is not a goal: #\/wanted\/0\/where must not have "nam"; it takes id, name, /],
    [['--timeout', '0'], /an integer above 0/],
    [['--timeout', '86401'], /must be at most 86400/],
    [['--html', folder], / cannot be written \(EISDIR\)/],
    [['--junit', join(folder, 'no/such.xml')], /no\/such\.xml cannot be written \(ENOENT\)/],
    [['--list'], /--list alone/],
  ];
  const wrong: typeof calls = [
    ...calls.map(([args, message]): (typeof calls)[number] => [[...args, '--', 'true'], message]),
    [[], /give the program and its arguments after --, or --list alone/],
    [['--list', '--thorough'], /'--thorough' cannot be used with option '--list'/],
  ];
  const shown = [['--help'], ['--list'], ['--list', '--json'], ['--list', '--fault', 'sunset', '--json']];
  const ended = await commands([...wrong.map(([args]) => args), ...shown].map((args) => ['grade', ...args]));
  for (const [i, [, message]] of wrong.entries()) {
    const { status, stdout, stderr } = ended[i] as (typeof ended)[number];
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, message);
    assert.match(stderr, /^error: .+ \(see --help\)\n$/);
  }
  const [help = '', list = '', json = '', one = ''] = ended.slice(wrong.length).map(({ stdout }) => stdout);
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
