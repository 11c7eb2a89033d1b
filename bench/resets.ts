/**
 * What it costs a neighbour that workspaces are reset and deleted: how long its writes take while others are reset by a request and by the
 * command, and while one is deleted: `npm run bench -- resets`. `--check` fails the run when a bar is missed, `--against DIR` measures another
 * version of the project.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { maxResetRows } from '../src/lab/lab-bounds.ts';
import { holdAtMost, markdownTable, quantile, readOptions } from './support/comparison.ts';
import { type Servers, withServers } from './support/servers.ts';

const effort = readOptions({ seconds: 5, victims: 4, pets: 50_000, keys: 9_860 });
const project = effort.against ?? new URL('..', import.meta.url).pathname;
/** What a reset or a deletion may add to the longest write of a neighbour. */
const mostAddedMs = 20;
const run = promisify(execFile);

async function measureAll(servers: Servers): Promise<void> {
  const dataDir = join(servers.folder, 'data');
  const command = async (...args: string[]) => {
    const env = { ...process.env, PETSTORE_DATA_DIR: dataDir };
    return (await run(process.execPath, ['bin/petstore.js', ...args], { cwd: project, env })).stdout;
  };
  const keyOf = async (workspace: string) => {
    await command('workspaces', 'create', workspace, '--seed');
    const quota = ['--per-minute', '100000000', '--per-day', '1000000000'];
    const of = ['--plan', 'enterprise', '--workspace', workspace];
    return JSON.parse(await command('keys', 'create', ...of, ...quota, '--json')).key as string;
  };
  const neighbour = await keyOf('neighbour');
  await keyOf('large');
  await command('seed', '--workspace', 'large', '--pets', String(effort.pets));
  const victims: string[] = [];
  for (let i = 0; i < effort.victims; i++) victims.push(await keyOf(`victim-${i}`));
  fill(join(dataDir, 'petstore.db'));

  const { origin } = await servers.startService(dataDir, { project, settings: { PETSTORE_LAB: 'on' } });
  const post = (path: string, key: string, body = '') =>
    fetch(origin + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
    });
  /** Milliseconds that the neighbour's writes take, one after another, while something is done. */
  const whileDoing = async (doing: Promise<unknown>): Promise<number[]> => {
    const tookMs: number[] = [];
    let isDone = false;
    const done = doing.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      const startMs = performance.now();
      const { status } = await post('/v1/categories', neighbour, '{"name":"Dragons"}').then(
        async (answer) => {
          await answer.arrayBuffer();
          return answer;
        },
      );
      tookMs.push(performance.now() - startMs);
      if (status !== 201) throw new Error(`A write of the neighbour got ${status}.`);
    }
    await done;
    return tookMs;
  };
  await whileDoing(sleep(2_000));
  const measured = {
    quiet: await whileDoing(sleep(effort.seconds * 1_000)),
    'resets by requests': await whileDoing(
      (async () => {
        for (const key of victims) {
          await sleep(500);
          const answer = await post('/lab/workspace/reset', key);
          if (answer.status !== 200) throw new Error(await answer.text());
        }
      })(),
    ),
    'a reset by the command': await whileDoing(command('workspaces', 'reset', 'large', '--yes')),
    'a deletion by the command': await whileDoing(command('workspaces', 'delete', 'victim-0', '--yes')),
  };
  const rows = Object.entries(measured).map(([name, tookMs]) => [
    name,
    String(tookMs.length),
    ...[0.5, 0.99, 1].map((share) => quantile(tookMs, share).toFixed(1)),
  ]);
  console.log(markdownTable([['', 'Writes', 'p50 ms', 'p99 ms', 'Longest ms'], ...rows]));
  const quietMs = quantile(measured.quiet, 0.99);
  const { quiet: _, ...disturbed } = measured;
  for (const [name, tookMs] of Object.entries(disturbed)) {
    holdAtMost(`ms more for the longest write: ${name}`, quantile(tookMs, 1) - quietMs, mostAddedMs, effort);
  }
}

/** Fills what is reset to the brim with long rows, beside answers that the lab has kept. */
function fill(path: string): void {
  const db = new DatabaseSync(path);
  const category = db.prepare(
    'insert into categories (workspace_id, id, name, description) values (?, ?, ?, ?)',
  );
  const kept = db.prepare(`
    insert into idempotency_keys (workspace_id, key, fingerprint, status, headers, body, created_at_ms)
    values (?, ?, '/lab/rehearsals', 201, '{}', ?, ?)`);
  db.exec('begin');
  for (const { id } of db.prepare(`select id from workspaces where name like 'victim-%'`).all()) {
    for (let i = 0; i < maxResetRows - 35; i++) {
      category.run(id as number, 100 + i, '🐉'.repeat(200), '🐉'.repeat(2_000));
    }
    for (let i = 0; i < effort.keys; i++) kept.run(id as number, `key ${i}`, 'x'.repeat(13_700), Date.now());
  }
  db.exec('commit');
  db.close();
}

console.log(project);
await withServers(measureAll);
