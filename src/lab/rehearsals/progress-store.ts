import type { Database, Transaction } from '../../db/database.ts';
import { type Fragment, fragment, type Row, type Sql } from '../../db/sql.ts';
import { type Advanced, claim, noPart, type Part, type Progress, touched, type Verdict } from './progress.ts';
import type { Script } from './script.ts';

/** Says which of the rows of rehearsals is meant. */
type Named = Pick<Script, 'workspaceId' | 'id'>;

/** What stands for an operation where the progress is that of the whole key. */
const wholeKey = '';

const goesOnAt = (nowMs: number) => fragment`ended_at_ms is null and expires_at_ms > ${nowMs}`;

/**
 * Decides what happens to a request of a rehearsal by its progress, and moves that on, so that all instances count as one. Returns
 * undefined if the rehearsal is over. While there is nothing to count, nothing is written.
 */
export async function moveOn(
  db: Database,
  rehearsal: Named,
  nowMs: number,
  operationId: string,
  advance: (progress: Progress) => Advanced,
): Promise<Verdict | undefined> {
  const { workspaceId, id } = rehearsal;
  const rows = await db.read`
    select p.operation, p.state from rehearsals r left join rehearsal_progress p
      on p.workspace_id = r.workspace_id and p.rehearsal_id = r.id and p.operation in (${wholeKey}, ${operationId})
    where r.workspace_id = ${workspaceId} and r.id = ${id} and ${goesOnAt(nowMs)}`;
  if (rows.length === 0) return undefined;
  const seen = toProgress(rows);
  const foreseen = advance(seen);
  if (foreseen.progress === seen) return foreseen.verdict;
  return db.write(
    async (sql) => {
      const progress = await holdProgress(sql, rehearsal, operationId, goesOnAt(nowMs));
      if (!progress) return undefined;
      const advanced = advance(progress);
      await saveProgress(sql, rehearsal, operationId, progress, advanced.progress);
      return advanced.verdict;
    },
    { atMs: nowMs, workspaceId },
  );
}

/**
 * Counts a late step that acts now, with what `change` writes then, in the name of the rehearsal. Returns false, and writes nothing, if
 * it is not to be performed any more.
 */
export function claimStep(
  db: Database,
  rehearsal: Script,
  nowMs: number,
  operationId: string,
  index: number,
  change?: (sql: Transaction) => Promise<unknown>,
): Promise<boolean> {
  const { workspaceId, id, steps } = rehearsal;
  return db.write(
    async (sql) => {
      const progress = await holdProgress(sql, rehearsal, operationId, goesOnAt(nowMs));
      const claimed = progress && claim(steps, progress, index);
      if (!claimed || claimed === progress) return false;
      await change?.(sql);
      await saveProgress(sql, rehearsal, operationId, progress, claimed);
      return true;
    },
    { atMs: nowMs, requestId: id, workspaceId },
  );
}

/** Counts conditions that have touched an answer, also if the rehearsal has been ended meanwhile. */
export async function countTouched(
  db: Database,
  rehearsal: Script,
  nowMs: number,
  operationId: string,
  indexes: readonly number[],
): Promise<void> {
  const { workspaceId, steps } = rehearsal;
  await db.write(
    async (sql) => {
      const before = await holdProgress(sql, rehearsal, operationId, fragment`true`);
      if (!before) return;
      const after = indexes.reduce((progress, index) => touched(steps, progress, index), before);
      await saveProgress(sql, rehearsal, operationId, before, after);
    },
    { atMs: nowMs, workspaceId },
  );
}

/** The progress of a rehearsal, whose row is held until the transaction ends. Undefined if there is no such row. */
async function holdProgress(
  sql: Sql,
  { workspaceId, id }: Named,
  operationId: string,
  condition: Fragment,
): Promise<Progress | undefined> {
  const held = await sql`
    update rehearsals set ended_at_ms = ended_at_ms
    where workspace_id = ${workspaceId} and id = ${id} and ${condition} returning id`;
  if (held.length === 0) return undefined;
  const rows = await sql`
    select operation, state from rehearsal_progress
    where workspace_id = ${workspaceId} and rehearsal_id = ${id} and operation in (${wholeKey}, ${operationId})`;
  return toProgress(rows);
}

/** Writes what has changed of the progress of a rehearsal. */
async function saveProgress(
  sql: Sql,
  { workspaceId, id }: Named,
  operationId: string,
  before: Progress,
  after: Progress,
): Promise<void> {
  const places = { operation: operationId, key: wholeKey };
  for (const scope of ['operation', 'key'] as const) {
    if (after[scope] === before[scope]) continue;
    await sql`
      insert into rehearsal_progress (workspace_id, rehearsal_id, operation, state)
      values (${workspaceId}, ${id}, ${places[scope]}, ${JSON.stringify(after[scope])})
      on conflict (workspace_id, rehearsal_id, operation) do update set state = excluded.state`;
  }
}

function toProgress(rows: readonly Row[]): Progress {
  const partOf = (isSuch: (operation: unknown) => boolean) => {
    const row = rows.find(([operation]) => operation !== null && isSuch(operation));
    return row ? toPart(row[1]) : noPart;
  };
  return {
    operation: partOf((operation) => operation !== wholeKey),
    key: partOf((operation) => operation === wholeKey),
  };
}

/** A part of the progress as it is stored. */
export const toPart = (state: unknown): Part => JSON.parse(String(state));
