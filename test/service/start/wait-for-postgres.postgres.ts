/** Instances that start before PostgreSQL, as after the restart of a host. */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../support/folder.ts';
import { freePort } from '../../support/port.ts';
import { PostgresCluster, whyNoPostgres } from '../../support/postgres-cluster.ts';
import { startCommand, statusAt } from '../../support/service.ts';
import { until } from '../../support/until.ts';

suite('a start before PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  async function start(t: TestContext, env: Record<string, string>) {
    const port = await freePort();
    const started = startCommand(t, ['serve'], { PORT: String(port), DATABASE_URL: cluster.url, ...env });
    const request = (path: string, headers = {}) => statusAt(`http://127.0.0.1:${port}${path}`, headers);
    return { ...started, request };
  }

  test('three instances serve as soon as it is up, without a restart', async (t) => {
    await cluster.stop('fast');
    const folder = temporaryFolder(t);
    const env = { PETSTORE_DATA_DIR: folder };
    const instances = await Promise.all([start(t, env), start(t, env), start(t, env)]);
    for (const { request } of instances) await until(async () => (await request('/readyz')) === 503);
    await cluster.start();
    for (const { request } of instances) await until(async () => (await request('/readyz')) === 200);
    const [key] = /pet_\w+/.exec(instances[0].written.stdout) ?? [];
    for (const { child, ended, request } of instances) {
      assert.equal(await request('/v1/pets', { 'x-api-key': key ?? '' }), 200);
      child.kill('SIGINT');
      assert.deepEqual(await ended, [0, null]);
    }
  });

  test('a data folder that cannot be used ends a start at once', async (t) => {
    const { ended, written } = await start(t, { PETSTORE_DATA_DIR: '/proc/no-folder' });
    assert.deepEqual(await ended, [1, null]);
    assert.match(written.stderr, /^petstore: PETSTORE_DATA_DIR \/proc\/no-folder cannot be used: .+\n$/);
  });
});
