/** Instances that start before PostgreSQL, as after the restart of a host. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite, type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../support/folder.ts';
import { freePort } from '../../support/port.ts';
import { PostgresCluster, whyNoPostgres } from '../../support/postgres-cluster.ts';
import { bin, environment } from '../../support/service.ts';
import { until } from '../../support/until.ts';

suite('a start before PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  async function start(t: TestContext, env: Record<string, string>) {
    const port = await freePort();
    const all = environment({ PORT: String(port), DATABASE_URL: cluster.url, ...env });
    const child = spawn(process.execPath, [bin, 'serve'], { env: all });
    t.after(() => child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const request = (path: string, headers = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers }).then(
        ({ status }) => status,
        () => 0,
      );
    return { child, request, output: () => output };
  }

  test('three instances serve as soon as it is up, without a restart', async (t) => {
    await cluster.stop('fast');
    const folder = temporaryFolder(t);
    const env = { PETSTORE_DATA_DIR: folder };
    const instances = await Promise.all([start(t, env), start(t, env), start(t, env)]);
    for (const { request } of instances) await until(async () => (await request('/readyz')) === 503);
    await cluster.start();
    for (const { request } of instances) await until(async () => (await request('/readyz')) === 200);
    const [key] = /pet_\w+/.exec(instances[0].output()) ?? [];
    for (const { child, request } of instances) {
      assert.equal(await request('/v1/pets', { 'x-api-key': key }), 200);
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      assert.deepEqual(await ended, [0, null]);
    }
  });

  test('a data folder that cannot be used ends a start at once', async (t) => {
    const { child, output } = await start(t, { PETSTORE_DATA_DIR: '/proc/no-folder' });
    assert.deepEqual(await once(child, 'close'), [1, null]);
    assert.match(output(), /^petstore: PETSTORE_DATA_DIR \/proc\/no-folder cannot be used: .+\n$/);
  });
});
