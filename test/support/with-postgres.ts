/**
 * Runs a command with PETSTORE_TEST_DATABASE_URL set to a new PostgreSQL, which is removed afterwards:
 * `node test/support/with-postgres.ts npx node --test test/store/resources/pets.test.ts`.
 */
import { spawnSync } from 'node:child_process';
import { PostgresCluster, whyNoPostgres } from './postgres-cluster.ts';

const [command, ...args] = process.argv.slice(2) as [string, ...string[]];
const reason = whyNoPostgres();
if (reason) {
  console.log(`Nothing was run: ${reason}.`);
} else {
  const cluster = await PostgresCluster.start();
  try {
    const env = { ...process.env, PETSTORE_TEST_DATABASE_URL: cluster.url };
    process.exitCode = spawnSync(command, args, { env, stdio: 'inherit' }).status ?? 1;
  } finally {
    await cluster.remove();
  }
}
