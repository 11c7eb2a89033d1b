import type { Transaction } from '../db/database.ts';
import { fragment, type Row, type Sql } from '../db/sql.ts';
import { ApiError } from '../errors.ts';
import { record } from '../history/record.ts';
import { extentOf } from '../history/store.ts';
import type { EventType } from '../history/types.ts';
import { toTime } from '../instant.ts';
import { type Page, type PageRequest, toPage } from '../page.ts';
import { mergePatch } from '../schema.ts';
import { allocateIds } from '../workspaces/store.ts';
import type { DisabledReason, NewWebhook, Webhook } from './schema.ts';

/** How long the secret before the present one signs, too. */
export const previousSecretMs = 24 * 60 * 60 * 1000;

const columns = fragment`id, url, types, description, enabled, disabled_reason, created_at_ms, previous_until_ms`;

export async function listWebhooks(sql: Sql, workspaceId: number, page: PageRequest): Promise<Page<Webhook>> {
  const rows = await sql`
    select ${columns} from webhooks
    where workspace_id = ${workspaceId} and id > ${page.after} order by id limit ${page.limit + 1}`;
  return toPage(rows, page.limit, toWebhook);
}

export async function getWebhook(sql: Sql, workspaceId: number, id: number): Promise<Webhook> {
  const [row] = await sql`
    select ${columns} from webhooks where workspace_id = ${workspaceId} and id = ${id}`;
  return toWebhook(row ?? noSuchWebhook());
}

/**
 * Adds a webhook that gets what happens from now on. Its secret follows from `salt`. Throws `conflict` if the workspace has
 * `max` webhooks.
 */
export async function createWebhook(
  sql: Transaction,
  workspaceId: number,
  { url, types, description }: NewWebhook,
  { salt, max }: { salt: string; max: number },
): Promise<Webhook> {
  // Whoever has the next id is the only one who adds a webhook.
  const id = await allocateIds(sql, workspaceId, 'webhooks');
  const [count] = await sql`select count(*) from webhooks where workspace_id = ${workspaceId}`;
  if (Number(count?.[0]) >= max) {
    throw new ApiError(
      'conflict',
      `This workspace has ${count?.[0]} webhooks; the plan of this API key allows ${max}. Remove one first.`,
    );
  }
  const { last } = await extentOf(sql, workspaceId);
  const [row] = await sql`
    insert into webhooks (
      workspace_id, id, url, types, description, enabled, created_at_ms, salt, position, lease_until_ms)
    values (${workspaceId}, ${id}, ${url}, ${types ? JSON.stringify(types) : null}, ${description ?? null}, 1,
      ${sql.cause.atMs}, ${salt}, ${last}, 0)
    returning ${columns}`;
  return toWebhook(row as Row);
}

/**
 * Changes the given fields of a webhook if `check` accepts the present one. To enable it is to go on from its position in the
 * history. Earlier failures are forgotten then, and when it has another URL.
 */
export async function updateWebhook(
  sql: Transaction,
  workspaceId: number,
  id: number,
  patch: object,
  check: (current: Webhook) => void,
): Promise<Webhook> {
  const before = await lockWebhook(sql, workspaceId, id);
  check(before);
  const { url, types, description, enabled } = mergePatch(before, patch);
  const isTurned = enabled !== before.enabled;
  const [row] = await sql`
    update webhooks set url = ${url}, types = ${types ? JSON.stringify(types) : null},
      description = ${description ?? null}, enabled = ${Number(enabled)},
      disabled_reason = ${isTurned ? null : (before.disabledReason ?? null)}
      ${isTurned || url !== before.url ? fragment`, failing_since_ms = null` : fragment``}
    where workspace_id = ${workspaceId} and id = ${id} returning ${columns}`;
  return toWebhook(row as Row);
}

/** Gives a webhook a new salt. The secret of the old one also signs for a day. */
export async function rotateSecret(
  sql: Transaction,
  workspaceId: number,
  id: number,
  salt: string,
): Promise<Webhook> {
  const [row] = await sql`
    update webhooks set previous_salt = salt, previous_until_ms = ${sql.cause.atMs + previousSecretMs}, salt = ${salt}
    where workspace_id = ${workspaceId} and id = ${id} returning ${columns}`;
  return toWebhook(row ?? noSuchWebhook());
}

/** Removes a webhook if `check` accepts it. Its deliveries, which may be many, go with the next sweep. */
export async function deleteWebhook(
  sql: Transaction,
  workspaceId: number,
  id: number,
  check: (current: Webhook) => void,
): Promise<void> {
  check(await lockWebhook(sql, workspaceId, id));
  await sql`delete from webhooks where workspace_id = ${workspaceId} and id = ${id}`;
}

/** Disables a webhook for the service's own reasons, and records it. Undefined if it is disabled or gone already. */
export async function disableWebhook(
  sql: Transaction,
  workspaceId: number,
  id: number,
  reason: DisabledReason,
): Promise<Webhook | undefined> {
  const [row] = await sql`
    update webhooks set enabled = 0, disabled_reason = ${reason}, failing_since_ms = null
    where workspace_id = ${workspaceId} and id = ${id} and enabled = 1 returning ${columns}`;
  if (!row) return undefined;
  const webhook = toWebhook(row);
  record(sql, workspaceId, 'webhook.disabled', webhook);
  return webhook;
}

/** The webhook, locked until the transaction ends. Whoever changes deliveries of it holds this lock. */
export async function lockWebhook(sql: Sql, workspaceId: number, id: number): Promise<Webhook> {
  const [row] = await sql`
    update webhooks set url = url where workspace_id = ${workspaceId} and id = ${id} returning ${columns}`;
  return toWebhook(row ?? noSuchWebhook());
}

function noSuchWebhook(): never {
  throw new ApiError('not_found', 'There is no webhook with this webhookId.');
}

/** The types of a column; undefined for all. */
export const toTypes = (types: Row[number] | undefined): EventType[] | undefined =>
  typeof types === 'string' ? JSON.parse(types) : undefined;

function toWebhook([
  id,
  url,
  types,
  description,
  enabled,
  reason,
  createdAtMs,
  previousUntilMs,
]: Row): Webhook {
  return {
    id: Number(id),
    url: String(url),
    ...(types !== null && { types: toTypes(types) as EventType[] }),
    ...(description !== null && { description: String(description) }),
    enabled: enabled === 1,
    ...(reason !== null && { disabledReason: reason as DisabledReason }),
    createdAt: toTime(createdAtMs),
    ...(previousUntilMs !== null && { previousSecretValidUntil: toTime(previousUntilMs) }),
  };
}
