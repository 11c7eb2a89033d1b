import type { Database, Transaction } from '../../db/database.ts';
import { type Fragment, fragment, type Row, type Sql } from '../../db/sql.ts';
import { isActive } from '../key-binding.ts';
import type { CompiledRehearsal } from './compiled-rehearsal.ts';
import {
  type Advance,
  claim,
  countTouch,
  noProgress,
  type Progress,
  type ScopeProgress,
  type SelectedFaults,
} from './progress.ts';

type Named = Pick<CompiledRehearsal, 'workspaceId' | 'id'>;

/** Stands in the column `operation` for the progress with the scope `key`. */
const ofAllOperations = '';

/** Selects by the stored progress, which all instances share. Writes only changes. Undefined if the rehearsal has ended. */
export async function advanceStored(
  db: Database,
  rehearsal: Named,
  nowMs: number,
  operationId: string,
  advance: (progress: Progress) => Advance,
): Promise<SelectedFaults | undefined> {
  const { workspaceId, id } = rehearsal;
  const rows = await db.read`
    select p.operation, p.state from rehearsals r left join rehearsal_progress p
      on p.workspace_id = r.workspace_id and p.rehearsal_id = r.id and p.operation in (${ofAllOperations}, ${operationId})
    where r.workspace_id = ${workspaceId} and r.id = ${id} and ${isActive(nowMs)}`;
  if (rows.length === 0) return undefined;
  const seen = toProgress(rows);
  const expected = advance(seen);
  if (expected.progress === seen) return expected.selected;
  return db.write(
    async (sql) => {
      const progress = await lockProgress(sql, rehearsal, operationId, isActive(nowMs));
      if (!progress) return undefined;
      const advanced = advance(progress);
      await saveProgress(sql, rehearsal, operationId, progress, advanced.progress);
      return advanced.selected;
    },
    { atMs: nowMs, workspaceId },
  );
}

/** Counts a late step, and runs `change` in its transaction. False, without a write, if it is used up or the rehearsal has ended. */
export function claimStep(
  db: Database,
  rehearsal: CompiledRehearsal,
  nowMs: number,
  operationId: string,
  index: number,
  change?: (sql: Transaction) => Promise<unknown>,
): Promise<boolean> {
  const { workspaceId, id, steps } = rehearsal;
  return db.write(
    async (sql) => {
      const progress = await lockProgress(sql, rehearsal, operationId, isActive(nowMs));
      const claimed = progress && claim(steps, progress, index);
      if (!claimed || claimed === progress) return false;
      await change?.(sql);
      await saveProgress(sql, rehearsal, operationId, progress, claimed);
      return true;
    },
    { atMs: nowMs, requestId: id, workspaceId },
  );
}

/** Counts conditions that have changed a response, also if the rehearsal has ended meanwhile. */
export async function countTouched(
  db: Database,
  rehearsal: CompiledRehearsal,
  nowMs: number,
  operationId: string,
  indexes: readonly number[],
): Promise<void> {
  const { workspaceId, steps } = rehearsal;
  await db.write(
    async (sql) => {
      const before = await lockProgress(sql, rehearsal, operationId, fragment`true`);
      if (!before) return;
      const after = indexes.reduce((progress, index) => countTouch(steps, progress, index), before);
      await saveProgress(sql, rehearsal, operationId, before, after);
    },
    { atMs: nowMs, workspaceId },
  );
}

/** Reads the progress and locks the rehearsal until the transaction ends. Returns undefined if no row meets `condition`. */
async function lockProgress(
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
    where workspace_id = ${workspaceId} and rehearsal_id = ${id} and operation in (${ofAllOperations}, ${operationId})`;
  return toProgress(rows);
}

async function saveProgress(
  sql: Sql,
  { workspaceId, id }: Named,
  operationId: string,
  before: Progress,
  after: Progress,
): Promise<void> {
  const places = { operation: operationId, key: ofAllOperations };
  for (const scope of ['operation', 'key'] as const) {
    if (after[scope] === before[scope]) continue;
    await sql`
      insert into rehearsal_progress (workspace_id, rehearsal_id, operation, state)
      values (${workspaceId}, ${id}, ${places[scope]}, ${JSON.stringify(after[scope])})
      on conflict (workspace_id, rehearsal_id, operation) do update set state = excluded.state`;
  }
}

function toProgress(rows: readonly Row[]): Progress {
  const parse = (row: Row | undefined) => (row ? parseProgress(row[1]) : noProgress);
  const stored = rows.filter(([operation]) => operation !== null);
  return {
    operation: parse(stored.find(([operation]) => operation !== ofAllOperations)),
    key: parse(stored.find(([operation]) => operation === ofAllOperations)),
  };
}

export const parseProgress = (state: unknown): ScopeProgress => JSON.parse(String(state));
