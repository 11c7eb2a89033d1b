import type { Transaction } from '../db/database.ts';
import { fragment, type Row, type Sql } from '../db/sql.ts';
import type { StoredEvent } from '../history/store.ts';
import type { EventType } from '../history/types.ts';
import type { InstallationKey } from '../secret-key.ts';
import { allocateIds } from '../workspaces/store.ts';
import type { Result } from './result.ts';
import { disableWebhook, toTypes } from './store.ts';

/** So many attempts of a delivery are kept: those of two series and more. */
const maxAttemptsKept = 20;

/** Which webhook it is. */
export interface WebhookRef {
  workspaceId: number;
  id: number;
}

/** What has to be known of a webhook to send to it. */
export interface Settings {
  url: string;
  types: EventType[] | undefined;
  enabled: boolean;
  salt: string;
  previousSalt: string | undefined;
  previousUntilMs: number;
  /** The id of the last event that was sent or left out. */
  position: number;
  /** Since when nothing but failures came of it. */
  failingSinceMs: number | undefined;
}

/** Who works on a webhook, and until when nobody else may. */
export interface Lease {
  owner: string;
  untilMs: number;
}

/** Another instance has taken over, or the webhook is gone. */
export class LeaseLostError extends Error {}

const settings = fragment`url, types, enabled, salt, previous_salt, previous_until_ms, position, failing_since_ms`;

/**
 * The workspaces with enabled webhooks, by how many events the slowest webhook of all is behind, and how many have a secret
 * of another key.
 */
export async function overview(
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

/**
 * Webhooks for which there is something to send, and on which nobody works, or `owner`. At most `perWorkspace` of a workspace, and
 * those first that have waited for longest.
 */
export async function findWork(
  sql: Sql,
  owner: string,
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
      where w.enabled = 1 and (w.lease_until_ms <= ${nowMs} or w.lease_owner = ${owner})
        and (s.last_id > w.position or exists (
          select 1 from deliveries d
          where d.workspace_id = w.workspace_id and d.webhook_id = w.id and d.next_attempt_at_ms <= ${nowMs}))
    ) with_work where turn <= ${perWorkspace} order by lease_until_ms, workspace_id, id limit ${limit}`;
  return rows.map(([workspaceId, id]) => ({ workspaceId: Number(workspaceId), id: Number(id) }));
}

/** Takes an enabled webhook on which nobody else works. */
export async function takeLease(
  sql: Sql,
  { workspaceId, id }: WebhookRef,
  { owner, untilMs }: Lease,
  nowMs: number,
): Promise<Settings | undefined> {
  const [row] = await sql`
    update webhooks set lease_owner = ${owner}, lease_until_ms = ${untilMs}
    where workspace_id = ${workspaceId} and id = ${id} and enabled = 1
      and (lease_until_ms <= ${nowMs} or lease_owner = ${owner})
    returning ${settings}`;
  return row && toSettings(row);
}

/** The settings as they are now. Throws LeaseLostError if the webhook is gone. */
export async function readSettings(sql: Sql, { workspaceId, id }: WebhookRef): Promise<Settings> {
  const [row] =
    await sql`select ${settings} from webhooks where workspace_id = ${workspaceId} and id = ${id}`;
  return toSettings(row ?? lost());
}

/** Holds a webhook for longer, and stores how far it has been read. Throws LeaseLostError. */
export async function renewLease(
  sql: Sql,
  { workspaceId, id }: WebhookRef,
  { owner, untilMs }: Lease,
  position: number,
): Promise<Settings> {
  const [row] = await sql`
    update webhooks set lease_until_ms = ${untilMs},
      position = case when position < ${position} then ${position} else position end
    where workspace_id = ${workspaceId} and id = ${id} and lease_owner = ${owner} returning ${settings}`;
  return toSettings(row ?? lost());
}

/** Leaves a webhook to others, behind those that were left before. `untilMs` is long ago by the clock of any instance. */
export async function releaseLease(
  sql: Sql,
  { workspaceId, id }: WebhookRef,
  { owner, untilMs }: Lease,
  position: number,
): Promise<void> {
  await sql`
    update webhooks set lease_owner = null, lease_until_ms = ${untilMs},
      position = case when position < ${position} then ${position} else position end
    where workspace_id = ${workspaceId} and id = ${id} and lease_owner = ${owner}`;
}

/** A delivery that is due. */
export interface Due {
  id: number;
  messageId: string;
  eventId: number | undefined;
  /** JSON. */
  attempts: string;
  /** How many attempts of the present series have failed. */
  failures: number;
  /** Which series of attempts it is: each redelivery begins another. */
  series: number;
  createdAtMs: number;
}

/** Deliveries of a webhook that are due, those first that are due for longest. */
export async function findDue(
  sql: Sql,
  { workspaceId, id }: WebhookRef,
  nowMs: number,
  limit: number,
): Promise<Due[]> {
  const rows = await sql`
    select id, message_id, event_id, attempts, failures, series, created_at_ms from deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${id} and next_attempt_at_ms <= ${nowMs}
    order by next_attempt_at_ms, id limit ${limit}`;
  return rows.map(([id, messageId, eventId, attempts, failures, series, createdAtMs]) => ({
    id: Number(id),
    messageId: String(messageId),
    eventId: eventId === null ? undefined : Number(eventId),
    attempts: String(attempts),
    failures: Number(failures),
    series: Number(series),
    createdAtMs: Number(createdAtMs),
  }));
}

/** When the next delivery is due after a time; undefined if none is. */
export async function nextRetryAtMs(sql: Sql, afterMs: number): Promise<number | undefined> {
  const [row] = await sql`
    select min(d.next_attempt_at_ms) from deliveries d
    join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
    where w.enabled = 1 and d.next_attempt_at_ms > ${afterMs}`;
  const atMs = row?.[0] ?? null;
  return atMs === null ? undefined : Number(atMs);
}

/**
 * Writes the first attempt at an event, and moves the position of the webhook behind it. Throws LeaseLostError, and writes
 * nothing, if `owner` no longer holds the webhook.
 */
export async function recordFirst(
  sql: Transaction,
  webhook: WebhookRef,
  owner: string,
  event: StoredEvent & { messageId: string },
  result: Result,
): Promise<Settings> {
  const { workspaceId } = webhook;
  const id = await allocateIds(sql, workspaceId, 'deliveries');
  const [row] = await sql`
    update webhooks set position = ${event.id}, ${failingSince(sql, result)}
    where workspace_id = ${workspaceId} and id = ${webhook.id} and lease_owner = ${owner} and position < ${event.id}
    returning ${settings}`;
  const after = toSettings(row ?? lost());
  await sql`
    insert into deliveries (workspace_id, id, webhook_id, message_id, event_id, type, state, attempts, failures, series,
      next_attempt_at_ms, created_at_ms)
    values (${workspaceId}, ${id}, ${webhook.id}, ${event.messageId}, ${event.id}, ${event.type}, ${result.state},
      ${JSON.stringify([result.attempt])}, ${result.failures}, 0, ${result.nextAttemptAtMs ?? null},
      ${Date.parse(result.attempt.at)})`;
  return settle(sql, webhook, after, result);
}

/** Writes a later attempt at a delivery. Throws LeaseLostError, and writes nothing, if `owner` no longer holds the webhook. */
export async function recordAgain(
  sql: Transaction,
  webhook: WebhookRef,
  owner: string,
  due: Due,
  result: Result,
): Promise<Settings> {
  const { workspaceId } = webhook;
  const [row] = await sql`
    update webhooks set ${failingSince(sql, result)}
    where workspace_id = ${workspaceId} and id = ${webhook.id} and lease_owner = ${owner} returning ${settings}`;
  const after = toSettings(row ?? lost());
  const attempts = [...JSON.parse(due.attempts), result.attempt].slice(-maxAttemptsKept);
  // A redelivery that was asked for meanwhile is still to be made. A transaction that was committed although its answer was
  // lost finds the attempt written.
  const isCurrent = fragment`series = ${due.series}`;
  await sql`
    update deliveries set attempts = ${JSON.stringify(attempts)},
      state = case when ${isCurrent} then ${result.state} else state end,
      failures = case when ${isCurrent} then ${result.failures} else failures end,
      next_attempt_at_ms = case when ${isCurrent} then ${result.nextAttemptAtMs ?? null} else next_attempt_at_ms end
    where workspace_id = ${workspaceId} and id = ${due.id} and attempts = ${due.attempts}`;
  return settle(sql, webhook, after, result);
}

async function settle(
  sql: Transaction,
  { workspaceId, id }: WebhookRef,
  after: Settings,
  { disable }: Result,
): Promise<Settings> {
  if (disable) await disableWebhook(sql, workspaceId, id, disable);
  return disable ? { ...after, enabled: false } : after;
}

function failingSince({ cause }: Transaction, { receiver }: Result) {
  if (receiver === 'well') return fragment`failing_since_ms = null`;
  if (receiver === undefined) return fragment`failing_since_ms = failing_since_ms`;
  return fragment`failing_since_ms = coalesce(failing_since_ms, ${cause.atMs})`;
}

function lost(): never {
  throw new LeaseLostError();
}

function toSettings(row: Row): Settings {
  const [url, types, enabled, salt, previousSalt, previousUntilMs, position, failingSinceMs] = row;
  return {
    url: String(url),
    types: toTypes(types),
    enabled: enabled === 1,
    salt: String(salt),
    previousSalt: previousSalt === null ? undefined : String(previousSalt),
    previousUntilMs: Number(previousUntilMs),
    position: Number(position),
    failingSinceMs: failingSinceMs === null ? undefined : Number(failingSinceMs),
  };
}
