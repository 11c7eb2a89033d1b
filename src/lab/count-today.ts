import type { Subject } from '../access/limits/limiter.ts';
import type { Sql } from '../db/sql.ts';
import { dayMs, hourMs } from '../foundation/time.ts';

/** Adds to a count of this day (UTC), in the table of such counts for Idempotency-Keys, which keeps them for a day. Returns the sum. */
export async function countToday(sql: Sql, { workspaceId, id }: Subject, more: number, nowMs: number) {
  const firstHour = Math.floor(nowMs / dayMs) * (dayMs / hourMs);
  const [row] = await sql`
    insert into idempotency_hours (workspace_id, account, hour, kept, bytes)
    values (${workspaceId}, ${id}, ${firstHour}, ${more}, 0)
    on conflict (workspace_id, account, hour) do update set kept = idempotency_hours.kept + excluded.kept
    returning kept`;
  return Number(row?.[0]);
}
