import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { petstoreApi } from '../../src/lab/petstore/petstore-api.ts';
import { faultCatalogue } from '../../src/lab/rehearsals/catalogue.ts';
import { freePort } from '../support/port.ts';
import { command, commands, petstore, startCommand, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';
import { until } from '../support/until.ts';

/** A service, and the settings for commands to find it. */
async function startBeside(t: TestContext, env: Record<string, string> = {}) {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, env);
  return { service, env: { PETSTORE_DATA_DIR: folder, PETSTORE_BASE_URL: `${service.origin}/v1` } };
}

/** A client in JavaScript. Its code can use `pets`, which requests pets and returns the response. */
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
   setTimeout(async () => console.log(status, (await pets()).status), 1000 * headers.get('retry-after') + 100);
   process.exitCode = 7;`,
);

test('all faults are listed without a service: as a table, and as JSON with all details', async () => {
  const [table, json] = await commands([
    ['lab', 'faults'],
    ['lab', 'faults', '--json'],
  ]);
  const catalogue = faultCatalogue(petstoreApi);
  assert.deepEqual(JSON.parse(json?.stdout as string), catalogue);
  const lines = table?.stdout.split('\n') ?? [];
  for (const { name, kind, parameters } of catalogue) {
    const line = lines.find((line) => line.startsWith(`${name} `)) ?? '';
    assert.match(line, new RegExp(` ${kind} +(?:all|\\d+ of \\d+) `));
    for (const { name, values, default: usual } of parameters)
      assert.ok(line.includes(`${name}=${values?.[0] ?? usual}`), line);
  }
  assert.ok(lines.every((line) => line.length <= 100));
});

test('a fault is described by its name, and a similar name gets a suggestion', async () => {
  const [one, json, near, odd] = await commands([
    ['lab', 'faults', 'lost-answer'],
    ['lab', 'faults', 'lost-answer', '--json'],
    ['lab', 'rehearse', 'rate-limit'],
    ['lab', 'faults', 'retry-after-odd'],
  ]);
  const fault = faultCatalogue(petstoreApi).find(({ name }) => name === 'lost-answer');
  assert.deepEqual(JSON.parse(json?.stdout as string), fault);
  const helpText = one?.stdout.replaceAll(/\s+/g, ' ') as string;
  for (const text of [fault?.does, fault?.goodClient, fault?.bites, fault?.operations.join(' ')])
    assert.ok(helpText.includes(text as string), helpText);
  assert.match(helpText, / step: .* idempotency\.same-key-on-retry /);
  const helpTextOfOdd = odd?.stdout.replaceAll(/\s+/g, ' ') as string;
  assert.match(
    helpTextOfOdd,
    / One of none, zero, past, malformed, ten-days, thirty-days, none if absent\. /,
  );
  assert.match(helpTextOfOdd, /retry-after-odd:operation=\w+,shape=none/);
  assert.equal(near?.status, 2);
  assert.match(near?.stderr as string, /no fault rate-limit; did you mean rate-limited\?/);
});

test('commands use the lab of a running service', async (t) => {
  const { service, env } = await startBeside(t);
  const key = readFileSync(join(env.PETSTORE_DATA_DIR, 'demo.key'), 'utf8').trim();

  await t.test('a failed command says why', async () => {
    const away = `http://127.0.0.1:${await freePort()}/v1`;
    const other = `pet_${'x'.repeat(36)}`;
    const failing: [string[], RegExp][] = [
      [
        ['account', '--url', away],
        /cannot be reached \(ECONNREFUSED\)\. Is the service running\? --url sets its address\./,
      ],
      [['rehearse', '--show', '--key', other], /API key.* is not a key of the service/],
      [['rehearse', '--show'], /This key has no rehearsal/],
      [['record', '--', './no-such-program'], /\.\/no-such-program does not start \(ENOENT\)/],
    ];
    await assertFails(failing, env);
  });

  await t.test('a rehearsal is started, shown and ended on the command line', async () => {
    const fault = 'rate-limited:operation=listPets,times=2,retryAfterSeconds=7';
    const odd = 'retry-after-odd:operation=getPet,shape=ten-days';
    const begun = await command(['lab', 'rehearse', fault, odd, 'sunset', '--expires', '60', '--json'], env);
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
      {
        fault: 'retry-after-odd',
        operation: 'getPet',
        times: 1,
        shape: 'ten-days',
        performed: 0,
        remaining: 1,
      },
      { fault: 'sunset', performed: 0 },
    ]);
    assert.equal(Date.parse(rehearsal.expiresAt) - Date.parse(rehearsal.createdAt), 60_000);
    const get = () => fetch(`${service.origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    const refused = await get();
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '7']);
    const [shown, ended, afterwards] = await commands(
      [['--show'], ['--end'], ['--show']].map((args) => ['lab', 'rehearse', ...args]),
      env,
    );
    assert.match(shown?.stdout as string, new RegExp(`^Rehearsal ${rehearsal.id} is active until `));
    assert.match(shown?.stdout as string, /^rate-limited +listPets +times=2 retryAfterSeconds=7 +1 +1$/m);
    assert.match(shown?.stdout as string, /^retry-after-odd +getPet +times=1 shape=ten-days +0 +1$/m);
    for (const answer of [ended, afterwards]) assert.match(answer?.stdout as string, /ended at/);
    assert.equal((await get()).status, 200);
  });

  await t.test('a client that does not wait fails with exit status 1, also in the JUnit report', async () => {
    await command(['lab', 'rehearse', 'rate-limited'], env);
    const junit = join(env.PETSTORE_DATA_DIR, 'report.xml');
    const { status, stdout, stderr } = petstore(['lab', 'record', '--junit', junit, '--', ...careless], env);
    assert.equal(status, 1);
    assert.match(stdout, /^429\n429\n429\n\nFAILED +retry-after\.obeyed +required /);
    assert.match(stdout, / Requests 1, (?:2, )?3\.\n/);
    assert.match(stdout, /^ {2}3 {2}[\d:.]+Z {2}GET {2}429 {2}after \d+ ms +rate-limited {2}\/v1\/pets$/m);
    assert.match(stdout, /^rate-limited +every one +1 +\d+\n\nVerdict: failed\n\nRecording rec_/m);
    const [at = ''] = /http.*\/requests$/m.exec(stdout) ?? [];
    const kept = await fetch(at as string, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(((await kept.json()) as object[]).length, 3);
    assert.match(stderr, / ended with 0\.\n$/);
    assert.match(readFileSync(junit, 'utf8'), /<testsuites?[\s\S]*<failure/);
    assert.ok(!(stdout + stderr).includes(key));
  });

  await t.test(
    'a client that waits passes, and with --json or --markdown standard output is only the report',
    async () => {
      await command(['lab', 'rehearse', 'rate-limited'], env);
      const { status, stdout, stderr } = petstore(['lab', 'record', '--json', '--', ...careful], env);
      assert.equal(status, 7, 'the status of a client that nothing is held against');
      const { verdict, checks } = JSON.parse(stdout);
      const result = (name: string) => checks.find((check: { name: string }) => check.name === name).result;
      assert.deepEqual(
        [verdict, result('retry-after.obeyed'), result('ban.stops')],
        ['passed', 'passed', 'not_observed'],
      );
      assert.match(stderr, /^429 200\n/);
      const idle = petstore(['lab', 'record', '--markdown', '--', 'true'], env);
      assert.equal(idle.status, 3, 'nothing was observed');
      assert.match(idle.stdout, /^# Report card: incomplete\n/);
      assert.match(idle.stderr, /\nNo fault was performed\. Never performed: rate-limited\.\n/);
    },
  );

  await t.test(
    'a client that meets none of its faults is incomplete, whatever checks it passes',
    async () => {
      await command(
        ['lab', 'rehearse', 'reset:operation=placeOrder', 'internal-error:operation=listPets'],
        env,
      );
      const ask = `for (const limit of [0, 1])
      await fetch(process.env.PETSTORE_BASE_URL + '/categories?limit=' + limit, { headers });`;
      const asks = client(ask);
      const meets = client(`await pets(); ${ask}`);
      const [missed, partly, again] = await commands(
        [asks, meets, asks].map((command) => ['lab', 'record', '--', ...command]),
        env,
      );
      const nothing = /^reset +placeOrder +0 +1$[\s\S]+\nNo fault was performed\. .*\nVerdict: incomplete\n/m;
      assert.match(missed?.stdout as string, /PASSED +retry\.only-when-useful/);
      assert.match(missed?.stdout as string, nothing);
      assert.equal(missed?.status, 3);
      assert.match(partly?.stdout as string, /\nNever performed: reset on placeOrder\.\nVerdict: passed\n/);
      assert.equal(partly?.status, 0, partly?.stderr as string);
      assert.match(again?.stdout as string, nothing, 'what was performed before does not count');
    },
  );

  await t.test('a recording that somebody else ended is reported as incomplete', async () => {
    const replace = client(
      `await fetch('${service.origin}/lab/recordings', {
         method: 'POST', body: '{}', headers: { ...headers, 'content-type': 'application/json' } });`,
    );
    const remove = client(
      `const url = '${service.origin}/lab/recordings';
       const [{ id }] = await (await fetch(url, { headers })).json();
       await fetch(url + '/' + id, { method: 'DELETE', headers });`,
    );
    const [replaced, removed] = await commands(
      [replace, remove].map((command) => ['lab', 'record', '--', ...command]),
      env,
    );
    assert.match(
      replaced?.stderr as string,
      /ended before the client did, at .*: another recording of the key started\./,
    );
    assert.equal(removed?.status, 1);
    assert.match(removed?.stderr as string, /petstore: This key has no recording with this recordingId\./);
  });

  await t.test('a signal is forwarded to the client, and the card is still printed', async () => {
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
      const waits = [process.execPath, '-e', 'console.log(process.pid); setTimeout(() => {}, 60_000);'];
      const { child, ended, written } = startCommand(t, ['lab', 'record', '--', ...waits], env);
      await until(() => /^\d+\n/.test(written.stdout));
      child.kill(signal);
      assert.deepEqual(await ended, [3, null], signal);
      assert.match(written.stdout, /\nVerdict: incomplete\n/);
      assert.throws(() => process.kill(Number.parseInt(written.stdout, 10), 0), { code: 'ESRCH' });
      const headers = { authorization: `Bearer ${key}` };
      const account = (await (await fetch(`${service.origin}/lab/account`, { headers })).json()) as object;
      assert.ok(!('recording' in account));
    }
  });

  await t.test('without a command the key is recorded until Ctrl-C', async () => {
    const { child, ended, written } = startCommand(t, ['lab', 'record', '--name', 'by hand'], env);
    await until(() => /Ctrl-C ends it/.test(written.stderr));
    await fetch(`${service.origin}/v1/pets/1`, { headers: { authorization: `Bearer ${key}` } });
    // A terminal signals the whole group, and an older Node.js passes the signal on once more.
    child.kill('SIGINT');
    child.kill('SIGINT');
    assert.deepEqual(await ended, [3, null], written.stderr);
    assert.match(written.stdout, /^FAILED +deprecated\.not-called +recommended /m);
    assert.match(written.stdout, /\nVerdict: incomplete\n/);
  });

  await t.test('the account command shows the state of the key', async () => {
    const { stdout } = await command(['lab', 'account'], env);
    assert.match(stdout, /^plan +free$/m);
    assert.match(stdout, /^workspace +demo$/m);
    assert.match(stdout, /^sharing +off$/m);
    assert.match(stdout, /^minute\.reset +\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/m);
  });
});

test('a command reports that a service has no lab', async (t) => {
  const { service, env } = await startBeside(t, { PETSTORE_LAB: 'off' });
  const message = new RegExp(`no lab at ${service.origin}/lab.* PETSTORE_LAB=on`);
  await assertFails(
    [
      [['rehearse', 'sunset'], message],
      [['record', '--', 'true'], message],
    ],
    env,
  );
});

/** Commands of the lab that exit with 1 after one line. */
async function assertFails(failing: [string[], RegExp][], env: Record<string, string>): Promise<void> {
  const calls = failing.map(([args]) => ['lab', ...args]);
  for (const [i, { status, stderr, stdout }] of (await commands(calls, env)).entries()) {
    assert.equal(status, 1, stderr);
    assert.match(stderr, failing[i]?.[1] as RegExp);
    assert.match(stderr, /^petstore: .+\n$/);
    assert.equal(stdout, '');
  }
}

test('a wrong call of a lab command exits with 2', async () => {
  const calls = [
    '',
    'reset:',
    'reset:times',
    '--show reset',
    '--show --end',
    'x --expires 0',
    'rate-limited:delayMs=1',
  ];
  const wrong = calls.map((call) => call.split(' ').filter(Boolean));
  for (const { status, stderr } of await commands(wrong.map((args) => ['lab', 'rehearse', ...args]))) {
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^error: .+\n$/);
  }
});
