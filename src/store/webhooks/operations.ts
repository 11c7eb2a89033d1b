import { Type } from 'typebox';
import { bodyProperty, invalidRequest } from '../../foundation/errors.ts';
import { maxWebhooks } from '../../foundation/settings/plans.ts';
import { type Installation, operation } from '../../http/operation.ts';
import { created, empty, page, resource, untagged } from '../../http/responses.ts';
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
    description: 'Returns the webhooks of the workspace, ordered by id.',
    stability: 'beta',
    success: page<Webhook>(Webhooks, 'A page of webhooks.'),
    handle: (sql, { workspaceId, page }) => store.webhooks.list(sql, workspaceId, page),
  }),

  operation({
    method: 'POST',
    path: '/store/webhooks',
    id: 'createWebhook',
    tag: 'Store',
    summary: 'Add a webhook',
    description: `Adds a webhook. From now on, the service sends each event to its URL with a POST, signed by Standard Webhooks 1.0 with the \`secret\` of this response. The secret is not shown again. A 2xx within 15 seconds is a success. Otherwise the service retries, up to ${attempts} attempts within about 28 hours. It does not follow redirects. The service disables the webhook after a 410, or when every attempt has failed for ${disableAfterDays} days. First attempts are made in the order of events, one at a time. Retries do not delay later events. The history stores more events for a slow receiver, up to a limit. When the limit is reached, the receiver gets \`events.missed\` with the ids of the first and last missed event. An event may arrive more than once, with the same \`webhook-id\`. The number of webhooks of a workspace depends on the plan: ${limits()}.`,
    stability: 'beta',
    changesWebhooks: true,
    sendsEvents: true,
    hasSecret: true,
    body: NewWebhook,
    success: created(WebhookWithSecret, 'The new webhook, with its secret.', withoutSecret),
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
    description: `Sends a \`ping\` to the webhook as soon as possible. The response does not wait for it: \`listDeliveries\` shows the result. Returns 409 \`conflict\` while the webhook is disabled, or while ${deliveries.maxWaitingPings} pings and redeliveries are waiting.`,
    stability: 'beta',
    changesWebhooks: true,
    params: { webhookId },
    success: untagged(202, Delivery, 'The delivery of the ping.'),
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
    description: `Gives the webhook a new secret. For ${previousSecretHours} hours the service also signs with the previous secret, so that receivers can switch. Older secrets become invalid at once.`,
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
      'Returns the deliveries to a webhook, newest first, with their state and attempts. A delivery is stored for the same time as an event.',
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
      'Sends a delivery again as soon as possible, in any state. The response does not wait for it. If it fails, it is retried like a new one. Returns 409 `conflict` while the webhook is disabled.',
    stability: 'beta',
    changesWebhooks: true,
    params: { webhookId, deliveryId },
    success: untagged(202, Delivery, 'The delivery, which is pending again.'),
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
    handle: (sql, { workspaceId, params }) => store.webhooks.get(sql, workspaceId, params.webhookId),
  }),

  operation({
    method: 'PATCH',
    path: '/store/webhooks/{webhookId}',
    id: 'updateWebhook',
    tag: 'Store',
    summary: 'Change fields of a webhook',
    description:
      'Changes the given fields of a webhook (JSON Merge Patch, RFC 7396). `enabled: false` stops it. `enabled: true` continues after the last event that was sent. If the next event is no longer stored, the receiver gets `events.missed`, and then the oldest stored event. A change applies to every attempt that starts after the response. Other instances apply it a moment later.',
    stability: 'beta',
    changesWebhooks: true,
    params: { webhookId },
    body: WebhookPatch,
    success: resource(Webhook, 'The webhook after the change.'),
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
    description: 'Removes a webhook and its deliveries. An attempt that is in progress may still arrive.',
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
