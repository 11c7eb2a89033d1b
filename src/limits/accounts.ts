import { batchSize, inBatches } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { fragment, join, type Row, type Sql } from '../db/sql.ts';
import { type Account, dayMs } from './decision.ts';
import type { Subject } from './limiter.ts';

const rowsPerStatement = 200;

/** The stored account of a key or an address; addresses belong to workspace 0. */
export async function findAccount(sql: Sql, workspaceId: number, id: string): Promise<Account | undefined> {
  const [row] = await sql`
    select minute, minute_count, day, day_count, strikes, bans, banned_at_ms, banned_until_ms
    from limit_accounts where workspace_id = ${workspaceId} and id = ${id}`;
  return row && toAccount(row);
}

/**
 * Stores accounts over their older states, but for those of workspaces that were deleted meanwhile. Each account may be in
 * the list only once. All instances write in the same order, so that they cannot deadlock.
 */
export async function saveAccounts(sql: Sql, accounts: (Subject & { account: Account })[]): Promise<void> {
  const ordered = accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (let i = 0; i < ordered.length; i += rowsPerStatement) {
    const owned = await stillOwned(sql, ordered.slice(i, i + rowsPerStatement));
    if (owned.length === 0) continue;
    const rows = owned.map(({ workspaceId, id, account: a }) => {
      const windows = fragment`${a.minute}, ${a.minuteCount}, ${a.day}, ${a.dayCount}`;
      const bans = fragment`${a.strikes}, ${a.bans}, ${a.bannedAtMs}, ${a.bannedUntilMs}`;
      return fragment`(${workspaceId}, ${id}, ${windows}, ${bans})`;
    });
    await sql`
      insert into limit_accounts
        (workspace_id, id, minute, minute_count, day, day_count, strikes, bans, banned_at_ms, banned_until_ms)
      values ${join(rows, ', ')}
      on conflict (workspace_id, id) do update set
        minute = excluded.minute, minute_count = excluded.minute_count,
        day = excluded.day, day_count = excluded.day_count, strikes = excluded.strikes, bans = excluded.bans,
        banned_at_ms = excluded.banned_at_ms, banned_until_ms = excluded.banned_until_ms`;
  }
}

/** Those that belong to an address, or to a workspace that is still there. */
async function stillOwned<One extends Subject>(sql: Sql, some: One[]): Promise<One[]> {
  const named = [...new Set(some.map(({ workspaceId }) => workspaceId))].filter((id) => id !== 0);
  if (named.length === 0) return some;
  const rows = await sql`select id from workspaces where id in (${join(named, ', ')})`;
  const there = new Set([0, ...rows.map(([id]) => Number(id))]);
  return some.filter(({ workspaceId }) => there.has(workspaceId));
}

/** Deletes accounts that were last used before today and have no ban that still matters. */
export function forgetOldAccounts(db: Database, nowMs: number, memoryMs: number): Promise<void> {
  return inBatches(
    db,
    (sql) => sql`
      delete from limit_accounts where (workspace_id, id) in (
        select workspace_id, id from limit_accounts
        where day < ${Math.floor(nowMs / dayMs)} and banned_until_ms <= ${nowMs}
          and banned_at_ms <= ${nowMs - memoryMs} limit ${batchSize})
      returning id`,
  );
}

/** The account from eight numbers in the order of the table's columns. */
export const toAccount = (row: Row): Account => {
  const [minute, minuteCount, day, dayCount, strikes, bans, bannedAtMs, bannedUntilMs] = row.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { minute, minuteCount, day, dayCount, strikes, bans, bannedAtMs, bannedUntilMs };
};
