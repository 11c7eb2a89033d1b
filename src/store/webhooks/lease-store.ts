import { columns, fragment, type Sql } from '../../db/sql.ts';
import type { InstallationKey } from '../../foundation/settings/secret-key.ts';
import type { EventType } from './schema.ts';
import { toTypes } from './webhook-store.ts';

/** After this time the lease of an instance that does not renew it expires. */
export const leaseMs = 20_000;
/** A lease that ends later was acquired with a wrong clock, and counts as free. Clocks may differ by half a lease. */
const longestLeaseMs = leaseMs * 1.5;

/** Whether a lease ends in the future. An end after more than a whole lease does not count: the clock was set back meanwhile. */
export const isAhead = (untilMs: number, nowMs: number) => nowMs < untilMs && untilMs <= nowMs + leaseMs;

export interface WebhookRef {
  workspaceId: number;
  id: number;
}

/** The fields of a webhook that its worker needs. */
export interface WebhookSettings {
  url: string;
  types: EventType[] | undefined;
  enabled: boolean;
  salt: string;
  previousSalt: string | undefined;
  previousUntilMs: number;
  /** The id of the last event that was sent or skipped. */
  position: number;
  /** The time of the first failure since the last success. */
  failingSinceMs: number | undefined;
}

/** An instance that asks for leases: the exclusive right to send to a webhook. */
interface Instance {
  owner: string;
  /** Whether no other instance can be running. Then all leases of others belong to stopped instances. */
  isAlone: boolean;
}

/** A condition for webhooks that no other instance has leased. */
const isFree = ({ owner, isAlone }: Instance, nowMs: number) =>
  isAlone
    ? fragment`1 = 1`
    : fragment`(lease_until_ms <= ${nowMs} or lease_until_ms > ${nowMs + longestLeaseMs} or lease_owner = ${owner})`;

/** Another instance has taken over, or the webhook is gone. */
export class LeaseLostError extends Error {}

export function leaseLost(): never {
  throw new LeaseLostError();
}

export const settingsColumns = columns(
  'url, types, enabled, salt, previous_salt, previous_until_ms, position, failing_since_ms',
  (row): WebhookSettings => ({
    url: String(row.url),
    types: toTypes(row.types),
    enabled: row.enabled === 1,
    salt: String(row.salt),
    previousSalt: row.previousSalt === null ? undefined : String(row.previousSalt),
    previousUntilMs: Number(row.previousUntilMs),
    position: Number(row.position),
    failingSinceMs: row.failingSinceMs === null ? undefined : Number(row.failingSinceMs),
  }),
);

/** The workspaces with enabled webhooks, the largest lag in events, and how many secrets were derived from another key. */
export async function readOverview(
  sql: Sql,
  { fingerprint }: Pick<InstallationKey, 'fingerprint'>,
): Promise<{ workspaces: Set<number>; lag: number; lost: number }> {
  const rows = await sql`
    select w.workspace_id, max(s.last_id - w.position),
      count(case when w.salt like ${`${fingerprint}.%`} then null else 1 end)
    from webhooks w
    join workspaces k on k.id = w.workspace_id
    left join sequences s on s.workspace_id = w.workspace_id and s.kind = 'events'
    where w.enabled = 1 group by w.workspace_id`;
  return {
    workspaces: new Set(rows.map(([workspaceId]) => Number(workspaceId))),
    lag: Math.max(0, ...rows.map(([, lag]) => Number(lag))),
    lost: rows.reduce((sum, [, , lost]) => sum + Number(lost), 0),
  };
}

/** Free webhooks with something to send, the longest waiting first. At most `perWorkspace` of each workspace. */
export async function findWork(
  sql: Sql,
  instance: Instance,
  nowMs: number,
  { limit, perWorkspace }: { limit: number; perWorkspace: number },
): Promise<WebhookRef[]> {
  const rows = await sql`
    select workspace_id, id from (
      select w.workspace_id, w.id, w.lease_until_ms,
        row_number() over (partition by w.workspace_id order by w.lease_until_ms, w.id) as turn
      from webhooks w
      join workspaces k on k.id = w.workspace_id
      left join sequences s on s.workspace_id = w.workspace_id and s.kind = 'events'
      where w.enabled = 1 and ${isFree(instance, nowMs)}
        and (s.last_id > w.position or exists (
          select 1 from deliveries d
          where d.workspace_id = w.workspace_id and d.webhook_id = w.id and d.next_attempt_at_ms <= ${nowMs}))
    ) with_work where turn <= ${perWorkspace} order by lease_until_ms, workspace_id, id limit ${limit}`;
  return rows.map(([workspaceId, id]) => ({ workspaceId: Number(workspaceId), id: Number(id) }));
}

/** Leases an enabled webhook, if it is free. */
export async function acquireLease(
  sql: Sql,
  { workspaceId, id }: WebhookRef,
  instance: Instance,
  nowMs: number,
): Promise<WebhookSettings | undefined> {
  const [row] = await sql`
    update webhooks set lease_owner = ${instance.owner}, lease_until_ms = ${nowMs + leaseMs}
    where workspace_id = ${workspaceId} and id = ${id} and enabled = 1 and ${isFree(instance, nowMs)}
    returning ${settingsColumns.list}`;
  return row && settingsColumns.read(row);
}

/** The current settings. Throws LeaseLostError if the webhook is gone. */
export async function readSettings(sql: Sql, { workspaceId, id }: WebhookRef): Promise<WebhookSettings> {
  const [row] =
    await sql`select ${settingsColumns.list} from webhooks where workspace_id = ${workspaceId} and id = ${id}`;
  return settingsColumns.read(row ?? leaseLost());
}

/** Extends or releases a lease. A released one ends in the past of all clocks, to order the waiting. Throws LeaseLostError. */
export async function updateLease(
  sql: Sql,
  { workspaceId, id }: WebhookRef,
  { owner, untilMs, isReleased = false }: { owner: string; untilMs: number; isReleased?: boolean },
  position: number,
): Promise<WebhookSettings> {
  const [row] = await sql`
    update webhooks set lease_owner = ${isReleased ? null : owner}, lease_until_ms = ${untilMs},
      position = case when position < ${position} then ${position} else position end
    where workspace_id = ${workspaceId} and id = ${id} and lease_owner = ${owner} returning ${settingsColumns.list}`;
  return settingsColumns.read(row ?? leaseLost());
}

/** The oldest event that an enabled webhook needs, for a first attempt or a retry. It need not exist yet. Undefined if none. */
export async function oldestNeededEvent(sql: Sql, workspaceId: number): Promise<number | undefined> {
  // Deliveries are created in the order of events, so the first pending one has the oldest event.
  const rows = await sql`
    select w.position, (
      select d.event_id from deliveries d
      where d.workspace_id = ${workspaceId} and d.webhook_id = w.id and d.state = 'pending' and d.event_id is not null
        and d.missed_from is null
      order by d.id limit 1)
    from webhooks w where w.workspace_id = ${workspaceId} and w.enabled = 1`;
  const needed = rows.map(([position, again]) => Math.min(Number(position) + 1, Number(again ?? Infinity)));
  return needed.length > 0 ? Math.min(...needed) : undefined;
}

/** When the next retry is due after a time. Undefined if there is none. */
export async function nextRetryAtMs(sql: Sql, afterMs: number): Promise<number | undefined> {
  const [row] = await sql`
    select min(d.next_attempt_at_ms) from deliveries d
    join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
    where w.enabled = 1 and d.next_attempt_at_ms > ${afterMs}`;
  const atMs = row?.[0] ?? null;
  return atMs === null ? undefined : Number(atMs);
}

/** Whether two filters pass the same types. Undefined: all types. */
export const isSameTypes = (some: readonly string[] | undefined, others: readonly string[] | undefined) =>
  some?.join() === others?.join();
