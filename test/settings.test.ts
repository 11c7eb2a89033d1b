import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../src/config.ts';
import { petstore, startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';

const wrongSettings: [string, string][] = [
  ['PORT', '0'],
  ['PORT', '65536'],
  ['PORT', '80a'],
  ['HOST', 'no such host'],
  ['PETSTORE_BASE_URL', 'localhost:8080'],
  ['PETSTORE_BASE_URL', 'http://localhost:8080/'],
  ['PETSTORE_BASE_URL', 'ftp://localhost/v1'],
  ['PETSTORE_DEMO', 'maybe'],
  ['LOG_LEVEL', 'loud'],
  ['TRUST_PROXY', '1'],
  ['TRUST_PROXY', 'loopback, 10.1'],
  ['PETSTORE_BAN_GROWTH', '0.5'],
  ['PETSTORE_BAN_FIRST_SECONDS', 'x'],
  ['DATABASE_URL', 'mysql://localhost/petstore'],
  ['DATABASE_URL', 'localhost:5432'],
  ['DATABASE_URL', 'postgres://user@127.0.0.1:1/petstore'],
  ['VALKEY_URL', 'valkey'],
  ['VALKEY_URL', 'http://localhost'],
  ['VALKEY_URL', 'redis://localhost/x'],
  ['VALKEY_URL', 'redis://:%@localhost'],
  ['VALKEY_URL', 'redis://localhost, redis:'],
  ['VALKEY_TIMEOUT_MS', '0'],
  ['PETSTORE_DATA_DIR', '/dev/null/data'],
];

for (const [name, value] of wrongSettings) {
  test(`${name}=${value} stops the start with one line that names it`, async (t) => {
    const { status, stdout, stderr } = petstore(['serve'], {
      PETSTORE_DATA_DIR: await temporaryStorage(t),
      [name]: value,
    });
    assert.equal(status, 1);
    assert.match(stderr, /^petstore: .+\n$/);
    assert.ok(stderr.includes(name), stderr);
    assert.equal(stdout, '');
  });
}

test('a port in use stops the start with one line that names it', async (t) => {
  const service = await startService(t, await temporaryStorage(t));
  const port = new URL(service.origin).port;
  const { status, stderr } = petstore(['serve'], {
    PORT: port,
    PETSTORE_DATA_DIR: await temporaryStorage(t),
  });
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`^petstore: PORT ${port}.* in use.*\n$`));
});

for (const [name, value] of [
  ['PETSTORE_BASE_URL', 'https://me:hunter2@pets.example/v2?token=hunter2#hunter2'],
  ['PETSTORE_BASE_URL', 'me:hunter2@pets.example/v1'],
  ['DATABASE_URL', 'mysql://me:hunter2@127.0.0.1/petstore'],
  ['DATABASE_URL', 'postgres://me:hunter2@127.0.0.1:1/petstore'],
  ['VALKEY_URL', 'redis://me:hunter2@127.0.0.1/petstore'],
]) {
  test(`the refusal of ${name}=${value} does not repeat its password`, async (t) => {
    const { stderr } = petstore(['serve'], {
      PETSTORE_DATA_DIR: await temporaryStorage(t),
      [name as string]: value as string,
    });
    assert.ok(stderr.includes(name as string));
    assert.doesNotMatch(stderr, /hunter2/);
  });
}

test('a variable that looks like a setting and is none is named in a warning, by the service and by commands', async (t) => {
  const folder = await temporaryStorage(t);
  const mistyped = { PETSTORE_DATADIR: '/elsewhere', PETSTORE_DEMOS: '' };
  const service = await startService(t, folder, mistyped);
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const warnings = lines.filter(({ level }) => level === 'warn');
  assert.deepEqual(
    warnings.map(({ variable }) => variable),
    ['PETSTORE_DATADIR', 'PETSTORE_DEMOS'],
  );
  const command = petstore(['keys', 'list', '--json'], { PETSTORE_DATA_DIR: folder, ...mistyped });
  assert.match(command.stderr, /^petstore: PETSTORE_DATADIR: .+\npetstore: PETSTORE_DEMOS: .+\n$/);
  assert.equal(JSON.parse(command.stdout).length, 1);
});

test('the help of serve tells every variable that is read, and none of them is taken for unknown', () => {
  const names = new Set<string>();
  readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }));
  assert.ok(names.size > 10);
  const { stdout } = petstore(['serve', '--help']);
  for (const name of names) assert.match(stdout, new RegExp(`^ +${name}\\b`, 'm'));
  const env = Object.fromEntries([...names].map((name) => [name, '']));
  assert.deepEqual(readConfig(env).unknownVariables, []);
});
