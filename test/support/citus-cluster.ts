import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresCluster, postgresPrograms, whyNoPostgres } from './postgres-cluster.ts';
import { run } from './storage.ts';
import { fileAt } from './tree.ts';

const statements = fileAt('deploy/citus.sql');
const host = '127.0.0.1';
/** Queries over all workspaces access each shard, four times a second. Two cores need few shards. */
const shards = 8;

/** Why Citus cannot run here, or false. */
export function whyNoCitus(): string | false {
  const programs = postgresPrograms();
  if (!programs) return whyNoPostgres();
  const libraries = execFileSync(join(programs, 'pg_config'), ['--pkglibdir'], { encoding: 'utf8' }).trim();
  return !existsSync(join(libraries, 'citus.so')) && `the extension citus is not installed in ${libraries}`;
}

/** A coordinator and two workers, each a PostgreSQL of its own on loopback, registered as by an operator. */
export async function startCitus() {
  const startNode = () =>
    PostgresCluster.start(`-c shared_preload_libraries=citus -c citus.shard_count=${shards}`);
  const nodes = await Promise.all([startNode(), startNode(), startNode()]);
  const [coordinator, ...workers] = nodes;
  const { username, password } = new URL(coordinator.url);
  for (const { url } of nodes) {
    await run(
      url,
      'create extension citus',
      `insert into pg_dist_authinfo (nodeid, rolename, authinfo) values (0, '${username}', 'password=${password}')`,
    );
  }
  await run(
    coordinator.url,
    `select citus_set_coordinator_host('${host}', ${coordinator.port})`,
    ...workers.map(({ port }) => `select citus_add_node('${host}', ${port})`),
  );
  return {
    ...{ coordinator, workers },
    /** Distributes the existing tables, with the statements for operators. */
    distribute(): void {
      const options = '--quiet --single-transaction --set ON_ERROR_STOP=1 --file'.split(' ');
      const args = [...options, statements, coordinator.url];
      execFileSync(join(postgresPrograms() as string, 'psql'), args, {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    },
    remove: () => Promise.all(nodes.map((node) => node.remove())),
  };
}
