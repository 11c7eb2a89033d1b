import assert from 'node:assert/strict';
import { test } from 'node:test';
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
