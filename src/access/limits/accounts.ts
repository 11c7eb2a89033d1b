import { batchSize, type Database, inBatches } from '../../db/database.ts';
import { fragment, join, type Row, type Sql } from '../../db/sql.ts';
import { dayMs } from '../../foundation/time.ts';
import type { LimitAccount } from './decision.ts';
import type { AccountOwner } from './limiter.ts';

/** The numbers of an account, in their order. */
const columns = fragment`minute, minute_count, day, day_count, strikes, bans, banned_at_ms, banned_until_ms,
  earlier_day, earlier_day_count`;

const rowsPerStatement = 200;

/** The stored account of a key or an address. Addresses belong to workspace 0. */
export async function findAccount(
  sql: Sql,
  workspaceId: number,
  id: string,
): Promise<LimitAccount | undefined> {
  const [row] = await sql`
    select ${columns}
    from limit_accounts where workspace_id = ${workspaceId} and id = ${id}`;
  return row && toAccount(row);
}

/** Stores accounts, each given once, except those of deleted workspaces. All instances use one order, so they cannot deadlock. */
export async function saveAccounts(
  sql: Sql,
  accounts: (AccountOwner & { account: LimitAccount })[],
): Promise<void> {
  const ordered = accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (let i = 0; i < ordered.length; i += rowsPerStatement) {
    const owned = await stillOwned(sql, ordered.slice(i, i + rowsPerStatement));
    if (owned.length === 0) continue;
    const rows = owned.map(({ workspaceId, id, account: a }) => {
      const windows = fragment`${a.minute}, ${a.minuteCount}, ${a.day}, ${a.dayCount}`;
      const bans = fragment`${a.strikes}, ${a.bans}, ${a.bannedAtMs}, ${a.bannedUntilMs}`;
      return fragment`(${workspaceId}, ${id}, ${windows}, ${bans}, ${a.earlierDay}, ${a.earlierDayCount})`;
    });
    await sql`
      insert into limit_accounts (workspace_id, id, ${columns})
      values ${join(rows, ', ')}
      on conflict (workspace_id, id) do update set
        minute = excluded.minute, minute_count = excluded.minute_count,
        day = excluded.day, day_count = excluded.day_count, strikes = excluded.strikes, bans = excluded.bans,
        banned_at_ms = excluded.banned_at_ms, banned_until_ms = excluded.banned_until_ms,
        earlier_day = excluded.earlier_day, earlier_day_count = excluded.earlier_day_count`;
  }
}

/** The accounts of addresses and of workspaces that still exist. */
async function stillOwned<One extends AccountOwner>(sql: Sql, some: One[]): Promise<One[]> {
  const named = [...new Set(some.map(({ workspaceId }) => workspaceId))].filter((id) => id !== 0);
  if (named.length === 0) return some;
  const rows = await sql`select id from workspaces where id in (${join(named, ', ')})`;
  const there = new Set([0, ...rows.map(([id]) => Number(id))]);
  return some.filter(({ workspaceId }) => there.has(workspaceId));
}

/** Deletes accounts last used before today without a ban that matters. If the clock was ahead then, the earlier day counts. */
export function forgetOldAccounts(db: Database, nowMs: number, memoryMs: number): Promise<void> {
  const today = Math.floor(nowMs / dayMs);
  return inBatches(
    db,
    (sql) => sql`
      delete from limit_accounts where (workspace_id, id) in (
        select workspace_id, id from limit_accounts
        where (day < ${today} or (day > ${today + 1} and earlier_day < ${today}))
          and ((banned_until_ms <= ${nowMs} and banned_at_ms <= ${nowMs - memoryMs})
            or banned_at_ms > ${nowMs + dayMs}) limit ${batchSize})
      returning id`,
  );
}

type Numbers = [number, number, number, number, number, number, number, number, number, number];

/** The account from its ten numbers, in the order of the columns. */
export const toAccount = (row: Row): LimitAccount => {
  const [minute, minuteCount, day, dayCount, ...others] = row.map(Number) as Numbers;
  const [strikes, bans, bannedAtMs, bannedUntilMs, earlierDay, earlierDayCount] = others;
  return {
    ...{ minute, minuteCount, day, dayCount, earlierDay, earlierDayCount },
    ...{ strikes, bans, bannedAtMs, bannedUntilMs },
  };
};
