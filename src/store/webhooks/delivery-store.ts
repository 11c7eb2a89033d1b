import { batchSize, type Database, inBatches, type Transaction } from '../../db/database.ts';
import { allocateIds } from '../../db/ids.ts';
import { columns, type Fragment, fragment, type Row, type Sql } from '../../db/sql.ts';
import { ApiError } from '../../foundation/errors.ts';
import type { InstallationKey } from '../../foundation/settings/secret-key.ts';
import { toTime } from '../../foundation/time.ts';
import { type Page, type PageRequest, toPage } from '../../http/pagination.ts';
import type { Retention } from '../history/store.ts';
import type { Delivery, DeliveryState } from './schema.ts';
import { webhooks } from './webhook-store.ts';

/** The due time of a delivery that precedes all others. */
export const atOnce = 0;
/** The maximum number of waiting pings and redeliveries of a webhook, so that they cannot flood its receiver. */
export const maxWaitingPings = 10;

const deliveryColumns = columns(
  'id, webhook_id, message_id, event_id, type, state, attempts, next_attempt_at_ms, created_at_ms',
  (row): Delivery => ({
    id: Number(row.id),
    webhookId: Number(row.webhookId),
    messageId: String(row.messageId),
    ...(row.eventId !== null && { eventId: Number(row.eventId) }),
    type: String(row.type),
    state: row.state as DeliveryState,
    attempts: JSON.parse(String(row.attempts)),
    ...(Number(row.nextAttemptAtMs) > atOnce && { nextAttemptAt: toTime(row.nextAttemptAtMs) }),
    createdAt: toTime(row.createdAtMs),
  }),
);

/** The deliveries of a webhook, the newest first, below the id `after`. */
export async function listDeliveries(
  sql: Sql,
  workspaceId: number,
  webhookId: number,
  state: DeliveryState | undefined,
  page: PageRequest,
): Promise<Page<Delivery>> {
  await webhooks.get(sql, workspaceId, webhookId);
  const rows = await sql`
    select ${deliveryColumns.list} from deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId}
      ${state ? fragment`and state = ${state}` : fragment``}
      ${page.after > 0 ? fragment`and id < ${page.after}` : fragment``}
    order by id desc limit ${page.limit + 1}`;
  return toPage(rows, page.limit, deliveryColumns.read);
}

/** Adds a ping for the dispatcher. Throws `conflict` if the webhook is disabled, or if `maxWaitingPings` wait. */
export async function createPing(
  sql: Transaction,
  workspaceId: number,
  webhookId: number,
  key: InstallationKey,
): Promise<Delivery> {
  const id = await allocateIds(sql, workspaceId, 'deliveries');
  const { atMs } = sql.context;
  const messageId = key.messageId('ping', workspaceId, id, atMs);
  await assertEnabled(sql, workspaceId, webhookId);
  const waiting = await sql`
    select id from deliveries
    where workspace_id = ${workspaceId} and webhook_id = ${webhookId} and next_attempt_at_ms = ${atOnce}
    limit ${maxWaitingPings}`;
  if (waiting.length === maxWaitingPings)
    throw new ApiError(
      'conflict',
      `This webhook already has ${maxWaitingPings} waiting deliveries. Try again when they are sent.`,
    );
  const [row] = await sql`
    insert into deliveries (workspace_id, id, webhook_id, message_id, type, state, attempts, failures, series,
      next_attempt_at_ms, created_at_ms)
    values (${workspaceId}, ${id}, ${webhookId}, ${messageId}, 'ping', 'pending', '[]', 0, 0,
      ${atOnce}, ${atMs})
    returning ${deliveryColumns.list}`;
  return deliveryColumns.read(row as Row);
}

/** Makes a delivery due again, with a new series of attempts. Throws `conflict` if the webhook is disabled. */
export async function redeliver(
  sql: Transaction,
  workspaceId: number,
  webhookId: number,
  id: number,
): Promise<Delivery> {
  await assertEnabled(sql, workspaceId, webhookId);
  const [row] = await sql`
    update deliveries set state = 'pending', failures = 0, series = series + 1, next_attempt_at_ms = ${atOnce}
    where workspace_id = ${workspaceId} and id = ${id} and webhook_id = ${webhookId} returning ${deliveryColumns.list}`;
  if (!row) throw new ApiError('not_found', 'The webhook has no delivery with this deliveryId.');
  return deliveryColumns.read(row);
}

async function assertEnabled(sql: Sql, workspaceId: number, webhookId: number): Promise<void> {
  const { enabled } = await webhooks.lock(sql, workspaceId, webhookId);
  if (!enabled) throw new ApiError('conflict', 'The webhook is disabled. Enable it first.');
}

/** Deletes in batches the deliveries of deleted webhooks, those older than `maxAgeMs`, and ended ones beyond `maxCount`. */
export async function deleteOldDeliveries(
  db: Database,
  { maxAgeMs, maxCount }: Retention,
  nowMs: number,
): Promise<void> {
  const sequences = await db.read`
    select workspace_id, last_id from sequences where kind = 'deliveries' and last_id > 0 order by workspace_id`;
  for (const [workspaceId = 0, last] of sequences) {
    for (const webhookId of await deletedWebhooks(db.read, Number(workspaceId))) {
      await deleteInBatches(db, fragment`workspace_id = ${workspaceId} and webhook_id = ${webhookId}`);
    }
    // The order of ids stops the search at the first delivery to keep.
    const [oldestKept] = await db.read`
      select id from deliveries where workspace_id = ${workspaceId} and created_at_ms > ${nowMs - maxAgeMs}
      order by id limit 1`;
    const keptFrom = oldestKept?.[0] ?? Number(last) + 1;
    await deleteInBatches(db, fragment`workspace_id = ${workspaceId} and id < ${keptFrom}`);
    const tooFarBack = Number(last) - maxCount;
    await deleteInBatches(
      db,
      fragment`workspace_id = ${workspaceId} and id <= ${tooFarBack} and next_attempt_at_ms is null`,
    );
  }
}

/** The deleted webhooks that still have deliveries. The query skips in the index from one webhook to the next. */
async function deletedWebhooks(sql: Sql, workspaceId: number): Promise<number[]> {
  const next = (above: Fragment) => fragment`
    select min(webhook_id) from deliveries where workspace_id = ${workspaceId} and webhook_id > ${above}`;
  const rows = await sql`
    with recursive named (id) as (
      ${next(fragment`0`)} union all select (${next(fragment`named.id`)}) from named where id is not null
    )
    select id from named where id is not null
      and not exists (select 1 from webhooks w where w.workspace_id = ${workspaceId} and w.id = named.id)`;
  return rows.map(([id]) => Number(id));
}

async function deleteInBatches(db: Database, condition: Fragment): Promise<void> {
  if ((await db.read`select 1 from deliveries where ${condition} limit 1`).length === 0) return;
  await inBatches(
    db,
    (sql) => sql`
      delete from deliveries where (workspace_id, id) in
        (select workspace_id, id from deliveries where ${condition} limit ${batchSize})
      returning id`,
  );
}
