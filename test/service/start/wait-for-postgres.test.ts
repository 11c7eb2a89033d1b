/** A start while PostgreSQL is away, starting or full. `wait-for-postgres.postgres.ts` has a real one. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openPostgres } from '../../../src/db/postgres.ts';
import { StorageUnavailableError } from '../../../src/foundation/errors.ts';
import { ConfigError } from '../../../src/foundation/settings/setting.ts';
import { listen, message, saying } from '../../support/odd-postgres.ts';
import { fetchChecked } from '../../support/petstore.ts';
import { freePort } from '../../support/port.ts';
import { startCommand, statusAt } from '../../support/service.ts';
import { until } from '../../support/until.ts';

type Environment = Record<string, string>;

const start = (t: TestContext, env: Environment, args = ['serve']) =>
  startCommand(t, args, { PETSTORE_DEMO: 'off', NODE_NO_WARNINGS: '1', PORT: '0', ...env });

/** The address of a server that refuses each login with this code. */
const refusing = (t: TestContext, code: string) =>
  listen(t, saying([message('E', `SFATAL\0C${code}\0Mno\0\0`)]));

const nowhere = async () => `postgres://me:hush-hush@127.0.0.1:${await freePort()}/db`;

test('while PostgreSQL is away, a start answers health checks, and SIGTERM ends it at once', async (t) => {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const { child, written, ended } = start(t, { PORT: String(port), DATABASE_URL: await nowhere() });
  await until(async () => (await statusAt(`${origin}/healthz`)) === 200);
  const paths = '/readyz /metrics / /reference /v1/openapi.json /lab /mcp /nothing /v1/%zz';
  for (const path of paths.split(' ')) assert.equal(await statusAt(origin + path), 503, path);
  const { body, headers } = await fetchChecked(origin, 'POST', '/pets', { key: 'pet_x', body: {} });
  assert.deepEqual([body.status, body.code, headers['retry-after']], [503, 'unavailable', '1']);
  const waits = written.stdout.match(/"waiting for PostgreSQL"/g)?.length ?? 0;
  assert.ok(waits > 0, written.stdout);
  assert.ok(!written.stdout.includes('hush-hush'));
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.equal(written.stderr, '');
});

/** A server that asks for SCRAM-SHA-256. */
const scram = (t: TestContext) =>
  listen(
    t,
    saying([
      message('R', [0, 0, 0, 10, ...Buffer.from('SCRAM-SHA-256\0\0')]),
      message('R', [0, 0, 0, 11, ...Buffer.from('r=x,s=eA==,i=4096')]),
    ]),
  );

const servers: [string, typeof StorageUnavailableError, (t: TestContext) => Promise<string>][] = [
  ['is away', StorageUnavailableError, nowhere],
  ['is starting', StorageUnavailableError, (t) => refusing(t, '57P03')],
  ['has no free connection slot', StorageUnavailableError, (t) => refusing(t, '53300')],
  ['PgBouncer cannot reach', StorageUnavailableError, (t) => refusing(t, '08P01')],
  ['refuses the password', ConfigError, (t) => refusing(t, '28P01')],
  ['has no such database', ConfigError, (t) => refusing(t, '3D000')],
  ['does not permit tables', ConfigError, (t) => refusing(t, '42501')],
  [
    'asks for a password that is missing',
    ConfigError,
    async (t) => (await scram(t)).replace(':hush-hush', ''),
  ],
  ['has no TLS', ConfigError, async (t) => `${await listen(t, saying(['N']))}?sslmode=verify-full`],
];
for (const [what, kind, url] of servers) {
  test(`a start ${kind === ConfigError ? 'does not wait' : 'waits'} for a server that ${what}`, async (t) => {
    await assert.rejects(openPostgres(await url(t), 1_000), (error: Error) => {
      assert.equal(error.constructor, kind, String(error.stack));
      return error.message.startsWith('DATABASE_URL cannot be used: ');
    });
  });
}

const unusable = /^petstore: DATABASE_URL cannot be used: .+\n$/;
const soon = /^petstore: PETSTORE_START_WAIT must be a number of at least 0, not "soon"\.\n$/;
const atOnce: [string, RegExp, (t: TestContext) => Promise<Environment>, string[]?][] = [
  ['with a wrong password', unusable, async (t) => ({ DATABASE_URL: await refusing(t, '28P01') })],
  ['without a wait', unusable, async () => ({ DATABASE_URL: await nowhere(), PETSTORE_START_WAIT: '0' })],
  ['of another command', unusable, async () => ({ DATABASE_URL: await nowhere() }), ['workspaces', 'list']],
  [
    'with a wrong setting',
    soon,
    async () => ({ DATABASE_URL: await nowhere(), PETSTORE_START_WAIT: 'soon' }),
  ],
];
for (const [what, line, env, args] of atOnce) {
  test(`a start ${what} ends at once with one line, which repeats no password`, async (t) => {
    const { written, ended } = start(t, await env(t), args);
    assert.deepEqual(await ended, [1, null]);
    assert.match(written.stderr, line);
    assert.doesNotMatch(written.stderr, /hush-hush/);
    assert.equal(written.stdout, '');
  });
}

test('a start that has waited in vain ends with the last reason', async (t) => {
  const { written, ended } = start(t, { DATABASE_URL: await nowhere(), PETSTORE_START_WAIT: '0.2' });
  assert.deepEqual(await ended, [1, null]);
  assert.match(written.stdout, /"waiting for PostgreSQL"/);
  assert.match(written.stderr, /^petstore: DATABASE_URL cannot be used: connect ECONNREFUSED .+\n$/);
});
