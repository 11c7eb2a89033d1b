import type { Transaction } from '../../db/database.ts';
import { allocateIds } from '../../db/ids.ts';
import { columns, fragment, type Sql } from '../../db/sql.ts';
import type { InstallationKey } from '../../foundation/settings/secret-key.ts';
import type { StoredEvent } from '../history/store.ts';
import { atOnce } from './delivery-store.ts';
import { leaseLost, settingsColumns, type WebhookRef, type WebhookSettings } from './lease-store.ts';
import { type AttemptResult, resultFor } from './retry-policy.ts';
import { disableWebhook } from './webhook-store.ts';

/** The maximum number of stored attempts of a delivery: more than two series. */
const maxAttemptsKept = 20;
/** The type of the message about missed events. */
export const missedType = 'events.missed';

export interface DueDelivery {
  id: number;
  messageId: string;
  /** Undefined for a ping. */
  eventId: number | undefined;
  /** The first missed event, in a message about missed events. `eventId` is the last. */
  missedFrom: number | undefined;
  /** JSON. */
  attempts: string;
  /** The failed attempts of the current series. */
  failures: number;
  /** Grows with each redelivery that a caller requests. */
  series: number;
  createdAtMs: number;
}

const dueColumns = columns(
  'id, message_id, event_id, missed_from, attempts, failures, series, created_at_ms',
  (row): DueDelivery => ({
    id: Number(row.id),
    messageId: String(row.messageId),
    eventId: row.eventId === null ? undefined : Number(row.eventId),
    missedFrom: row.missedFrom === null ? undefined : Number(row.missedFrom),
    attempts: String(row.attempts),
    failures: Number(row.failures),
    series: Number(row.series),
    createdAtMs: Number(row.createdAtMs),
  }),
);

/** The due deliveries of a webhook, the longest waiting first. */
export async function findDue(
  sql: Sql,
  { workspaceId, id }: WebhookRef,
  nowMs: number,
  limit: number,
): Promise<DueDelivery[]> {
  const rows = await sql`
    select ${dueColumns.list} from deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${id} and next_attempt_at_ms <= ${nowMs}
    order by next_attempt_at_ms, id limit ${limit}`;
  return rows.map(dueColumns.read);
}

/** The oldest message about missed events that has no attempt yet. */
export async function findUnsentMissed(
  sql: Sql,
  { workspaceId, id }: WebhookRef,
): Promise<DueDelivery | undefined> {
  const [row] = await sql`
    select ${dueColumns.list} from deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${id} and next_attempt_at_ms = ${atOnce}
      and type = ${missedType} and attempts = '[]' order by id limit 1`;
  return row && dueColumns.read(row);
}

export interface FirstAttempt {
  event: Pick<StoredEvent, 'id' | 'type'>;
  messageId: string;
  result: AttemptResult;
}

/** Writes at least one first attempt in the order of events, and moves the position. Throws LeaseLostError without the lease. */
export async function recordFirstAttempts(
  sql: Transaction,
  webhook: WebhookRef,
  owner: string,
  attempts: readonly FirstAttempt[],
): Promise<WebhookSettings> {
  const { workspaceId } = webhook;
  const ids = attempts.map(({ event }) => event.id);
  const [first, last] = [ids.at(0) as number, ids.at(-1) as number];
  const id = await allocateIds(sql, workspaceId, 'deliveries', attempts.length);
  const sent = attempts.map(({ result }) => result);
  const [row] = await sql`
    update webhooks set position = ${last}, ${failingSince(sql, sent)}
    where workspace_id = ${workspaceId} and id = ${webhook.id} and lease_owner = ${owner} and position < ${first}
    returning ${settingsColumns.list}`;
  if (!row) return readRecorded(sql, webhook, owner, last);
  const after = settingsColumns.read(row);
  const results = sent.map((result) => resultFor(after.url, result));
  await Promise.all(
    attempts.map(({ event, messageId }, i) => {
      const result = results[i] as AttemptResult;
      return sql`
        insert into deliveries (workspace_id, id, webhook_id, message_id, event_id, type, state, attempts, failures,
          series, next_attempt_at_ms, created_at_ms)
        values (${workspaceId}, ${id + i}, ${webhook.id}, ${messageId}, ${event.id}, ${event.type}, ${result.state},
          ${JSON.stringify([result.attempt])}, ${result.failures}, 0, ${result.nextAttemptAtMs ?? null},
          ${Date.parse(result.attempt.at)})`;
    }),
  );
  return disableIfNeeded(sql, webhook, after, results);
}

/** The settings, if the results are already written: the first commit succeeded, but its response was lost. */
async function readRecorded(
  sql: Transaction,
  { workspaceId, id }: WebhookRef,
  owner: string,
  position: number,
): Promise<WebhookSettings> {
  const [row] = await sql`
    select ${settingsColumns.list} from webhooks
    where workspace_id = ${workspaceId} and id = ${id} and lease_owner = ${owner} and position >= ${position}`;
  return settingsColumns.read(row ?? leaseLost());
}

/** The ids of the first and the last event that expired before they were sent. */
export interface Missed {
  first: number;
  last: number;
}

/** Records missed events, moves the position past them, and adds the message. Throws LeaseLostError without the lease. */
export async function recordMissed(
  sql: Transaction,
  { workspaceId, id: webhookId }: WebhookRef,
  owner: string,
  { first, last }: Missed,
  key: Pick<InstallationKey, 'messageId'>,
): Promise<void> {
  const { atMs } = sql.context;
  const id = await allocateIds(sql, workspaceId, 'deliveries');
  const [row] = await sql`
    update webhooks set position = ${last}, missed_count = missed_count + ${last - first + 1}, missed_last_id = ${last},
      missed_at_ms = ${atMs}
    where workspace_id = ${workspaceId} and id = ${webhookId} and lease_owner = ${owner} and position < ${last}
    returning id`;
  if (!row) leaseLost();
  await sql`
    insert into deliveries (workspace_id, id, webhook_id, message_id, event_id, missed_from, type, state, attempts,
      failures, series, next_attempt_at_ms, created_at_ms)
    values (${workspaceId}, ${id}, ${webhookId}, ${key.messageId('missed', workspaceId, id, atMs)}, ${last}, ${first},
      ${missedType}, 'pending', '[]', 0, 0, ${atOnce}, ${atMs})`;
}

/** Writes a retry of a delivery. Throws LeaseLostError, and writes nothing, if `owner` has lost the lease. */
export async function recordRetry(
  sql: Transaction,
  webhook: WebhookRef,
  owner: string,
  due: DueDelivery,
  sent: AttemptResult,
): Promise<WebhookSettings> {
  const { workspaceId } = webhook;
  const [row] = await sql`
    update webhooks set ${failingSince(sql, [sent])}
    where workspace_id = ${workspaceId} and id = ${webhook.id} and lease_owner = ${owner} returning ${settingsColumns.list}`;
  const after = settingsColumns.read(row ?? leaseLost());
  const result = resultFor(after.url, sent);
  const attempts = [...JSON.parse(due.attempts), result.attempt].slice(-maxAttemptsKept);
  // After a request for a redelivery it stays due. A repeated commit finds other attempts, so it changes nothing.
  const isCurrent = fragment`series = ${due.series}`;
  await sql`
    update deliveries set attempts = ${JSON.stringify(attempts)},
      state = case when ${isCurrent} then ${result.state} else state end,
      failures = case when ${isCurrent} then ${result.failures} else failures end,
      next_attempt_at_ms = case when ${isCurrent} then ${result.nextAttemptAtMs ?? null} else next_attempt_at_ms end
    where workspace_id = ${workspaceId} and id = ${due.id} and attempts = ${due.attempts}`;
  return disableIfNeeded(sql, webhook, after, [result]);
}

async function disableIfNeeded(
  sql: Transaction,
  { workspaceId, id }: WebhookRef,
  after: WebhookSettings,
  results: readonly AttemptResult[],
): Promise<WebhookSettings> {
  const disable = results.find(({ disable }) => disable)?.disable;
  if (disable) await disableWebhook(sql, workspaceId, id, disable);
  return disable ? { ...after, enabled: false } : after;
}

/** Updates `failing_since_ms` by the results of the last URL, unless the webhook has another URL now. */
function failingSince({ context }: Transaction, results: readonly AttemptResult[]) {
  const url = results.at(-1)?.url;
  if (url === undefined) return fragment`failing_since_ms = failing_since_ms`;
  const states = results.filter((result) => result.url === url).map(({ receiver }) => receiver);
  const since =
    states.at(-1) === 'healthy'
      ? fragment`null`
      : states.includes('healthy')
        ? fragment`${context.atMs}`
        : fragment`coalesce(failing_since_ms, ${context.atMs})`;
  return fragment`failing_since_ms = case when url = ${url} then ${since} else failing_since_ms end`;
}
