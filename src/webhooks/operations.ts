import { bodyProperty, invalidRequest } from '../foundation/errors.ts';
import { Type } from '../foundation/type.ts';
import { accepted, created, empty, type Installation, operation, page, resource } from '../http/operation.ts';
import { maxWebhooks } from '../limits/plans.ts';
import * as deliveries from './delivery-store.ts';
import { disableAfterMs, retryDelaysMs } from './retry-policy.ts';
import {
  Deliveries,
  Delivery,
  DeliveryState,
  deliveryId,
  NewWebhook,
  Webhook,
  WebhookPatch,
  Webhooks,
  WebhookWithSecret,
  webhookId,
} from './schema.ts';
import * as store from './webhook-store.ts';

const attempts = retryDelaysMs.length + 1;
const disableAfterDays = disableAfterMs / 86_400_000;
const previousSecretHours = store.previousSecretMs / 3_600_000;
const withoutSecret = ({ secret: _, ...webhook }: WebhookWithSecret): Webhook => webhook;

export const webhookOperations = [
  operation({
    method: 'GET',
    path: '/store/webhooks',
    id: 'listWebhooks',
    tag: 'Store',
    summary: 'List webhooks',
    description: 'Returns the webhooks of the workspace in the order of their ids.',
    stability: 'beta',
    success: page<Webhook>(Webhooks, 'A page of webhooks.'),
    handle: (sql, { workspaceId, page }) => store.listWebhooks(sql, workspaceId, page),
  }),

  operation({
    method: 'POST',
    path: '/store/webhooks',
    id: 'createWebhook',
    tag: 'Store',
    summary: 'Add a webhook',
    description: `Adds a webhook, to which each event from now on is sent: a POST to its URL, signed as Standard Webhooks 1.0 says with the \`secret\` of this answer, which no other answer shows. A 2xx within 15 seconds is a success. Else the event is sent again, ${attempts} times in all within about 28 hours; redirects are not followed. 410 disables the webhook, and so do ${disableAfterDays} days of nothing but failures. First attempts go out in the order of events, one at a time; what is sent again does not hold up later events. The history waits for a slow receiver up to a bound. Beyond it the receiver gets \`events.missed\`, which names the gap. An event may arrive more than once: \`webhook-id\` stays the same. The plan limits how many webhooks a workspace has: ${limits()}.`,
    stability: 'beta',
    changesWebhooks: true,
    sendsEvents: true,
    hasSecret: true,
    body: NewWebhook,
    success: created(
      WebhookWithSecret,
      'The new webhook, with its secret.',
      (webhook) => `/store/webhooks/${webhook.id}`,
      withoutSecret,
    ),
    errors: ['conflict'],
    handle: async (sql, { workspaceId, plan, body, installation }) => {
      assertTarget(body.url, installation);
      const salt = installation.key.newSalt();
      const webhook = await store.createWebhook(sql, workspaceId, body, { salt, max: maxWebhooks[plan] });
      return { ...webhook, secret: installation.key.derive(salt) };
    },
  }),

  operation({
    method: 'POST',
    path: '/store/webhooks/{webhookId}/ping',
    id: 'pingWebhook',
    tag: 'Store',
    summary: 'Try a webhook',
    description: `Sends a \`ping\` to the webhook at once, and answers before it is sent. \`listDeliveries\` tells what became of it. Refused with \`conflict\` while the webhook is disabled, or while ${deliveries.maxWaitingPings} pings, or deliveries that are sent again by hand, wait for their turn.`,
    stability: 'beta',
    changesWebhooks: true,
    params: { webhookId },
    success: accepted(Delivery, 'The delivery of the ping.'),
    errors: ['conflict'],
    handle: (sql, { workspaceId, params, installation }) =>
      deliveries.createPing(sql, workspaceId, params.webhookId, installation.key),
  }),

  operation({
    method: 'POST',
    path: '/store/webhooks/{webhookId}/rotate-secret',
    id: 'rotateWebhookSecret',
    tag: 'Store',
    summary: 'Replace the secret of a webhook',
    description: `Gives the webhook a new secret. For ${previousSecretHours} hours the one before signs, too, so that receivers can change over. An older one stops at once.`,
    stability: 'beta',
    changesWebhooks: true,
    hasSecret: true,
    params: { webhookId },
    success: resource(WebhookWithSecret, 'The webhook, with its new secret.', withoutSecret),
    handle: async (sql, { workspaceId, params, installation }) => {
      const salt = installation.key.newSalt();
      const webhook = await store.rotateSecret(sql, workspaceId, params.webhookId, salt);
      return { ...webhook, secret: installation.key.derive(salt) };
    },
  }),

  operation({
    method: 'GET',
    path: '/store/webhooks/{webhookId}/deliveries',
    id: 'listDeliveries',
    tag: 'Store',
    summary: 'List deliveries',
    description:
      'Returns what was sent to a webhook, or will be, the newest first: its state and its attempts. Deliveries are kept for as long as events.',
    stability: 'beta',
    params: { webhookId },
    query: { state: Type.Optional(DeliveryState) },
    success: page<Delivery>(Deliveries, 'A page of deliveries.'),
    handle: (sql, { workspaceId, params, query, page }) =>
      deliveries.listDeliveries(sql, workspaceId, params.webhookId, query.state, page),
  }),

  operation({
    method: 'POST',
    path: '/store/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    id: 'redeliver',
    tag: 'Store',
    summary: 'Send again',
    description:
      'Sends what a delivery carries once more, at once, whatever its state, and answers before it is sent. If that fails, it is sent again as if it were new. Refused with `conflict` while the webhook is disabled.',
    stability: 'beta',
    changesWebhooks: true,
    params: { webhookId, deliveryId },
    success: accepted(Delivery, 'The delivery, which is pending again.'),
    errors: ['conflict'],
    handle: (sql, { workspaceId, params }) =>
      deliveries.redeliver(sql, workspaceId, params.webhookId, params.deliveryId),
  }),

  operation({
    method: 'GET',
    path: '/store/webhooks/{webhookId}',
    id: 'getWebhook',
    tag: 'Store',
    summary: 'Get a webhook',
    description: 'Returns a webhook, without its secret.',
    stability: 'beta',
    params: { webhookId },
    success: resource(Webhook, 'The webhook.'),
    handle: (sql, { workspaceId, params }) => store.getWebhook(sql, workspaceId, params.webhookId),
  }),

  operation({
    method: 'PATCH',
    path: '/store/webhooks/{webhookId}',
    id: 'updateWebhook',
    tag: 'Store',
    summary: 'Change fields of a webhook',
    description:
      'Changes the given fields of a webhook and leaves the others (JSON Merge Patch, RFC 7396). `enabled` of `false` stops it. `true` lets it go on with the event after the last that it was sent. If that is no longer kept, `events.missed` comes first, and then the oldest that is kept. A change counts for every attempt that begins after the answer; other instances apply it a moment later.',
    stability: 'beta',
    changesWebhooks: true,
    params: { webhookId },
    body: WebhookPatch,
    success: resource(Webhook, 'The webhook as it is now.'),
    handle: (sql, { workspaceId, params, body, installation, assertMayChange }) => {
      if (body.url !== undefined) assertTarget(body.url as string, installation);
      return store.updateWebhook(sql, workspaceId, params.webhookId, body, assertMayChange);
    },
  }),

  operation({
    method: 'DELETE',
    path: '/store/webhooks/{webhookId}',
    id: 'deleteWebhook',
    tag: 'Store',
    summary: 'Remove a webhook',
    description: 'Removes a webhook with its deliveries. An attempt that is under way may still arrive.',
    stability: 'beta',
    changesWebhooks: true,
    params: { webhookId },
    success: empty('The webhook was removed.'),
    handle: (sql, { workspaceId, params, assertMayChange }) =>
      store.deleteWebhook(sql, workspaceId, params.webhookId, assertMayChange),
  }),
];

/** Throws `invalid_request` if the policy forbids this URL. */
function assertTarget(url: string, { targetProblem }: Installation): void {
  const problem = targetProblem(url);
  if (problem) throw invalidRequest([{ ...bodyProperty('url'), detail: `must be ${problem}` }]);
}

/** `Free 2, Pro 10` and so on. */
function limits(): string {
  return Object.entries(maxWebhooks)
    .map(([plan, max]) => `${plan.charAt(0).toUpperCase()}${plan.slice(1)} ${max}`)
    .join(', ');
}
