import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/folder.ts';
import { listen } from '../support/receiver.ts';
import { command, petstore, startCommand } from '../support/service.ts';
import { atTerminal, needsTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

/** A program that adds a pet. With `tries` it sends the POST again when the connection breaks. */
const program = (tries: number) => [
  process.execPath,
  '-e',
  `const headers = { authorization: 'Bearer ' + process.env.PETSTORE_API_KEY, 'content-type': 'application/json' };
   const add = (left) => fetch(process.env.PETSTORE_BASE_URL + '/pets', { method: 'POST', headers, body: '{"name":"Smaug","categoryId":1}' })
     .catch((error) => { if (left === 0) throw error; return add(left - 1); });
   add(${tries}).then(({ status }) => console.log('status', status));`,
];

/** A program that does not use the address of the service. */
const blind = [process.execPath, '-e', 'console.log("nothing to do")'];

test('a program that sends a POST twice fails in every report format, with exit status 1', (t) => {
  const folder = temporaryFolder(t);
  const [junit, html] = [join(folder, 'card.xml'), join(folder, 'card.html')];
  writeFileSync(junit, 'an old card');
  const options = ['--json', '--fault', 'lost-answer', '--fault', 'sunset', '--junit', junit, '--html', html];
  const secrets = [`pet_${'Ab3'.repeat(12)}`, 'postgres://shop:hunter2@localhost/shop'];
  const { status, stdout, stderr } = petstore(['grade', ...options, '--', ...program(1), ...secrets]);
  assert.equal(status, 1, stderr);
  const { baseline, faults, verdict } = JSON.parse(stdout);
  assert.deepEqual(
    [verdict, baseline.exitStatus, baseline.operations],
    ['failed', 0, [{ operation: 'createPet', uses: 1 }]],
  );
  const [lost, sunset] = faults;
  assert.deepEqual([lost.fault, lost.verdict, lost.required], ['lost-answer', 'did-it-twice', true]);
  const [run] = lost.runs;
  assert.equal(run.findings[0].what, 'two pets Smaug instead of one');
  assert.equal(
    run.checks.find(({ name }: { name: string }) => name === 'idempotency.no-blind-post-retry').result,
    'failed',
  );
  assert.equal(sunset.verdict, 'not-reached');
  assert.match(
    run.again,
    /^petstore grade --fault lost-answer:operation=createPet,after=0 -- \S*node -e 'const /,
  );
  assert.match(run.again, / 'pet_\*\*\*' 'postgres:\/\/shop:\*\*\*@localhost\/shop'$/);
  assert.match(stderr, /^Without faults …\n\[1\/1\] .+\n$/);
  for (const text of [stdout, stderr, readFileSync(junit, 'utf8'), readFileSync(html, 'utf8')])
    assert.doesNotMatch(text, /Ab3|hunter2/);
  assert.match(readFileSync(junit, 'utf8'), /<failure type="did-it-twice"/);
  assert.match(
    readFileSync(html, 'utf8'),
    /^<!doctype html>.*aria-label="POST \/v1\/pets: cut off, 201 after/s,
  );
});

test('the next command is printed in the form in which the user called this one', async () => {
  for (const [env, called] of [
    [{}, 'petstore lab'],
    [{ npm_command: 'exec', npm_lifecycle_event: 'npx' }, 'npx petstore-lab lab'],
    // By npm 10, and by npm 11.
    [{ npm_command: 'run-script', npm_lifecycle_event: 'petstore' }, 'npm run -s petstore -- lab'],
    [{ npm_command: 'run', npm_lifecycle_event: 'petstore' }, 'npm run -s petstore -- lab'],
    [{ npm_command: 'test', npm_lifecycle_event: 'test' }, 'npx petstore-lab lab'],
  ] as const) {
    const { stdout } = await command(['grade', '--list'], env);
    assert.ok(stdout.endsWith(`: ${called} faults NAME\n`), called);
  }
});

test('--verbose shows the output of the program, and the exit status matches the verdict', () => {
  const retried = petstore(['grade', '--fault', 'reset', '--verbose', '--', ...program(1)]);
  assert.match(retried.stderr, /^without faults: status 201$/m);
  assert.match(retried.stderr, /^reset, first use: status 201$/m);
  // It worked this time, but the service could not know that it was the same POST.
  assert.deepEqual([retried.status, /^✓ {2}reset, first use +survived$/m.test(retried.stdout)], [1, true]);
  assert.match(retried.stdout, /^✗ {2}idempotency\.no-blind-post-retry: /m);
  const unreached = petstore(['grade', '--fault', 'sunset', '--', ...program(0)]);
  assert.equal(unreached.status, 3, unreached.stdout);
  assert.match(unreached.stdout, /^Verdict: incomplete /m);
  const passed = petstore(['grade', '--fault', 'new-fields', '--', ...program(0)]);
  assert.equal(passed.status, 0, passed.stdout);
  const idle = petstore(['grade', '--', ...blind]);
  assert.equal(idle.status, 1);
  assert.match(idle.stdout, /^Output {2}nothing to do$/m);
});

test('files of the program and the card file follow the umask of the user', (t) => {
  const [junit, made] = [join(temporaryFolder(t), 'card.xml'), join(temporaryFolder(t), 'coverage')];
  const program = ['sh', '-c', `umask > ${made}; curl -s $PETSTORE_BASE_URL/pets`];
  const by = ['sh', '-c', 'umask 027; exec "$@"', 'sh'];
  petstore(['grade', '--fault', 'sunset', '--junit', junit, '--', ...program], {}, by);
  assert.equal(readFileSync(made, 'utf8').trim(), '0027');
  assert.deepEqual(
    [made, junit].map((file) => (statSync(file).mode & 0o777).toString(8)),
    ['640', '640'],
  );
});

test('with --at-once 1, runs do not overlap', (t) => {
  const lock = join(temporaryFolder(t), 'lock');
  const curl = 'curl -sf -H "Authorization: Bearer $PETSTORE_API_KEY" $PETSTORE_BASE_URL/pets';
  const program = ['sh', '-c', `mkdir ${lock} && ${curl} && sleep 0.2 && rmdir ${lock}`];
  const faults = ['new-fields', 'large-ids', 'new-status'].flatMap((fault) => ['--fault', fault]);
  const { stdout } = petstore(['grade', '--json', '--at-once', '1', ...faults, '--', ...program]);
  const { faults: graded } = JSON.parse(stdout) as { faults: { runs: Record<string, string>[] }[] };
  const runs = graded.flatMap(({ runs }) => runs);
  assert.deepEqual(
    runs.map(({ exitStatus }) => exitStatus),
    [0, 0, 0],
  );
  for (const { again } of runs) assert.match(again as string, / --at-once 1 -- sh /);
});

test('a run can be repeated exactly, at another address, with other levels, and compared with an earlier card', (t) => {
  const folder = temporaryFolder(t);
  const [levels, card] = [join(folder, 'levels'), join(folder, 'card.json')];
  writeFileSync(levels, 'reset=required\nidempotency.no-blind-post-retry=off\n');
  const exactly = ['--fault', 'reset:operation=createPet,after=0', '--levels', levels, '--host', '127.0.0.2'];
  const shows = [process.execPath, '-e', `console.log(process.env.PETSTORE_BASE_URL); ${program(0)[2]}`];
  const first = petstore(['grade', ...exactly, '--json', '--verbose', '--', ...shows]);
  assert.equal(first.status, 1, first.stderr);
  assert.match(first.stderr, /^without faults: http:\/\/127\.0\.0\.2:\d+\/v1$/m);
  const { faults, runCount } = JSON.parse(first.stdout);
  assert.deepEqual([faults.length, faults[0].required, faults[0].verdict, runCount], [1, true, 'failed', 3]);
  const { again, checks } = faults[0].runs[0];
  assert.match(
    again,
    / --fault reset:operation=createPet,after=0 .*--level reset=required .*--host 127\.0\.0\.2 --/,
  );
  assert.ok(checks.every(({ name }: { name: string }) => name !== 'idempotency.no-blind-post-retry'));
  writeFileSync(card, first.stdout);
  const better = petstore(['grade', ...exactly, '--compare', card, '--json', '--', ...program(1)]);
  assert.deepEqual(
    JSON.parse(better.stdout).changes.better.map(({ now }: { now: string }) => now),
    ['survived'],
    better.stdout,
  );
});

test('--fail-on decides what makes the exit status 1: what must or should be fixed, or what became worse', (t) => {
  const card = join(temporaryFolder(t), 'card.json');
  const graded = (tries: number, ...options: string[]) =>
    petstore(['grade', '--fault', 'reset', '--json', ...options, '--', ...program(tries)]);
  const given = graded(0);
  writeFileSync(card, given.stdout);
  const compared = ['--compare', card, '--fail-on', 'worse'];
  assert.deepEqual(
    [given, graded(0, '--fail-on', 'should-fix'), graded(0, ...compared), graded(1, ...compared)].map(
      ({ status }) => status,
    ),
    [0, 1, 0, 1],
  );
  const alone = petstore(['grade', '--fail-on', 'worse', '--', ...program(0)]);
  assert.match(alone.stderr, /error: --fail-on worse needs --compare/);
});

test('--quick runs few faults, each at first uses, and says what it left out', () => {
  const { status, stdout, stderr } = petstore(['grade', '--quick', '--', ...program(0)]);
  assert.equal(status, 1, stderr);
  assert.match(stdout, /Quick: \d+ faults, and later uses of each operation, were not run\./);
});

test('an output file that cannot be written does not affect the other output', (t) => {
  const [out, junit] = [join(temporaryFolder(t), 'out'), join(temporaryFolder(t), 'card.xml')];
  mkdirSync(out);
  const removes = [
    ...program(0).slice(0, 2),
    `fs.rmSync('${out}', { recursive: true, force: true }); ${program(0)[2]}`,
  ];
  const files = ['--html', join(out, 'card.html'), '--junit', junit];
  const passed = petstore(['grade', '--fault', 'new-fields', ...files, '--', ...removes]);
  assert.equal(passed.status, 1, passed.stderr);
  assert.match(passed.stdout, /^Verdict: passed /m);
  assert.match(passed.stderr, /\npetstore: \S+card\.html cannot be written \(ENOENT\)\.\n$/);
  assert.match(readFileSync(junit, 'utf8'), /<testsuite /);
});

test(
  'at a terminal, a progress line is shown during the run and erased at the end',
  needsTerminal,
  async (t) => {
    const client = ['/usr/bin/env', 'sh', '-c', 'curl -s $PETSTORE_BASE_URL/pets'];
    const args = ['grade', '--fault', 'new-fields', '--', ...client];
    const { output, ended } = atTerminal(t, args, { PETSTORE_DATA_DIR: temporaryFolder(t) }, 'stty cols 80;');
    await ended;
    const states = output().split('\r\u001b[2K');
    assert.match(states[1] as string, / without faults …$/);
    assert.match(states.at(-1) as string, /^\S*Report card of /);
  },
);

test('a signal to grade also ends the program', async (t) => {
  const ready = "console.log('pid', process.pid); setTimeout(() => {}, 60_000);";
  const stays = `for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log(signal)); ${ready}`;
  for (const program of [ready, stays]) {
    const args = ['grade', '--verbose', '--', process.execPath, '-e', program];
    const { child, ended, written } = startCommand(t, args);
    await until(() => /pid \d+\n/.test(written.stderr));
    child.kill('SIGINT');
    // This soon it may count as the same signal.
    child.kill('SIGINT');
    if (program === stays) await until(() => written.stderr.includes('SIGTERM'));
    assert.deepEqual(await ended, [130, null], written.stderr);
    assert.throws(() => process.kill(Number(/pid (\d+)/.exec(written.stderr)?.[1]), 0), { code: 'ESRCH' });
  }
});

test('a signal ends grade while the service is silent, and an endless response is an error', async (t) => {
  let isAsked = false;
  const server = createServer((request, response) => {
    isAsked = true;
    if (!request.url?.startsWith('/endless')) return;
    const send = () => {
      while (response.writable && response.write('x'.repeat(65_536)));
    };
    response.on('drain', send);
    send();
  });
  const { port } = await listen(t, server);
  const at = (path: string) =>
    startCommand(t, ['grade', '--', 'true'], {
      PETSTORE_DATA_DIR: temporaryFolder(t),
      PETSTORE_BASE_URL: `http://127.0.0.1:${port}${path}/v1`,
    });
  const silent = at('');
  await until(() => isAsked);
  silent.child.kill('SIGTERM');
  assert.deepEqual(await silent.ended, [143, null], silent.written.stderr);
  const endless = at('/endless');
  assert.deepEqual(await endless.ended, [1, null]);
  assert.match(endless.written.stderr, /longer than \d+ bytes/);
});

test('a second signal ends a command at once while it waits for its storage', async (t) => {
  const database = createTcpServer();
  const connected = once(database, 'connection');
  const service = await listen(
    t,
    createServer((_, response) => response.end('{}')),
  );
  const { child, ended } = startCommand(t, ['grade', '--', 'true'], {
    PETSTORE_BASE_URL: `http://127.0.0.1:${service.port}/v1`,
    DATABASE_URL: `postgres://shop@127.0.0.1:${(await listen(t, database)).port}/shop`,
  });
  await connected;
  child.kill('SIGINT');
  await sleep(600);
  assert.equal(child.exitCode, null);
  child.kill('SIGINT');
  assert.deepEqual(await ended, [130, null]);
});

test('help is wrapped to the terminal, except commands', needsTerminal, async (t) => {
  const terminal = atTerminal(t, ['grade', '--help'], {}, 'stty cols 60;');
  assert.equal(await terminal.ended, 0);
  const lines = terminal.output().split(/\r?\n/);
  for (const line of lines.filter((line) => !/^ {2}(?:petstore|-|--)/.test(line.replace(/^ {4}-/, '  -'))))
    assert.ok(line.length <= 60, line);
  assert.ok(lines.some((line) => line.startsWith('COMMAND runs twice') && line.length > 40));
});
