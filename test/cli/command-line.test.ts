import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Command } from 'commander';
import { pendingMigrations } from '../../src/db/migrations.ts';
import { readConfig } from '../../src/foundation/settings/config.ts';
import { commandLine } from '../../src/main.ts';
import { welcomeText } from '../../src/service/start/welcome.ts';
import { fetchChecked, type JsonAnswer } from '../support/petstore.ts';
import { freePort } from '../support/port.ts';
import {
  bin,
  command,
  commands,
  petstore,
  printed,
  type Service,
  startCommand,
  startService,
  statusAt,
} from '../support/service.ts';
import { aboutSqlite, openTestStorage, temporaryStorage } from '../support/storage.ts';
import { until } from '../support/until.ts';

const keyFile = (folder: string) => join(folder, 'demo.key');

test('the demo starts on an empty folder and prints commands to paste; a later start finds the same data', async (t) => {
  const folder = join(await temporaryStorage(t), 'data');
  const first = await startService(t, folder);
  const key = readFileSync(keyFile(folder), 'utf8').trim();
  assert.equal(statSync(keyFile(folder)).mode & 0o777, 0o600);
  const origin = first.origin.replace('127.0.0.1', 'localhost');
  assert.match(first.output(), new RegExp(`API +${origin}/v1\n`));
  for (const page of ['reference', 'lab']) assert.ok(first.output().includes(`\n  ${origin}/${page}\n`));
  assert.equal(first.output().split(key).length, 2, 'without a terminal the key is printed once');
  assert.match(first.output(), /\n {2}Webhooks +may call this machine, /);
  // Quoted, because zsh and fish expand a bare question mark.
  const [, sent, url] = /curl -H "Authorization: Bearer (\S+)" "(\S+)"\n/.exec(first.output()) ?? [];
  assert.equal(sent, key);
  const answer = await fetch(url as string, { headers: { authorization: `Bearer ${sent}` } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('deprecation'), null);
  const pets = (await answer.json()) as unknown[];
  assert.deepEqual(pets[0], { id: 1, name: 'Bella', categoryId: 1, status: 'available' });

  const quota = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];
  const { key: ample } = await printed(['keys', 'create', ...quota], { PETSTORE_DATA_DIR: folder });
  const finishesOn = async (signal: NodeJS.Signals, service: Service) => {
    const inFlight = Array.from({ length: 50 }, (_, i) =>
      fetchChecked(service.origin, 'POST', '/categories', {
        key: ample,
        body: { name: `${signal} ${i}` },
      }).catch((error: Error) => error),
    );
    await Promise.race(inFlight);
    assert.deepEqual(await service.stop(signal), { code: 0, signal: null });
    const ended = await Promise.all(inFlight);
    return ended.filter((answer): answer is JsonAnswer => !(answer instanceof Error));
  };
  const assertKept = async (answers: JsonAnswer[], { origin }: Service) => {
    assert.ok(answers.length > 0);
    for (const { status, body } of answers) {
      assert.equal(status, 201);
      const found = await fetchChecked(origin, 'GET', `/categories/${body.id}`, { key: ample });
      assert.deepEqual(found.body, body);
    }
  };

  let answers = await finishesOn('SIGTERM', first);
  const second = await startService(t, folder);
  assert.ok(second.output().includes(key), 'the same key is printed');
  await assertKept(answers, second);
  answers = await finishesOn('SIGINT', second);

  rmSync(keyFile(folder));
  const third = await startService(t, folder);
  await assertKept(answers, third);
  const replaced = readFileSync(keyFile(folder), 'utf8').trim();
  assert.notEqual(replaced, key, 'a lost key is replaced');
  assert.equal((await fetchChecked(third.origin, 'GET', '/pets/1', { key: replaced })).status, 200);
});

test('the welcome says that webhooks may call this machine only where they may', () => {
  for (const [env, isShown] of [
    [{}, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ TRUST_PROXY: 'on' }, false],
  ] as const)
    assert.equal(welcomeText(readConfig(env), 'pet_x').includes('Webhooks '), isShown, JSON.stringify(env));
});

test('without the demo the service seeds nothing, creates no key, and prints only JSON', async (t) => {
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder };
  const service = await startService(t, folder, { PETSTORE_DEMO: 'off' });
  assert.throws(() => statSync(keyFile(folder)));
  assert.deepEqual(await printed(['workspaces', 'list'], env), []);
  await command(['workspaces', 'create', 'shop'], env);
  const { key } = await printed(['keys', 'create', '--plan', 'free', '--workspace', 'shop'], env);

  const { status } = await fetchChecked(service.origin, 'GET', '/categories', { key });
  assert.equal(status, 200);
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
  const lines = service.output().trim().split('\n');
  assert.ok(lines.length >= 3);
  for (const line of lines) assert.equal(JSON.parse(line).level, 'info');
});

for (const [whom, signal, script, runsHere] of [
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
    skip: !runsHere && 'it is about Linux',
  }, async (t) => {
    const port = await freePort();
    const shell = spawn('sh', ['-c', script, process.execPath, bin], {
      env: {
        ...process.env,
        PORT: String(port),
        PETSTORE_DATA_DIR: await temporaryStorage(t),
        npm_lifecycle_event: 'start',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(shell.stdout, 'close');
    const readiness = () => statusAt(`http://127.0.0.1:${port}/readyz`);
    await until(async () => (await readiness()) === 200);
    shell.stdout.resume();
    shell.kill(signal);
    await ended;
    assert.equal(await readiness(), 0);
  });
}

test('a command ends without an error when its reader closes the pipe', () => {
  const piped = `"${process.execPath}" "${bin}" openapi | head -n 1`;
  const { stdout, stderr } = spawnSync('sh', ['-c', piped], { encoding: 'utf8' });
  assert.deepEqual([stdout, stderr], ['{\n', '']);
});

test('a running server accepts a new key, and refuses a revoked one', async (t) => {
  const folder = await temporaryStorage(t);
  const service = await startService(t, folder);
  const env = { PETSTORE_DATA_DIR: folder };
  const created = await printed(['keys', 'create', '--plan', 'pro', '--name', 'tests'], env);
  assert.deepEqual(Object.keys(created), ['id', 'key', 'plan', 'workspace', 'perMinute', 'perDay', 'label']);
  const status = async () =>
    (await fetchChecked(service.origin, 'GET', '/pets/1', { key: created.key })).status;
  assert.equal(await status(), 200);
  assert.equal((await command(['keys', 'revoke', created.id], env)).status, 0);
  await until(async () => (await status()) === 401);
  const shown = await printed(['keys', 'show', created.id], env);
  assert.ok(shown.revokedAt);
  assert.ok(!JSON.stringify(shown).includes(created.key));
});

test('keys are created, listed, shown and moved to another plan', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  await command(['workspaces', 'create', 'shop'], env);
  const create = (...args: string[]) => printed(['keys', 'create', '--workspace', 'shop', ...args], env);
  const free = await create('--plan', 'free');
  assert.match(free.key, /^pet_[0-9A-Za-z]{36}$/);
  assert.deepEqual([free.plan, free.workspace, free.perMinute, free.perDay], ['free', 'shop', 60, 1000]);
  const own = await create('--plan', 'enterprise', '--per-minute', '7', '--per-day', '70');
  assert.deepEqual([own.perMinute, own.perDay], [7, 70]);
  assert.equal((await command(['keys', 'plan', free.id, 'business'], env)).status, 0);
  const list = await printed(['keys', 'list'], env);
  const limits = list.map(({ plan, perMinute }: Record<string, unknown>) => `${plan} ${perMinute}`);
  assert.deepEqual(limits, ['business 1000', 'enterprise 7']);
  assert.match((await command(['keys', 'list'], env)).stdout, new RegExp(`${free.id}.*shop.*business`));
  assert.match((await command(['keys', 'show', own.id], env)).stdout, /perMinute +7/);
});

test('workspaces are created, listed, reset and deleted', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const list = () => printed(['workspaces', 'list'], env);
  assert.equal((await printed(['workspaces', 'create', 'shop', '--seed'], env)).name, 'shop');
  await command(['workspaces', 'create', 'empty'], env);
  await command(['keys', 'create', '--plan', 'free', '--workspace', 'shop'], env);
  type Listed = { name: string; pets: number; keys: number };
  const listed = async () =>
    ((await list()) as Listed[]).map(({ name, pets, keys }) => `${name} ${pets} ${keys}`);
  assert.deepEqual(await listed(), ['shop 20 1', 'empty 0 0']);
  // More than the 10,000 of one transaction.
  const added = await command(['seed', '--workspace', 'shop', '--pets', '10001'], env);
  assert.match(added.stdout, /^Added 10,001 pets to shop in /);
  const one = await command(['seed', '--workspace', 'empty', '--pets', '1'], env);
  assert.match(one.stdout, /^Added 1 pet to empty in /);
  assert.equal((await list())[0].pets, 10_021);
  await command(['workspaces', 'reset', 'shop'], env);
  assert.deepEqual(await listed(), ['shop 20 1', 'empty 1 0']);
  await command(['workspaces', 'delete', 'shop'], env);
  assert.deepEqual(await listed(), ['empty 1 0']);
  assert.deepEqual(await printed(['keys', 'list'], env), []);
});

const wrongCalls: [string[], RegExp][] = [
  [['fly'], /unknown command 'fly'/],
  [['sevre'], /^error: unknown command 'sevre' \(Did you mean serve\?\) \(see --help\)$/m],
  [['serve', 'now'], /too many arguments/],
  [['serve', '--quiet'], /unknown option '--quiet'/],
  [['serve', '--plan', 'free'], /--plan needs --ephemeral/],
  [['serve', '--ephemeral', '--plan', 'cheap'], /'cheap' is invalid/],
  [['keys', 'create'], /--plan/],
  [['keys', 'create', '--plan', 'free', '--name', 'red \u001b[31m'], /control character/],
  [['keys', 'create', '--plan', 'gold'], /free, pro, business, enterprise/],
  [['keys', 'create', '--plan', 'free', '--per-minute', '5'], /enterprise/],
  [['keys', 'create', '--plan', 'enterprise'], /--per-minute and --per-day/],
  [['keys', 'create', '--plan', 'enterprise', '--per-minute', '0', '--per-day', '1'], /integer above 0/],
  [['grade-receiver', '--types', 'pet.sold'], /no type "pet\.sold"\. The types are category\.created, /],
  [
    ['grade-receiver', '--types', 'workspace.reset'],
    /at least one of pet\.created, pet\.updated, category\.created, /,
  ],
  [['grade-receiver', '--command-seconds', '0'], /integer above 0/],
  [['keys', 'revoke'], /missing required argument 'id'/],
  [['keys', 'plan', 'key_x', 'gold'], /free, pro, business, enterprise/],
  [['workspaces', 'create', 'No Spaces'], /a-z/],
  [['seed', '--workspace', 'demo'], /--pets/],
  [['seed', '--workspace', 'demo', '--pets', 'many'], /integer/],
];

test('a wrong call exits with 2 and says what is wrong', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  const ended = await commands(
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

/** Every command, with the names of its own commands. */
const callsOf = (command: Command, path: string[] = []): { path: string[]; names: string[] }[] => {
  const shown = command.createHelp().visibleCommands(command);
  const names = shown.map((one) => one.name());
  return [{ path, names }, ...command.commands.flatMap((one) => callsOf(one, [...path, one.name()]))].filter(
    (one) => one.path[0] !== 'completion',
  );
};

test('a command group without a command exits with 2 and lists its commands; help shows its usage', async () => {
  const groups = callsOf(await commandLine()).filter(({ names }) => names.length > 0);
  assert.deepEqual(
    groups.map(({ path }) => path.join(' ')),
    ['', 'keys', 'invites', 'workspaces', 'webhooks', 'lab'],
  );
  // Without any argument the demonstration starts.
  groups.shift();
  const ended = await commands(groups.flatMap(({ path }) => [path, ['help', ...path]]));
  for (const [i, { path, names }] of groups.entries()) {
    const [alone, helped] = ended.slice(2 * i, 2 * i + 2);
    assert.deepEqual(
      [alone?.status, alone?.stdout, alone?.stderr],
      [2, '', `error: a command is missing: ${names.join(', ')} (see --help)\n`],
    );
    assert.deepEqual([helped?.status, helped?.stderr], [0, '']);
    assert.match(helped?.stdout ?? '', new RegExp(`^Usage: petstore ${path.join(' ')} `));
  }
});

test('Ctrl-C stops seed after the current batch, reports how many pets stay, and ends a shell loop', async (t) => {
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t) };
  await command(['workspaces', 'create', 'shop'], env);
  const held = async () => (await printed(['workspaces', 'list'], env))[0].pets as number;
  const args = ['seed', '--workspace', 'shop', '--pets', '100000000'];
  const { child, ended, written } = startCommand(t, args, env);
  await until(async () => (await held()) > 0);
  child.kill('SIGINT');
  child.kill('SIGINT');
  // A shell turns this into status 130, and ends a loop around it.
  assert.deepEqual(await ended, [null, 'SIGINT']);
  assert.deepEqual(written, {
    stdout: '',
    stderr: `petstore: Stopped by SIGINT. Added ${await held()} of 100000000 pets to shop. They stay there.\n`,
  });
});

test('a command that only reads opens a database that another process keeps locked for writing', {
  skip: aboutSqlite,
}, async (t) => {
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder };
  await command(['workspaces', 'create', 'shop'], env);
  const other = new DatabaseSync(join(folder, 'petstore.db'));
  t.after(() => other.close());
  other.exec('begin immediate');
  assert.equal((await printed(['workspaces', 'list'], env))[0].name, 'shop');
});

test('migrate creates the tables, does not change current tables, and refuses newer ones', {
  skip: aboutSqlite,
}, async (t) => {
  const all = pendingMigrations('sqlite')(0);
  for (const [before, done] of [
    [0, `Applied ${all.length} migrations`],
    [all.length - 1, 'Applied 1 migration'],
    [all.length, 'Nothing to migrate'],
  ] as const) {
    const folder = await temporaryStorage(t);
    using db = new DatabaseSync(join(folder, 'petstore.db'));
    for (const { sql } of all.slice(0, before)) db.exec(sql);
    db.exec(`pragma user_version = ${before}`);
    const { status, stdout, stderr } = await command(['migrate'], { PETSTORE_DATA_DIR: folder });
    assert.deepEqual([status, stdout, stderr], [0, `${done}. The tables are up to date.\n`, '']);
    assert.equal(db.prepare('select count(*) as n from workspaces').get()?.n, 0);
  }
  const folder = await temporaryStorage(t);
  using db = new DatabaseSync(join(folder, 'petstore.db'));
  db.exec('pragma user_version = 999');
  const { status, stderr } = await command(['migrate'], { PETSTORE_DATA_DIR: folder });
  assert.equal(status, 1);
  assert.match(stderr, /^petstore: The database has version 999, .+ Run a newer Petstore on it\.\n$/);
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
    ['restored'],
  ];
  for (const { args, status, stderr } of await commands(calls, env)) {
    assert.equal(status, 1, args.join(' '));
    assert.match(stderr, /^petstore: .+\n$/);
  }
});

test('every command shows its usage with --help', async () => {
  const all = callsOf(await commandLine()).map(({ path }) => path);
  for (const { args, status, stdout, stderr } of await commands(all.map((path) => [...path, '--help']))) {
    const command = args.slice(0, -1).join(' ');
    assert.deepEqual([status, stderr], [0, ''], command);
    assert.match(stdout, new RegExp(`^Usage: petstore ?${command}`), command);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 120, line);
  }
  assert.match((await command(['serve', '--help'])).stdout, /PETSTORE_DATA_DIR/);
});

test('no command prints control characters, whatever the database contains', async (t) => {
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder };
  await command(['workspaces', 'create', 'demo'], env);
  const { id } = await printed(['keys', 'create', '--plan', 'free'], env);
  const db = await openTestStorage(folder);
  await db.write(
    (sql) => sql`update api_keys set label = ${'a\u001b]0;b\u0007\nkey_forged'} where id = ${id}`,
  );
  await db.close();
  for (const args of [['list'], ['show', id]]) {
    const { stdout } = await command(['keys', ...args], env);
    assert.match(stdout, /a\?\]0;b\?\?key_forged/);
    assert.doesNotMatch(stdout.replaceAll('\n', ''), /\p{Cc}/u);
  }
});

test('errors show control characters of arguments and variables as escapes', async (t) => {
  const odd = 'ev\u001b]0;pwn\u0007\n\u009b31m';
  const shown = 'ev\\u001b]0;pwn\\u0007\\u000a\\u009b31m';
  const env = { PETSTORE_DATA_DIR: await temporaryStorage(t), [`PETSTORE_${odd}`]: 'x' };
  const ended = await commands(
    [['workspaces', 'delete', odd], ['keys', 'show', odd], ['seed', '--pets', odd], [odd]],
    env,
  );
  for (const { stderr } of ended) {
    assert.doesNotMatch(stderr.replaceAll('\n', ''), /\p{Cc}/u);
    assert.match(stderr.split('\n').at(-2) ?? '', /^(petstore|error): /);
    assert.ok(stderr.includes(shown), stderr);
  }
  assert.match(ended[0]?.stderr ?? '', /^petstore: PETSTORE_ev\\u001b/);
});

test('only its owner can access the folder of compiled code, whatever the umask', {
  skip: !process.geteuid && 'there are no modes',
}, async () => {
  const folder = new URL('../../node_modules/.cache/petstore', import.meta.url);
  chmodSync(folder, 0o777);
  assert.equal(petstore(['--version']).status, 0);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});
