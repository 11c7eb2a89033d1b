/**
 * How long a list of events takes while a history of 1,000,000 events shrinks to 100,000, on SQLite and on PostgreSQL:
 * `npm run bench -- shrinking`. It takes three minutes, most of them until the service looks for old events. `--check` fails the run when
 * a bar is missed.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStorage } from '../src/db/open.ts';
import { createWorkspace } from '../src/store/workspaces/store.ts';
import { PostgresCluster } from '../test/support/postgres-cluster.ts';
import { holdAtMost, introduce, markdownTable, quantile, readOptions } from './support/comparison.ts';
import { createAmpleKey } from './support/data.ts';
import { type Servers, withServers, workspace } from './support/servers.ts';

const effort = readOptions();
const events = 1_000_000;
const kept = 100_000;
const mostP99Ms = 10;
const pauseMs = 3;
const setupDeadlineMs = 120_000;
/** How long the service may take until it has removed what is too much. It looks once a minute. */
const shrinkWithinMs = 90_000;
const requestsAfter = 1_000;

type Phase = 'before' | 'while' | 'after';

/** A workspace with a long history. Returns a key of it. */
async function prepare(dataDir: string, databaseUrl: string | undefined): Promise<string> {
  const db = await openStorage({ dataDir, databaseUrl }, { deadlineMs: setupDeadlineMs });
  const nowMs = Date.now();
  const key = await db.write(
    async (sql) => {
      const { id: workspaceId } = await createWorkspace(sql, workspace, nowMs);
      await sql`
        insert into events (workspace_id, id, type, created_at_ms, data)
        with recursive ids(id) as (select 1 union all select id + 1 from ids where id < ${events})
        select ${workspaceId}, id, 'category.created', ${nowMs}, '{"id":1,"name":"Dogs","description":"Loyal companions"}' from ids`;
      await sql`
        insert into sequences (workspace_id, kind, last_id) values (${workspaceId}, 'events', ${events})
        on conflict (workspace_id, kind) do update set last_id = excluded.last_id`;
      return createAmpleKey(sql, workspaceId);
    },
    { atMs: nowMs, workspaceId: undefined },
  );
  await db.close();
  return key;
}

/** Milliseconds that lists of events take, one after another, before, while and after the history shrinks. */
async function measure(
  servers: Servers,
  dataDir: string,
  databaseUrl?: string,
): Promise<Record<Phase, number[]>> {
  const key = await prepare(dataDir, databaseUrl);
  const settings = {
    PETSTORE_EVENTS_COUNT: String(kept),
    ...(databaseUrl && {
      DATABASE_URL: databaseUrl,
      PETSTORE_SECRET_KEY: 'the key of an installation for benchmarks',
    }),
  };
  const { origin } = await servers.startService(dataDir, { settings });
  const tookMs: Record<Phase, number[]> = { before: [], while: [], after: [] };
  const endMs = performance.now() + shrinkWithinMs;
  while (tookMs.after.length < requestsAfter) {
    if (performance.now() > endMs) throw new Error('The history did not shrink.');
    const startMs = performance.now();
    const answer = await fetch(`${origin}/v1/store/events?limit=20`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const [first] = (await answer.json()) as { id: number }[];
    const took = performance.now() - startMs;
    if (answer.status !== 200 || !first)
      throw new Error(`A list of events got ${answer.status}, or is empty.`);
    const phase = first.id === 1 ? 'before' : first.id <= events - kept ? 'while' : 'after';
    tookMs[phase].push(took);
    await sleep(pauseMs);
  }
  return tookMs;
}

await withServers(async (servers) => {
  introduce(effort);
  const cluster = await PostgresCluster.start('', tmpdir());
  try {
    const rows = [['', 'Lists', 'p50 ms', 'p99 ms', 'Longest ms']];
    for (const [engine, url] of [['SQLite'], ['PostgreSQL', cluster.url]] as [string, string?][]) {
      for (const [phase, tookMs] of Object.entries(
        await measure(servers, join(servers.folder, engine), url),
      )) {
        const p99Ms = quantile(tookMs, 0.99);
        const figures = [quantile(tookMs, 0.5), p99Ms, quantile(tookMs, 1)].map((ms) => ms.toFixed(1));
        rows.push([`${engine}, ${phase}`, String(tookMs.length), ...figures]);
        if (phase === 'while') holdAtMost(`p99 of a list on ${engine}, ms`, p99Ms, mostP99Ms, effort);
      }
    }
    console.log(`\n${markdownTable(rows)}`);
  } finally {
    await cluster.remove();
  }
});
