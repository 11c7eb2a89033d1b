import type { Delivery, EventType, Webhook } from '../../client/index.ts';
import { plain } from './plain-text.ts';

/** Every type of event that this version knows. */
const types: Readonly<Record<EventType, true>> = {
  'category.created': true,
  'category.updated': true,
  'category.deleted': true,
  'pet.created': true,
  'pet.updated': true,
  'pet.deleted': true,
  'inventory.updated': true,
  'order.placed': true,
  'order.updated': true,
  'order.completed': true,
  'order.cancelled': true,
  'workspace.reset': true,
  'workspace.seeded': true,
  'webhook.disabled': true,
};
export const eventTypes = Object.keys(types) as EventType[];

const reasons: Readonly<Record<string, string>> = {
  gone: 'its receiver answered 410',
  failing: 'nothing but failures came of it for too long',
};

/** Whether a webhook is sent to, and why not. */
export function standingOf({ enabled, disabledReason }: Webhook): string {
  if (enabled) return 'enabled';
  const reason = disabledReason && (reasons[disabledReason] ?? plain(disabledReason));
  return reason ? `disabled: ${reason}` : 'disabled by a request';
}

/** What became of the last attempt at a delivery. */
export function outcomeOf({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (!last) return 'none has ended yet';
  const { status, error, durationMs } = last;
  const outcome = error ? plain(error.replace(/\.$/, '')) : `Answered ${status ?? 'nothing'}`;
  return `${outcome}, in ${durationMs} ms`;
}

export const tones: Readonly<Record<string, string>> = { delivered: 'good', failed: 'bad', pending: 'warn' };
