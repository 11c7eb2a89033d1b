import type { Sql } from '../../db/sql.ts';
import type { InstallationKey } from '../../foundation/settings/secret-key.ts';
import { toTime } from '../../foundation/time.ts';
import { traceparentOfId } from '../../http/trace-context.ts';
import { findEvent, type StoredEvent } from '../history/store.ts';
import type { WebhookRef, WebhookSettings } from './lease-store.ts';
import { type DueDelivery, missedType } from './result-store.ts';
import type { EventsMissed, Ping } from './schema.ts';

/** The body of a message, and the trace context of the reported change, if a request made the change. */
export interface MessageContent {
  body: string;
  traceparent?: string;
}

export function contentOfEvent({
  json,
  requestId,
  traceparent = requestId && traceparentOfId(requestId),
}: StoredEvent): MessageContent {
  return { body: json, ...(traceparent && { traceparent }) };
}

/** The content of a delivery. Undefined if its event is no longer stored. */
export async function contentOfDelivery(
  sql: Sql,
  { workspaceId, id: webhookId }: WebhookRef,
  { eventId, missedFrom, createdAtMs }: DueDelivery,
): Promise<MessageContent | undefined> {
  const timestamp = toTime(createdAtMs);
  if (eventId === undefined) {
    const ping: Ping = { type: 'ping', timestamp, data: { webhookId } };
    return { body: JSON.stringify(ping) };
  }
  if (missedFrom === undefined) {
    const event = await findEvent(sql, workspaceId, eventId);
    return event && contentOfEvent(event);
  }
  const data = { webhookId, firstEventId: missedFrom, lastEventId: eventId };
  const missed: EventsMissed = { type: missedType, timestamp, data };
  return { body: JSON.stringify(missed) };
}

/** The secrets of a webhook that are valid at a time, the newest first. */
export function secretsOf(
  { salt, previousSalt, previousUntilMs }: WebhookSettings,
  key: InstallationKey,
  atMs: number,
): string[] {
  const salts = [salt];
  if (previousSalt !== undefined && atMs < previousUntilMs && key.isFor(previousSalt))
    salts.push(previousSalt);
  return salts.map((salt) => key.derive(salt));
}
