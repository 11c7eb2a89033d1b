import type { Transaction } from '../../db/database.ts';
import { allocateIds } from '../../db/ids.ts';
import { columns, fragment, type Row } from '../../db/sql.ts';
import { ApiError } from '../../foundation/errors.ts';
import { mergePatch } from '../../foundation/schema.ts';
import { toTime } from '../../foundation/time.ts';
import { recordEvent } from '../history/record.ts';
import { extentOf } from '../history/store.ts';
import { ResourceTable } from '../resources/resource-table.ts';
import {
  type DisabledReason,
  type EventType,
  type NewWebhook,
  type Webhook,
  webhookDisabled,
} from './schema.ts';

/** How long the previous secret also signs. */
export const previousSecretMs = 24 * 60 * 60 * 1000;

const webhookColumns = columns(
  'id, url, types, description, enabled, disabled_reason, created_at_ms, previous_until_ms, missed_count, missed_last_id, missed_at_ms',
  (row): Webhook => ({
    id: Number(row.id),
    url: String(row.url),
    ...(row.types !== null && { types: toTypes(row.types) as EventType[] }),
    ...(row.description !== null && { description: String(row.description) }),
    enabled: row.enabled === 1,
    ...(row.disabledReason !== null && { disabledReason: row.disabledReason as DisabledReason }),
    createdAt: toTime(row.createdAtMs),
    ...(row.previousUntilMs !== null && { previousSecretValidUntil: toTime(row.previousUntilMs) }),
    ...(row.missedLastId !== null && {
      missedEvents: {
        count: Number(row.missedCount),
        lastEventId: Number(row.missedLastId),
        noticedAt: toTime(row.missedAtMs),
      },
    }),
  }),
);

/** Changes of the deliveries of a webhook need its lock. */
export const webhooks = new ResourceTable({
  table: 'webhooks',
  columns: webhookColumns,
  lockColumn: 'url',
  notFound: 'There is no webhook with this webhookId.',
});

/** Adds a webhook that gets events from now on. Its secret is derived from `salt`. Throws `conflict` if there are `max` webhooks. */
export async function createWebhook(
  sql: Transaction,
  workspaceId: number,
  { url, types, description }: NewWebhook,
  { salt, max }: { salt: string; max: number },
): Promise<Webhook> {
  // Locks the sequence, so that webhooks are counted one by one.
  const id = await allocateIds(sql, workspaceId, 'webhooks');
  const [count] = await sql`select count(*) from webhooks where workspace_id = ${workspaceId}`;
  if (Number(count?.[0]) >= max)
    throw new ApiError(
      'conflict',
      `This workspace has ${count?.[0]} webhooks. The plan of this API key allows ${max}. Remove one first.`,
    );
  const { last } = await extentOf(sql, workspaceId);
  const [row] = await sql`
    insert into webhooks (
      workspace_id, id, url, types, description, enabled, created_at_ms, salt, position, lease_until_ms)
    values (${workspaceId}, ${id}, ${url}, ${types ? JSON.stringify(types) : null}, ${description ?? null}, 1,
      ${sql.context.atMs}, ${salt}, ${last}, 0)
    returning ${webhookColumns.list}`;
  return webhookColumns.read(row as Row);
}

/** Changes a webhook if `check` accepts it. Enabled, it continues from its position. Enabling or a new URL clears failures. */
export async function updateWebhook(
  sql: Transaction,
  workspaceId: number,
  id: number,
  patch: object,
  check: (current: Webhook) => void,
): Promise<Webhook> {
  const before = await webhooks.lock(sql, workspaceId, id);
  check(before);
  const { url, types, description, enabled } = mergePatch(before, patch);
  const isToggled = enabled !== before.enabled;
  const [row] = await sql`
    update webhooks set url = ${url}, types = ${types ? JSON.stringify(types) : null},
      description = ${description ?? null}, enabled = ${Number(enabled)},
      disabled_reason = ${isToggled ? null : (before.disabledReason ?? null)}
      ${isToggled || url !== before.url ? fragment`, failing_since_ms = null` : fragment``}
    where workspace_id = ${workspaceId} and id = ${id} returning ${webhookColumns.list}`;
  return webhookColumns.read(row as Row);
}

/** Gives a webhook a new salt. The previous secret also signs for `previousSecretMs`. */
export async function rotateSecret(
  sql: Transaction,
  workspaceId: number,
  id: number,
  salt: string,
): Promise<Webhook> {
  const [row] = await sql`
    update webhooks set previous_salt = salt, previous_until_ms = ${sql.context.atMs + previousSecretMs}, salt = ${salt}
    where workspace_id = ${workspaceId} and id = ${id} returning ${webhookColumns.list}`;
  return row ? webhookColumns.read(row) : webhooks.throwNotFound();
}

/** Removes a webhook if `check` accepts it. The next sweep removes its deliveries, which may be many. */
export async function deleteWebhook(
  sql: Transaction,
  workspaceId: number,
  id: number,
  check: (current: Webhook) => void,
): Promise<void> {
  check(await webhooks.lock(sql, workspaceId, id));
  await sql`delete from webhooks where workspace_id = ${workspaceId} and id = ${id}`;
}

/** Disables a webhook, and records the event. Does nothing if it is disabled or gone. */
export async function disableWebhook(
  sql: Transaction,
  workspaceId: number,
  id: number,
  reason: DisabledReason,
): Promise<void> {
  const [row] = await sql`
    update webhooks set enabled = 0, disabled_reason = ${reason}, failing_since_ms = null
    where workspace_id = ${workspaceId} and id = ${id} and enabled = 1 returning ${webhookColumns.list}`;
  if (row) recordEvent(sql, workspaceId, webhookDisabled, webhookColumns.read(row));
}

/** Parses the column of types. Undefined for all types. */
export const toTypes = (types: Row[number] | undefined): EventType[] | undefined =>
  typeof types === 'string' ? JSON.parse(types) : undefined;
