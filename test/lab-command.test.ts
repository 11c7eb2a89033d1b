import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toCatalogue } from '../src/lab/rehearsals/catalogue.ts';
import { operations } from '../src/operations.ts';
import { freePort } from './support/port.ts';
import { bin, environment, petstore, petstoreInTurn, startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';
import { until } from './support/until.ts';

/** A service, and the settings by which commands find it. */
async function startBeside(t: TestContext, env: Record<string, string> = {}) {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, env);
  return { service, env: { PETSTORE_DATA_DIR: folder, PETSTORE_BASE_URL: `${service.origin}/v1` } };
}

/** A client in JavaScript: what it does, given `pets`, which asks for pets and returns the answer. */
const client = (body: string) => [
  process.execPath,
  '-e',
  `const headers = { authorization: 'Bearer ' + process.env.PETSTORE_API_KEY };
   const pets = () => fetch(process.env.PETSTORE_BASE_URL + '/pets', { headers });
   (async () => { ${body} })();`,
];

const careless = client('for (let i = 0; i < 3; i++) console.log((await pets()).status);');
const careful = client(
  `const { status, headers } = await pets();
   setTimeout(async () => console.log(status, (await pets()).status), 1000 * headers.get('retry-after') + 100);`,
);

test('all faults are listed without a service: as a table, and as JSON with all that is known of them', () => {
  const [table, json] = petstoreInTurn([
    ['lab', 'faults'],
    ['lab', 'faults', '--json'],
  ]);
  const catalogue = toCatalogue(operations);
  assert.deepEqual(JSON.parse(json?.stdout as string), catalogue);
  const lines = table?.stdout.split('\n') ?? [];
  for (const { name, parameters } of catalogue) {
    const line = lines.find((line) => line.startsWith(`${name} `)) ?? '';
    for (const parameter of parameters)
      assert.ok(line.includes(`${parameter.name}=${parameter.default}`), line);
  }
  assert.ok(lines.every((line) => line.length <= 100));
});

test('the lab of a running service is used on the command line', async (t) => {
  const { service, env } = await startBeside(t);
  const key = readFileSync(join(env.PETSTORE_DATA_DIR, 'demo.key'), 'utf8').trim();

  await t.test('a command that fails says why', async () => {
    const away = `http://127.0.0.1:${await freePort()}/v1`;
    const other = `pet_${'x'.repeat(36)}`;
    const failing: [string[], RegExp][] = [
      [['account', '--url', away], /cannot be reached \(ECONNREFUSED\)\. Is the service running\?/],
      [['rehearse', '--show', '--key', other], /API key.* has other keys/],
      [['rehearse', '--show'], /This key has no rehearsal/],
      [['rehearse', 'rate-limited:delayMs=1'], /delayMs is not a parameter of rate-limited/],
      [['record', '--', './no-such-program'], /\.\/no-such-program does not start \(ENOENT\)/],
    ];
    assertFails(failing, env);
  });

  await t.test('a rehearsal is begun, shown and ended on the command line', async () => {
    const fault = 'rate-limited:operation=listPets,times=2,retryAfterSeconds=7';
    const begun = petstore(['lab', 'rehearse', fault, 'sunset', '--expires', '60', '--json'], env);
    const rehearsal = JSON.parse(begun.stdout);
    assert.deepEqual(rehearsal.faults, [
      {
        fault: 'rate-limited',
        operation: 'listPets',
        times: 2,
        retryAfterSeconds: 7,
        performed: 0,
        remaining: 2,
      },
      { fault: 'sunset', performed: 0 },
    ]);
    assert.equal(Date.parse(rehearsal.expiresAt) - Date.parse(rehearsal.createdAt), 60_000);
    const get = () => fetch(`${service.origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    const refused = await get();
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '7']);
    const [shown, ended, afterwards] = petstoreInTurn(
      [['--show'], ['--end'], ['--show']].map((args) => ['lab', 'rehearse', ...args]),
      env,
    );
    assert.match(shown?.stdout as string, new RegExp(`^Rehearsal ${rehearsal.id} is active until `));
    assert.match(shown?.stdout as string, /^rate-limited +listPets +times=2 retryAfterSeconds=7 +1 +1$/m);
    for (const answer of [ended, afterwards]) assert.match(answer?.stdout as string, /ended at/);
    assert.equal((await get()).status, 200);
  });

  await t.test('a client that does not wait is told so, with exit status 1, and as JUnit', async () => {
    petstore(['lab', 'rehearse', 'rate-limited'], env);
    const junit = join(env.PETSTORE_DATA_DIR, 'report.xml');
    const { status, stdout, stderr } = petstore(['lab', 'record', '--junit', junit, '--', ...careless], env);
    assert.equal(status, 1);
    assert.match(stdout, /^429\n429\n429\n\nFAILED +retry-after\.obeyed +required /);
    assert.match(stdout, /\nVerdict: failed\n$/);
    assert.match(stderr, / ended with 0\.\n$/);
    assert.match(readFileSync(junit, 'utf8'), /<testsuites?[\s\S]*<failure/);
    assert.ok(!(stdout + stderr).includes(key));
  });

  await t.test(
    'a client that waits passes, and standard output is the report alone if it is asked for as data',
    async () => {
      petstore(['lab', 'rehearse', 'rate-limited'], env);
      const { status, stdout, stderr } = petstore(['lab', 'record', '--json', '--', ...careful], env);
      assert.equal(status, 0, stderr);
      const { verdict, checks } = JSON.parse(stdout);
      const result = (name: string) => checks.find((check: { name: string }) => check.name === name).result;
      assert.deepEqual(
        [verdict, result('retry-after.obeyed'), result('ban.stops')],
        ['passed', 'passed', 'not_observed'],
      );
      assert.match(stderr, /^429 200\n/);
      const failing = petstore(['lab', 'record', '--markdown', '--', 'sh', '-c', 'exit 3'], env);
      assert.equal(failing.status, 3, 'the status of a client that nothing is held against');
      assert.match(failing.stdout, /^# Report card: incomplete\n/);
    },
  );

  await t.test('without a command the key is recorded until Ctrl-C', async () => {
    const child = spawn(process.execPath, [bin, 'lab', 'record', '--name', 'by hand'], {
      env: environment(env),
    });
    t.after(() => child.kill('SIGKILL'));
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk) => (output[stream] += chunk));
    await until(() => /Ctrl-C ends it/.test(output.stderr));
    await fetch(`${service.origin}/v1/pets/1`, { headers: { authorization: `Bearer ${key}` } });
    const ended = once(child, 'close');
    // A terminal tells the whole group, and an older Node.js passes it on once more.
    child.kill('SIGINT');
    child.kill('SIGINT');
    assert.deepEqual(await ended, [0, null], output.stderr);
    assert.match(output.stdout, /^FAILED +deprecated\.not-called +recommended /m);
    assert.match(output.stdout, /Verdict: incomplete\n$/);
  });

  await t.test('the account tells how the key stands', async () => {
    const { stdout } = petstore(['lab', 'account'], env);
    assert.match(stdout, /^plan +free$/m);
    assert.match(stdout, /^workspace +demo$/m);
  });
});

test('a command says that a service has no lab', async (t) => {
  const { service, env } = await startBeside(t, { PETSTORE_LAB: 'off' });
  const message = new RegExp(`no lab at ${service.origin}/lab.* PETSTORE_LAB=on`);
  assertFails(
    [
      [['rehearse', 'sunset'], message],
      [['record', '--', 'true'], message],
    ],
    env,
  );
});

/** Commands of the lab end with 1 after one line. */
function assertFails(failing: [string[], RegExp][], env: Record<string, string>): void {
  const calls = failing.map(([args]) => ['lab', ...args]);
  for (const [i, { status, stderr, stdout }] of petstoreInTurn(calls, env).entries()) {
    assert.equal(status, 1, stderr);
    assert.match(stderr, failing[i]?.[1] as RegExp);
    assert.match(stderr, /^petstore: .+\n$/);
    assert.equal(stdout, '');
  }
}

test('a wrong call of a command of the lab exits with 2, and each tells its use', () => {
  const wrong = [
    [],
    ['reset:'],
    ['reset:times'],
    ['--show', 'reset'],
    ['--show', '--end'],
    ['x', '--expires', '0'],
  ];
  for (const { status, stderr } of petstoreInTurn(wrong.map((args) => ['lab', 'rehearse', ...args]))) {
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^error: .+\n$/);
  }
  const commands = [[], ['faults'], ['rehearse'], ['record'], ['account']].map((command) => [
    'lab',
    ...command,
  ]);
  for (const { args, status, stdout } of petstoreInTurn(commands.map((command) => [...command, '--help']))) {
    assert.equal(status, 0);
    assert.ok(stdout.startsWith(`Usage: petstore ${args.slice(0, -1).join(' ')}`), stdout);
    assert.ok(stdout.split('\n').every((line) => line.length <= 120));
  }
});
