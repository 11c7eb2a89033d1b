// Made from openapi.json by "npm run generate" (f0b554a9c3a5). Do not edit.

import type * as types from './description.ts';
import type { Int64 } from './exact-json.ts';
import type { List } from './list.ts';
import type { ChangeOptions, CreateOptions, ReadOptions, StreamOptions } from './options.ts';

/** Query parameters of `listPets`. */
export type ListPetsQuery = NonNullable<types.operations['listPets']['parameters']['query']>;

/** Query parameters of `listCategories`. */
export type ListCategoriesQuery = NonNullable<types.operations['listCategories']['parameters']['query']>;

/** Query parameters of `listOrders`. */
export type ListOrdersQuery = NonNullable<types.operations['listOrders']['parameters']['query']>;

/** Query parameters of `listInventory`. */
export type ListInventoryQuery = NonNullable<types.operations['listInventory']['parameters']['query']>;

/** Query parameters of `listEvents`. */
export type ListEventsQuery = NonNullable<types.operations['listEvents']['parameters']['query']>;

/** Query parameters of `streamEvents`. */
export type StreamEventsQuery = NonNullable<types.operations['streamEvents']['parameters']['query']>;

/** Query parameters of `listWebhooks`. */
export type ListWebhooksQuery = NonNullable<types.operations['listWebhooks']['parameters']['query']>;

/** Query parameters of `listDeliveries`. */
export type ListDeliveriesQuery = NonNullable<types.operations['listDeliveries']['parameters']['query']>;

/** Every operation of the API, by its operationId. */
export interface Operations {
  /**
   * List pets: `GET /pets`.
   *
   * Returns the pets that match all filters, ordered by id. With `id` it returns these pets, up to a hundred, on one page unless you set `limit`. With one `id` of an existing pet, the `ETag` is that of the pet: you can send it as `If-Match`. Otherwise it is the `ETag` of the page.
   */
  listPets(query?: ListPetsQuery, options?: ReadOptions): List<types.Pet>;

  /**
   * Add a pet: `POST /pets`.
   *
   * Adds a pet to a category, together with its inventory entry: one unit in stock, or none if its `status` is `sold`.
   */
  createPet(body: types.NewPet, options?: CreateOptions): Promise<types.Pet>;

  /**
   * Get a pet: `GET /pets/{petId}`.
   *
   * Returns a pet. `GET /pets?id=` does the same for one or several pets. For one pet it returns the same `ETag`.
   *
   * **Deprecated** since 2025-12-05. Its sunset is 2030-12-05: it may be removed from then on. Use `GET /pets` instead.
   *
   * @deprecated See above what to use instead.
   */
  getPet(petId: Int64, options?: ReadOptions): Promise<types.Pet>;

  /**
   * Replace a pet: `PUT /pets/{petId}`.
   *
   * Replaces all fields of a pet. Without `status` it becomes `available`. Its inventory entry gets the same status; the stock does not change.
   */
  replacePet(petId: Int64, body: types.NewPet, options?: ChangeOptions): Promise<types.Pet>;

  /**
   * Change fields of a pet: `PATCH /pets/{petId}`.
   *
   * Changes the given fields of a pet (JSON Merge Patch, RFC 7396). A `status` of null becomes `available`.
   *
   * **Beta:** this operation may change, with notice.
   */
  updatePet(petId: Int64, body: types.PetPatch, options?: ChangeOptions): Promise<types.Pet>;

  /**
   * Remove a pet: `DELETE /pets/{petId}`.
   *
   * Removes a pet and its inventory entry. Returns 409 `conflict` while an open order holds units of the pet. Complete orders stay.
   */
  deletePet(petId: Int64, options?: ChangeOptions): Promise<void>;

  /**
   * List categories: `GET /categories`.
   *
   * Returns the categories of pets, ordered by id. A page ends early after 50,000 bytes of names and descriptions.
   */
  listCategories(query?: ListCategoriesQuery, options?: ReadOptions): List<types.Category>;

  /**
   * Add a category: `POST /categories`.
   *
   * Adds a category for pets.
   */
  createCategory(body: types.NewCategory, options?: CreateOptions): Promise<types.Category>;

  /**
   * Get a category: `GET /categories/{categoryId}`.
   *
   * Returns a category.
   */
  getCategory(categoryId: Int64, options?: ReadOptions): Promise<types.Category>;

  /**
   * Replace a category: `PUT /categories/{categoryId}`.
   *
   * Replaces all fields of a category. Without `description`, the old description is removed.
   */
  replaceCategory(
    categoryId: Int64,
    body: types.NewCategory,
    options?: ChangeOptions,
  ): Promise<types.Category>;

  /**
   * Remove a category: `DELETE /categories/{categoryId}`.
   *
   * Removes a category. Returns 409 `conflict` while a pet belongs to it.
   */
  deleteCategory(categoryId: Int64, options?: ChangeOptions): Promise<void>;

  /**
   * List orders: `GET /store/orders`.
   *
   * Returns the orders that match all filters, ordered by id.
   */
  listOrders(query?: ListOrdersQuery, options?: ReadOptions): List<types.Order & { id: Int64 }>;

  /**
   * Place an order: `POST /store/orders`.
   *
   * Places an order. Every field is optional. With `petId` the units are taken from stock at once. If there are too few, the response is 409 `insufficient_stock`. An order with `complete: true` is fulfilled from the start.
   */
  placeOrder(body: types.Order, options?: CreateOptions): Promise<types.Order & { id: Int64 }>;

  /**
   * Get an order: `GET /store/orders/{orderId}`.
   *
   * Returns an order.
   */
  getOrder(orderId: Int64, options?: ReadOptions): Promise<types.Order & { id: Int64 }>;

  /**
   * Change or fulfil an order: `PATCH /store/orders/{orderId}`.
   *
   * Changes the given fields of an open order (JSON Merge Patch, RFC 7396). A new `quantity` changes the stock by the difference. `complete: true` fulfils and closes the order. `petId` cannot change. A request that changes nothing returns the order unchanged, even if it is complete, so you can retry it.
   *
   * **Beta:** this operation may change, with notice.
   */
  updateOrder(
    orderId: Int64,
    body: types.OrderPatch,
    options?: ChangeOptions,
  ): Promise<types.Order & { id: Int64 }>;

  /**
   * Cancel an order: `DELETE /store/orders/{orderId}`.
   *
   * Cancels an open order and returns its units to stock. A complete order cannot be cancelled.
   *
   * **Beta:** this operation may change, with notice.
   */
  cancelOrder(orderId: Int64, options?: ChangeOptions): Promise<void>;

  /**
   * List the inventory: `GET /inventory`.
   *
   * Returns all inventory entries, or those with one status, ordered by pet id.
   */
  listInventory(query?: ListInventoryQuery, options?: ReadOptions): List<types.InventoryItem>;

  /**
   * Get the stock of a pet: `GET /inventory/{petId}`.
   *
   * Returns the inventory entry of a pet.
   */
  getInventory(petId: Int64, options?: ReadOptions): Promise<types.InventoryItem>;

  /**
   * Set the stock of a pet: `PATCH /inventory/{petId}`.
   *
   * Sets the units in stock. This also sets the status of the entry and of its pet. It is `available` above 0, `pending` at 0 with units in open orders, and otherwise `sold`.
   *
   * **Experimental:** this operation may change or be removed without notice.
   */
  updateInventory(
    petId: Int64,
    body: types.InventoryUpdate,
    options?: ChangeOptions,
  ): Promise<types.InventoryItem>;

  /**
   * List events: `GET /store/events`.
   *
   * Returns the events of the workspace, oldest first: from the oldest stored event, or after a position. With `type` a page scans at most 1000 events, so it may be short or empty although more follow. A page ends early after 50,000 bytes of events. Continue while there is a link to the next page. `Last-Event-ID` is the last position that the page has scanned. Send it as `after` to get newer events.
   *
   * **Beta:** this operation may change, with notice.
   */
  listEvents(query?: ListEventsQuery, options?: ReadOptions): List<types.Event>;

  /**
   * Get an event: `GET /store/events/{eventId}`.
   *
   * Returns one event of the workspace, while it is stored.
   *
   * **Beta:** this operation may change, with notice.
   */
  getEvent(eventId: Int64, options?: ReadOptions): Promise<types.Event>;

  /**
   * Follow events: `GET /store/events/stream`.
   *
   * Sends each event as soon as it happens, with its `id`, its type as `event`, and the event as JSON in `data`. The stream starts after the event in `Last-Event-ID` or `after`. Without both, it starts now. It ends after about 15 minutes. It also ends when its key opens more streams than its plan allows, or when the service stops. Then open it again with the last `id`: no event is lost or repeated.
   *
   * **Beta:** this operation may change, with notice.
   */
  streamEvents(
    query?: StreamEventsQuery,
    options?: StreamOptions,
  ): AsyncGenerator<types.Event, never, undefined>;

  /**
   * List webhooks: `GET /store/webhooks`.
   *
   * Returns the webhooks of the workspace, ordered by id.
   *
   * **Beta:** this operation may change, with notice.
   */
  listWebhooks(query?: ListWebhooksQuery, options?: ReadOptions): List<types.Webhook>;

  /**
   * Add a webhook: `POST /store/webhooks`.
   *
   * Adds a webhook. From now on, the service sends each event to its URL with a POST, signed by Standard Webhooks 1.0 with the `secret` of this response. The secret is not shown again. A 2xx within 15 seconds is a success. Otherwise the service retries, up to 9 attempts within about 28 hours. It does not follow redirects. The service disables the webhook after a 410, or when every attempt has failed for 5 days. First attempts are made in the order of events, one at a time. Retries do not delay later events. The history stores more events for a slow receiver, up to a limit. When the limit is reached, the receiver gets `events.missed` with the ids of the first and last missed event. An event may arrive more than once, with the same `webhook-id`. The number of webhooks of a workspace depends on the plan: Free 2, Pro 10, Business 50, Enterprise 100.
   *
   * **Beta:** this operation may change, with notice.
   */
  createWebhook(body: types.NewWebhook, options?: CreateOptions): Promise<types.WebhookWithSecret>;

  /**
   * Try a webhook: `POST /store/webhooks/{webhookId}/ping`.
   *
   * Sends a `ping` to the webhook as soon as possible. The response does not wait for it: `listDeliveries` shows the result. Returns 409 `conflict` while the webhook is disabled, or while 10 pings and redeliveries are waiting.
   *
   * **Beta:** this operation may change, with notice.
   */
  pingWebhook(webhookId: Int64, options?: CreateOptions): Promise<types.Delivery>;

  /**
   * Replace the secret of a webhook: `POST /store/webhooks/{webhookId}/rotate-secret`.
   *
   * Gives the webhook a new secret. For 24 hours the service also signs with the previous secret, so that receivers can switch. Older secrets become invalid at once.
   *
   * **Beta:** this operation may change, with notice.
   */
  rotateWebhookSecret(webhookId: Int64, options?: CreateOptions): Promise<types.WebhookWithSecret>;

  /**
   * List deliveries: `GET /store/webhooks/{webhookId}/deliveries`.
   *
   * Returns the deliveries to a webhook, newest first, with their state and attempts. A delivery is stored for the same time as an event.
   *
   * **Beta:** this operation may change, with notice.
   */
  listDeliveries(webhookId: Int64, query?: ListDeliveriesQuery, options?: ReadOptions): List<types.Delivery>;

  /**
   * Send again: `POST /store/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver`.
   *
   * Sends a delivery again as soon as possible, in any state. The response does not wait for it. If it fails, it is retried like a new one. Returns 409 `conflict` while the webhook is disabled.
   *
   * **Beta:** this operation may change, with notice.
   */
  redeliver(webhookId: Int64, deliveryId: Int64, options?: CreateOptions): Promise<types.Delivery>;

  /**
   * Get a webhook: `GET /store/webhooks/{webhookId}`.
   *
   * Returns a webhook, without its secret.
   *
   * **Beta:** this operation may change, with notice.
   */
  getWebhook(webhookId: Int64, options?: ReadOptions): Promise<types.Webhook>;

  /**
   * Change fields of a webhook: `PATCH /store/webhooks/{webhookId}`.
   *
   * Changes the given fields of a webhook (JSON Merge Patch, RFC 7396). `enabled: false` stops it. `enabled: true` continues after the last event that was sent. If the next event is no longer stored, the receiver gets `events.missed`, and then the oldest stored event. A change applies to every attempt that starts after the response. Other instances apply it a moment later.
   *
   * **Beta:** this operation may change, with notice.
   */
  updateWebhook(webhookId: Int64, body: types.WebhookPatch, options?: ChangeOptions): Promise<types.Webhook>;

  /**
   * Remove a webhook: `DELETE /store/webhooks/{webhookId}`.
   *
   * Removes a webhook and its deliveries. An attempt that is in progress may still arrive.
   *
   * **Beta:** this operation may change, with notice.
   */
  deleteWebhook(webhookId: Int64, options?: ChangeOptions): Promise<void>;
}

/**
 * Where each operation is sent, and what is special about it: a body, a query, the events that record it, and an answer that is
 * no object.
 */
export const targets: Readonly<Record<keyof Operations, string>> = {
  listPets: 'GET /pets query list',
  createPet: 'POST /pets body',
  getPet: 'GET /pets/{petId}',
  replacePet: 'PUT /pets/{petId} body pet.updated',
  updatePet: 'PATCH /pets/{petId} body pet.updated',
  deletePet: 'DELETE /pets/{petId} pet.deleted nothing',
  listCategories: 'GET /categories query list',
  createCategory: 'POST /categories body',
  getCategory: 'GET /categories/{categoryId}',
  replaceCategory: 'PUT /categories/{categoryId} body category.updated',
  deleteCategory: 'DELETE /categories/{categoryId} category.deleted nothing',
  listOrders: 'GET /store/orders query list',
  placeOrder: 'POST /store/orders body',
  getOrder: 'GET /store/orders/{orderId}',
  updateOrder: 'PATCH /store/orders/{orderId} body order.updated,order.completed',
  cancelOrder: 'DELETE /store/orders/{orderId} order.cancelled nothing',
  listInventory: 'GET /inventory query list',
  getInventory: 'GET /inventory/{petId}',
  updateInventory: 'PATCH /inventory/{petId} body inventory.updated',
  listEvents: 'GET /store/events query list',
  getEvent: 'GET /store/events/{eventId}',
  streamEvents: 'GET /store/events/stream query stream',
  listWebhooks: 'GET /store/webhooks query list',
  createWebhook: 'POST /store/webhooks body',
  pingWebhook: 'POST /store/webhooks/{webhookId}/ping',
  rotateWebhookSecret: 'POST /store/webhooks/{webhookId}/rotate-secret',
  listDeliveries: 'GET /store/webhooks/{webhookId}/deliveries query list',
  redeliver: 'POST /store/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
  getWebhook: 'GET /store/webhooks/{webhookId}',
  updateWebhook: 'PATCH /store/webhooks/{webhookId} body',
  deleteWebhook: 'DELETE /store/webhooks/{webhookId} nothing',
};

/** Every type of event that this version knows. */
export const eventTypes: readonly types.EventType[] = [
  'category.created',
  'category.updated',
  'category.deleted',
  'pet.created',
  'pet.updated',
  'pet.deleted',
  'inventory.updated',
  'order.placed',
  'order.updated',
  'order.completed',
  'order.cancelled',
  'workspace.reset',
  'workspace.seeded',
  'webhook.disabled',
];
