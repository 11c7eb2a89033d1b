import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fetchChecked } from './support/petstore.ts';
import { freePort } from './support/port.ts';
import { ampleKey, petstore, petstoreInTurn, startService } from './support/service.ts';
import { openTestStorage, temporaryStorage } from './support/storage.ts';
import { until } from './support/until.ts';

/** Less than the ten seconds that a stop gives to requests; the rest is for busy machines. */
const stopsWithinMs = 8_000;

const keyFile = (folder: string) => join(folder, 'demo.key');

test('the demonstration starts on an empty folder and prints what can be pasted: a curl line and the reference', async (t) => {
  const folder = join(await temporaryStorage(t), 'data');
  const service = await startService(t, folder);
  const key = readFileSync(keyFile(folder), 'utf8').trim();
  assert.equal(statSync(keyFile(folder)).mode & 0o777, 0o600);
  const origin = service.origin.replace('127.0.0.1', 'localhost');
  assert.match(service.output(), new RegExp(`API +${origin}/v1\n`));
  assert.ok(service.output().includes(`\n  ${origin}/reference#key=${key}\n`));
  // Quoted, because zsh and fish take a bare question mark for a pattern.
  const [, sent, url] = /curl -H "Authorization: Bearer (\S+)" "(\S+)"\n/.exec(service.output()) ?? [];
  assert.equal(sent, key);
  const answer = await fetch(url as string, { headers: { authorization: `Bearer ${sent}` } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('deprecation'), null);
  const pets = (await answer.json()) as unknown[];
  assert.deepEqual(pets[0], { id: 1, name: 'Bella', categoryId: 1, status: 'available' });
});

test('a later start finds what was there and prints the same key; a lost key is replaced', async (t) => {
  const folder = await temporaryStorage(t);
  const first = await startService(t, folder);
  const key = readFileSync(keyFile(folder), 'utf8').trim();
  await fetchChecked(first.origin, 'POST', '/categories', { key, body: { name: 'Dragons' } });
  await first.stop('SIGTERM');
  const second = await startService(t, folder);
  assert.ok(second.output().includes(key));
  assert.equal((await fetchChecked(second.origin, 'GET', '/categories/8', { key })).body.name, 'Dragons');
  await second.stop('SIGTERM');
  rmSync(keyFile(folder));
  const third = await startService(t, folder);
  const replaced = readFileSync(keyFile(folder), 'utf8').trim();
  assert.notEqual(replaced, key);
  assert.equal((await fetchChecked(third.origin, 'GET', '/pets/1', { key: replaced })).status, 200);
});

test('without the demonstration nothing is seeded, no key is made, and only JSON is printed', async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder, { PETSTORE_DEMO: 'off' });
  assert.throws(() => statSync(keyFile(folder)));
  assert.deepEqual(
    JSON.parse(petstore(['workspaces', 'list', '--json'], { PETSTORE_DATA_DIR: folder }).stdout),
    [],
  );
  await service.stop('SIGTERM');
  const lines = service.output().trim().split('\n');
  assert.ok(lines.length >= 3);
  for (const line of lines) assert.equal(JSON.parse(line).level, 'info');
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} lets requests in flight finish and ends with 0`, async (t) => {
    const folder = await temporaryStorage(t);
    const service = await startService(t, folder, { LOG_LEVEL: 'warn' });
    const key = ampleKey(folder);
    const inFlight = Array.from({ length: 50 }, (_, i) =>
      fetchChecked(service.origin, 'POST', '/categories', { key, body: { name: `Dragons ${i}` } }).catch(
        (error: Error) => error,
      ),
    );
    await Promise.race(inFlight);
    const ended = await service.stop(signal);
    assert.deepEqual(ended, { code: 0, signal: null });
    const answered = (await Promise.all(inFlight)).filter((answer) => !(answer instanceof Error));
    const again = await startService(t, folder, { LOG_LEVEL: 'warn' });
    for (const { status, body } of answered as { status: number; body: { id: number } }[]) {
      assert.equal(status, 201);
      assert.equal((await fetchChecked(again.origin, 'GET', `/categories/${body.id}`, { key })).status, 200);
    }
  });
}

test('a connection that is kept alive does not delay the stop', async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder);
  const { port } = new URL(service.origin);
  const body = '{"name":"Dragons"}';
  const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
  const head = `POST /v1/categories HTTP/1.1\r\nHost: x\r\nX-API-Key: ${ampleKey(folder)}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 /);
  const stopped = service.stop('SIGTERM');
  await until(() => service.output().includes('stopping on SIGTERM'));
  socket.write(body);
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 201/);
  const answeredMs = performance.now();
  assert.deepEqual(await stopped, { code: 0, signal: null });
  assert.ok(performance.now() - answeredMs < stopsWithinMs);
});

for (const [whom, signal, script, isTold] of [
  ['its shell', 'SIGTERM', '"$0" "$1" serve; true', true],
  [
    'npm itself, killed',
    'SIGKILL',
    'sh -c \'"$0" "$1" serve; true\' "$0" "$1"; true',
    process.platform === 'linux',
  ],
] as const) {
  test(`the service that npm runs in a shell ends with ${whom}`, {
    timeout: 60_000,
    skip: !isTold && 'it is about Linux',
  }, async (t) => {
    const port = await freePort();
    const env = {
      ...process.env,
      PORT: String(port),
      PETSTORE_DATA_DIR: await temporaryStorage(t),
      npm_lifecycle_event: 'start',
    };
    const bin = fileURLToPath(new URL('../bin/petstore.js', import.meta.url));
    const shell = spawn('sh', ['-c', script, process.execPath, bin], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(shell.stdout, 'close');
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isReady())) await sleep(50);
    shell.stdout.resume();
    shell.kill(signal);
    await ended;
    assert.equal(await isReady(), false);
  });
}

test('a reader that has seen enough ends a command quietly', () => {
  const bin = fileURLToPath(new URL('../bin/petstore.js', import.meta.url));
  const { stdout, stderr } = spawnSync('sh', ['-c', `"${process.execPath}" "${bin}" openapi | head -n 1`], {
    encoding: 'utf8',
  });
  assert.equal(stdout, '{\n');
  assert.equal(stderr, '');
});

test('a running server sees a new key, and the end of one, within a second', async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder);
  const env = { PETSTORE_DATA_DIR: folder };
  const created = JSON.parse(
    petstore(['keys', 'create', '--plan', 'pro', '--name', 'tests', '--json'], env).stdout,
  );
  assert.deepEqual(Object.keys(created), ['id', 'key', 'plan', 'workspace', 'perMinute', 'perDay', 'label']);
  const status = async () =>
    (await fetchChecked(service.origin, 'GET', '/pets/1', { key: created.key })).status;
  assert.equal(await status(), 200);
  assert.equal(petstore(['keys', 'revoke', created.id], env).status, 0);
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.equal(await status(), 401);
  const shown = JSON.parse(petstore(['keys', 'show', created.id, '--json'], env).stdout);
  assert.ok(shown.revokedAt);
  assert.ok(!JSON.stringify(shown).includes(created.key));
});

test('keys are created, listed, shown and re-planned', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  petstore(['workspaces', 'create', 'shop'], env);
  const create = (...args: string[]) =>
    JSON.parse(petstore(['keys', 'create', '--workspace', 'shop', '--json', ...args], env).stdout);
  const free = create('--plan', 'free');
  assert.match(free.key, /^pet_[0-9A-Za-z]{36}$/);
  assert.deepEqual([free.plan, free.workspace, free.perMinute, free.perDay], ['free', 'shop', 60, 1000]);
  const own = create('--plan', 'enterprise', '--per-minute', '7', '--per-day', '70');
  assert.deepEqual([own.perMinute, own.perDay], [7, 70]);
  assert.equal(petstore(['keys', 'plan', free.id, 'business'], env).status, 0);
  const list = JSON.parse(petstore(['keys', 'list', '--json'], env).stdout);
  assert.deepEqual(
    list.map(({ plan, perMinute }: { plan: string; perMinute: number }) => [plan, perMinute]),
    [
      ['business', 1000],
      ['enterprise', 7],
    ],
  );
  assert.match(petstore(['keys', 'list'], env).stdout, new RegExp(`${free.id}.*shop.*business`));
  assert.match(petstore(['keys', 'show', own.id], env).stdout, /perMinute +7/);
});

test('workspaces are created, listed, reset and deleted', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const list = () => JSON.parse(petstore(['workspaces', 'list', '--json'], env).stdout);
  assert.equal(
    JSON.parse(petstore(['workspaces', 'create', 'shop', '--seed', '--json'], env).stdout).name,
    'shop',
  );
  petstore(['workspaces', 'create', 'empty'], env);
  petstore(['keys', 'create', '--plan', 'free', '--workspace', 'shop'], env);
  assert.deepEqual(
    list().map(({ name, pets, keys }: { name: string; pets: number; keys: number }) => [name, pets, keys]),
    [
      ['shop', 20, 1],
      ['empty', 0, 0],
    ],
  );
  assert.match(petstore(['seed', '--workspace', 'shop', '--pets', '25000'], env).stdout, /Added 25000 pets/);
  assert.equal(list()[0].pets, 25020);
  petstore(['workspaces', 'reset', 'shop'], env);
  assert.deepEqual([list()[0].pets, list()[0].keys], [20, 1]);
  petstore(['workspaces', 'delete', 'shop'], env);
  assert.deepEqual(
    list().map(({ name }: { name: string }) => name),
    ['empty'],
  );
  assert.deepEqual(JSON.parse(petstore(['keys', 'list', '--json'], env).stdout), []);
});

const wrongCalls: [string[], RegExp][] = [
  [['fly'], /unknown command 'fly'/],
  [['serve', 'now'], /too many arguments/],
  [['serve', '--quiet'], /unknown option '--quiet'/],
  [['serve', '--plan', 'free'], /--plan is for --ephemeral/],
  [['serve', '--ephemeral', '--plan', 'cheap'], /'cheap' is invalid/],
  [['keys', 'create'], /--plan/],
  [['keys', 'create', '--plan', 'free', '--name', 'red \u001b[31m'], /control character/],
  [['keys', 'create', '--plan', 'gold'], /free, pro, business, enterprise/],
  [['keys', 'create', '--plan', 'free', '--per-minute', '5'], /enterprise/],
  [['keys', 'create', '--plan', 'enterprise'], /--per-minute and --per-day/],
  [['keys', 'create', '--plan', 'enterprise', '--per-minute', '0', '--per-day', '1'], /whole number above 0/],
  [['keys', 'revoke'], /missing required argument 'id'/],
  [['keys', 'plan', 'key_x', 'gold'], /free, pro, business, enterprise/],
  [['workspaces', 'create', 'No Spaces'], /a-z/],
  [['seed', '--workspace', 'demo'], /--pets/],
  [['seed', '--workspace', 'demo', '--pets', 'many'], /whole number/],
];

test('a wrong call exits with 2 and says what is wrong', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const ended = petstoreInTurn(
    wrongCalls.map(([args]) => args),
    env,
  );
  for (const [i, { args, status, stdout, stderr }] of ended.entries()) {
    assert.equal(status, 2, `petstore ${args.join(' ')}: ${stderr}`);
    assert.equal(stdout, '');
    assert.match(stderr, wrongCalls[i]?.[1] as RegExp);
    assert.match(stderr, /^error: .+\n$/);
  }
  assert.equal(petstore(['fly'], env).status, 2, 'so does the process');
});

test('a command that fails exits with 1 after one line', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const calls = [
    ['keys', 'show', 'key_x'],
    ['keys', 'revoke', 'key_x'],
    ['keys', 'plan', 'key_x', 'pro'],
    ['workspaces', 'reset', 'x'],
    ['workspaces', 'delete', 'x'],
    ['keys', 'create', '--plan', 'free', '--workspace', 'x'],
    ['seed', '--workspace', 'x', '--pets', '1'],
  ];
  for (const { args, status, stderr } of petstoreInTurn(calls, env)) {
    assert.equal(status, 1, args.join(' '));
    assert.match(stderr, /^petstore: .+\n$/);
  }
  assert.equal(petstore(['keys', 'show', 'key_x'], env).status, 1, 'so does the process');
});

test('every command tells its use with --help', () => {
  const commands = [
    [],
    ['serve'],
    ['keys'],
    ['keys', 'create'],
    ['keys', 'list'],
    ['keys', 'show'],
    ['keys', 'revoke'],
    ['keys', 'plan'],
    ['keys', 'unban'],
    ['workspaces'],
    ['workspaces', 'create'],
    ['workspaces', 'list'],
    ['workspaces', 'reset'],
    ['workspaces', 'delete'],
    ['seed'],
    ['openapi'],
  ];
  for (const { args, status, stdout } of petstoreInTurn(commands.map((command) => [...command, '--help']))) {
    const command = args.slice(0, -1).join(' ');
    assert.equal(status, 0, command);
    assert.match(stdout, new RegExp(`^Usage: petstore ?${command}`), command);
  }
  const { status, stdout } = petstore(['serve', '--help']);
  assert.equal(status, 0, 'so does the process');
  assert.match(stdout, /PETSTORE_DATA_DIR/);
});

test('what a terminal might obey is not printed, whatever stands in the database', async (t) => {
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder };
  petstore(['workspaces', 'create', 'demo'], env);
  const { id } = JSON.parse(petstore(['keys', 'create', '--plan', 'free', '--json'], env).stdout);
  const db = await openTestStorage(folder);
  await db.write(
    (sql) => sql`update api_keys set label = ${'a\u001b]0;b\u0007\nkey_forged'} where id = ${id}`,
  );
  await db.close();
  for (const args of [['list'], ['show', id]]) {
    const { stdout } = petstore(['keys', ...args], env);
    assert.match(stdout, /a\?\]0;b\?\?key_forged/);
    assert.doesNotMatch(stdout.replaceAll('\n', ''), /\p{Cc}/u);
  }
});

test('what a terminal might obey is not printed where it was typed, either', async (t) => {
  const odd = 'ev\u001b]0;pwn\u0007\n\u009b31m';
  const shown = 'ev\\u001b]0;pwn\\u0007\\u000a\\u009b31m';
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t), [`PETSTORE_${odd}`]: 'x' };
  const calls = [
    ['workspaces', 'delete', odd],
    ['keys', 'show', odd],
    ['seed', '--pets', odd],
    [odd],
    ['sevre'],
  ];
  const ended = petstoreInTurn(calls, env);
  for (const { args, stderr } of ended) {
    assert.doesNotMatch(stderr.replaceAll('\n', ''), /\p{Cc}/u);
    if (args.includes(odd)) assert.match(stderr.split('\n').at(-2) ?? '', /^(petstore|error): /);
    if (args.includes(odd)) assert.ok(stderr.includes(shown), stderr);
  }
  assert.match(ended[0]?.stderr ?? '', /^petstore: PETSTORE_ev\\u001b/);
  assert.equal(
    ended.at(-1)?.stderr,
    "error: unknown command 'sevre' (Did you mean serve?) (see --help)\n",
    'a guess stands on the same line',
  );
});

test("compiled code is kept in a folder that is its owner's alone, whatever the umask", {
  skip: !process.geteuid && 'there are no modes',
}, async () => {
  const folder = new URL('../node_modules/.cache/petstore', import.meta.url);
  chmodSync(folder, 0o777);
  assert.equal(petstore(['--version']).status, 0);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});
