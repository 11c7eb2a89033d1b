import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BeforeCommit, transaction } from '../../src/db/group-commit.ts';
import { flatten, type Sql, type SqlValue } from '../../src/db/sql.ts';
import { createPet } from '../../src/store/resources/pets/store.ts';
import { postgresPrograms } from '../../test/support/postgres-cluster.ts';
import { onCore, type Result } from './load.ts';

const run = promisify(execFile);

/** As many as an instance has connections that write. */
const clients = 8;
/** Stands for a workspace in what is recorded; no other value is equal. */
const anyWorkspace = 2 ** 40;

/**
 * What PostgreSQL itself makes of the statements of a new pet, a transaction each, in the first `workspaces` workspaces: pgbench on
 * the core of the load, without a service in between.
 */
export async function runPgbench(url: string, workspaces: number, seconds: number): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-pgbench-'));
  try {
    const script = join(folder, 'script.sql');
    const statements = (await statementsOfNewPet()).map((text) => `${text};\n`).join('');
    writeFileSync(script, `\\set workspace random(1, ${workspaces})\nbegin;\n${statements}commit;\n`);
    const effort = ['-c', String(clients), '-j', '1', '-T', String(seconds)];
    const log = ['--log', `--log-prefix=${join(folder, 'log')}`];
    const program = join(postgresPrograms() as string, 'pgbench');
    const command = [...onCore(1), program, '-n', '-M', 'prepared', ...effort, ...log, '-f', script, url];
    await run(command[0] as string, command.slice(1));
    const logs = readdirSync(folder).filter((name) => name.startsWith('log'));
    const lines = logs.flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
    const tookMs = lines.map((line) => Number(line.split(' ')[2]) / 1_000).toSorted((a, b) => a - b);
    const within = (share: number) => tookMs[Math.floor(tookMs.length * share)] as number;
    return { perSecond: tookMs.length / seconds, p50Ms: within(0.5), p99Ms: within(0.99) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The statements that the store sends for a new pet and its event, with their values. */
async function statementsOfNewPet(): Promise<string[]> {
  const texts: string[] = [];
  const sql: Sql = async (template, ...values) => {
    const flat = flatten(template, values, (n) => `$${n}`);
    texts.push(flat.text.replace(/\$(\d+)/g, (_, n) => literal(flat.values[Number(n) - 1] as SqlValue)));
    return [[1]];
  };
  const beforeCommit = new BeforeCommit();
  const context = { atMs: Date.now(), requestId: 'pgbench', workspaceId: anyWorkspace };
  await createPet(transaction(sql, context, beforeCommit), anyWorkspace, { name: 'Bella', categoryId: 1 });
  await beforeCommit.flush(sql);
  return texts.map((text) => text.replace(/\s+/g, ' ').trim());
}

function literal(value: SqlValue): string {
  if (value === anyWorkspace) return ':workspace';
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}
