import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { Client } from 'pg';
import { temporaryFolder } from '../../support/folder.ts';
import { PostgresCluster, postgresPrograms, whyNoPostgres } from '../../support/postgres-cluster.ts';
import { run } from '../../support/storage.ts';
import { until } from '../../support/until.ts';
import { checkRestore, documented, Operator } from './restore.ts';

suite('a restore of PostgreSQL', { skip: whyNoPostgres() }, () => {
  const cluster = PostgresCluster.ofSuite();

  test('a documented restore begins a new generation, and frees the leases of instances that are gone', async (t) => {
    await run(cluster.directUrl, 'create database store');
    const databaseUrl = cluster.directUrl.replace(/\/postgres$/, '/store');
    const operator = new Operator(t, temporaryFolder(t), { DATABASE_URL: databaseUrl });
    mkdirSync(join(operator.folder, 'petstore-data'));
    const programs = postgresPrograms() as string;
    const [check = '', restore = '', begin = ''] = documented('Restore PostgreSQL').split('\n');
    const isConnected = async () => Number(await operator.run(check, programs)) > 0;
    await checkRestore(t, operator, {
      backUp: async () => {
        await operator.run(documented('Back up PostgreSQL'), programs);
        assert.equal(await isConnected(), true);
        const { status, stderr } = operator.command('restored');
        assert.equal(status, 1);
        assert.match(
          stderr,
          /^petstore: An instance or a command uses the database\. Stop them all, and run this again\.\n$/,
        );
      },
      restore: async () => {
        // The server notices a moment later that the connections of the instance are closed.
        await until(async () => !(await isConnected()));
        await operator.run(restore, programs);
        // A stream and a lease of an instance that is gone, as in the backup.
        await run(
          databaseUrl,
          `insert into streams (workspace_id, id, key_id, instance, opened_at_ms, seen_at_ms) values (1, 'x', 'x', 'x', 0, 0)`,
          `update webhooks set lease_owner = 'x', lease_until_ms = 9007199254740991, failing_since_ms = 1`,
        );
        await operator.run(begin);
      },
    });
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    const { rows } = await client.query(
      `select count(*)::int as streams, (select min(last_id) > 999999999999 from sequences) as ahead from streams`,
    );
    await client.end();
    assert.deepEqual(rows, [{ streams: 0, ahead: true }]);
  });
});
