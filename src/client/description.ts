// Made from openapi.json by "npm run generate" (f0b554a9c3a5). Do not edit.

import type { Int64 } from './exact-json.ts';

/** A value of a later version of the API: an enumeration of an answer may have new ones. */
type Unknown = string & Record<never, never>;

/**
 * @description Orders and changes of stock set the status. It is `available` if units are in stock, `pending` if none are in stock and open orders hold some, and otherwise `sold`. A client may also set it through the pet. Only the stock decides whether an order is accepted.
 * @enum {string}
 */
export type PetStatus = 'available' | 'pending' | 'sold';
/** @description An animal in the store. */
export type Pet = {
  /**
   * Format: int64
   * @description Unique identifier assigned on creation.
   */
  id: Int64;
  /** @description The animal's name. */
  name: string;
  /**
   * Format: int64
   * @description The id of the category that the animal belongs to.
   */
  categoryId: Int64;
  status?: PetStatus | Unknown;
};
/** @description Pets, ordered by id. */
export type Pets = Pet[];
/** @description The body of every error. */
export type Error = {
  /** @description Machine-readable error code. Later versions may add codes: handle an unknown one by its status. */
  code: string;
  /** @description Human-readable description of the error. It names the wrong fields, at most ten. */
  message: string;
  /** @description The HTTP status code of the response. */
  status: number;
};
/** @description A pet to add, or all fields of a pet to replace. */
export type NewPet = {
  /** @description The animal's name. */
  name: string;
  /**
   * Format: int64
   * @description The id of the category that the animal belongs to.
   */
  categoryId: Int64;
  status?: PetStatus;
};
/** @description Fields of a pet to change. A `status` of null becomes `available`. */
export type PetPatch = {
  /** @description The animal's name. */
  name?: string;
  /**
   * Format: int64
   * @description The id of the category that the animal belongs to.
   */
  categoryId?: Int64;
  /**
   * @description Orders and changes of stock set the status. It is `available` if units are in stock, `pending` if none are in stock and open orders hold some, and otherwise `sold`. A client may also set it through the pet. Only the stock decides whether an order is accepted.
   * @enum {string|null}
   */
  status?: 'available' | 'pending' | 'sold' | null;
};
/** @description A category of pets. */
export type Category = {
  /**
   * Format: int64
   * @description Unique identifier assigned on creation.
   */
  id: Int64;
  /** @description Category name, for example a kind of animal. */
  name: string;
  /** @description Short description of the category. */
  description?: string;
};
/** @description Categories, ordered by id. */
export type Categories = Category[];
/** @description A category to add, or all fields of a category to replace. */
export type NewCategory = {
  /** @description Category name, for example a kind of animal. */
  name: string;
  /** @description Short description of the category. */
  description?: string;
};
/** @description An order for units of a pet. Without `quantity` a new order is for 1 unit. Without `complete` it is open. */
export type Order = {
  /**
   * Format: int64
   * @description Unique order identifier.
   */
  readonly id?: Int64;
  /**
   * Format: int64
   * @description The animal in the order.
   */
  petId?: Int64;
  /** @description Number of units ordered. */
  quantity?: number;
  /**
   * Format: date-time
   * @description Expected or actual ship date (RFC 3339, at most nine fractional digits). Responses have the same instant in UTC.
   */
  shipDate?: string;
  /** @description Whether the order has been fulfilled. */
  complete?: boolean;
};
/** @description Orders, ordered by id. */
export type Orders = Order[];
/** @description Fields of an order to change. A `quantity` of null becomes 1 and a `shipDate` of null is removed. `petId` may be sent unchanged. */
export type OrderPatch = {
  /**
   * Format: int64
   * @description The animal in the order.
   */
  petId?: Int64;
  /** @description Number of units ordered. */
  quantity?: number | null;
  /**
   * Format: date-time
   * @description Expected or actual ship date (RFC 3339, at most nine fractional digits). Responses have the same instant in UTC.
   */
  shipDate?: string | null;
  /** @description Whether the order has been fulfilled. */
  complete?: boolean | null;
};
/** @description The stock of one pet. It shares its status with the pet. */
export type InventoryItem = {
  /**
   * Format: int64
   * @description The pet that the entry tracks.
   */
  petId: Int64;
  /** @description Units in stock now, without those in open orders. */
  quantity: number;
  status: PetStatus | Unknown;
};
/** @description Inventory entries, ordered by pet id. */
export type InventoryItems = InventoryItem[];
/** @description A new stock count. */
export type InventoryUpdate = {
  /** @description The new stock count. */
  quantity: number;
};
/**
 * @description The type of an event. Later versions may add types.
 * @enum {string}
 */
export type EventType =
  | 'category.created'
  | 'category.updated'
  | 'category.deleted'
  | 'pet.created'
  | 'pet.updated'
  | 'pet.deleted'
  | 'inventory.updated'
  | 'order.placed'
  | 'order.updated'
  | 'order.completed'
  | 'order.cancelled'
  | 'workspace.reset'
  | 'workspace.seeded'
  | 'webhook.disabled';
/** @description A category was added. */
export type CategoryCreated = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'category.created';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Category;
};
/** @description The fields of the Category that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state. */
export type PreviousCategory = {
  /** @description Category name, for example a kind of animal. */
  name?: string | null;
  /** @description Short description of the category. */
  description?: string | null;
};
/** @description A category was changed. */
export type CategoryUpdated = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'category.updated';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Category;
  previous: PreviousCategory;
};
/** @description A category was removed. `data` is its last state. */
export type CategoryDeleted = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'category.deleted';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Category;
};
/** @description A pet was added, with its inventory entry: one unit, or none if its status is `sold`. */
export type PetCreated = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'pet.created';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Pet;
};
/** @description The fields of the Pet that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state. */
export type PreviousPet = {
  /** @description The animal's name. */
  name?: string | null;
  /**
   * Format: int64
   * @description The id of the category that the animal belongs to.
   */
  categoryId?: Int64 | null;
  status?: ('available' | 'pending' | 'sold' | null) | Unknown;
};
/** @description A pet was changed, or its status changed with its stock. */
export type PetUpdated = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'pet.updated';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Pet;
  previous: PreviousPet;
};
/** @description A pet was removed, with its inventory entry. `data` is its last state. */
export type PetDeleted = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'pet.deleted';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Pet;
};
/** @description The fields of the InventoryItem that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state. */
export type PreviousInventoryItem = {
  /** @description Units in stock now, without those in open orders. */
  quantity?: number | null;
  status?: ('available' | 'pending' | 'sold' | null) | Unknown;
};
/** @description The stock of a pet changed, or the status that it shares with the pet. */
export type InventoryUpdated = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'inventory.updated';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: InventoryItem;
  previous: PreviousInventoryItem;
};
/** @description An order was placed. */
export type OrderPlaced = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'order.placed';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Order;
};
/** @description The fields of the Order that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state. */
export type PreviousOrder = {
  /**
   * Format: int64
   * @description The animal in the order.
   */
  petId?: Int64 | null;
  /** @description Number of units ordered. */
  quantity?: number | null;
  /**
   * Format: date-time
   * @description Expected or actual ship date (RFC 3339, at most nine fractional digits). Responses have the same instant in UTC.
   */
  shipDate?: string | null;
  /** @description Whether the order has been fulfilled. */
  complete?: boolean | null;
};
/** @description An open order was changed. */
export type OrderUpdated = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'order.updated';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Order;
  previous: PreviousOrder;
};
/** @description An order was fulfilled. */
export type OrderCompleted = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'order.completed';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Order;
};
/** @description An order was cancelled. `data` is its last state. */
export type OrderCancelled = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'order.cancelled';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Order;
};
/** @description All or part of the data was removed, or the service was restored from a backup. Read the lists again. The history continues. */
export type WorkspaceReset = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'workspace.reset';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  /** @description An empty object. */
  data: Record<string, never>;
};
/** @description Many resources were added at once, without an event for each. Read the lists again. */
export type WorkspaceSeeded = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'workspace.seeded';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  /** @description An empty object. */
  data: Record<string, never>;
};
/** @description Events that were removed from the history before they could be sent. The receiver got a message of type `events.missed` for each gap. Absent if there are none. */
export type MissedEvents = {
  /**
   * Format: int64
   * @description Number of missed events of all types since the webhook was added.
   */
  count: Int64;
  /**
   * Format: int64
   * @description The last missed event.
   */
  lastEventId: Int64;
  /**
   * Format: date-time
   * @description When the service last noticed missed events, in UTC.
   */
  noticedAt: string;
};
/** @description A URL that receives the events of the workspace. */
export type Webhook = {
  /**
   * Format: int64
   * @description Unique identifier assigned on creation.
   */
  id: Int64;
  /** @description Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy. */
  url: string;
  /** @description Only events of these types are sent. Absent: all types, including future ones. */
  types?: (EventType | Unknown)[];
  /** @description What the webhook is for. */
  description?: string;
  /** @description Whether events are sent. Events that occur while it is `false` are sent when it is `true` again, if they are still stored. */
  enabled: boolean;
  disabledReason?: ('gone' | 'failing') | Unknown;
  /**
   * Format: date-time
   * @description When it was added, in UTC.
   */
  createdAt: string;
  /**
   * Format: date-time
   * @description The time until which the previous secret also signs. Absent if the secret was never rotated.
   */
  previousSecretValidUntil?: string;
  missedEvents?: MissedEvents;
};
/** @description The service disabled a webhook. `disabledReason` says why. */
export type WebhookDisabled = {
  /**
   * Format: int64
   * @description The position of the event in the history of the workspace: 1, 2, 3 and so on, without gaps. After a restore from a backup, the history starts over at a much higher position.
   */
  id: Int64;
  /**
   * @description What happened. (enum property replaced by openapi-typescript)
   * @enum {string}
   */
  type: 'webhook.disabled';
  /**
   * Format: date-time
   * @description When the change was made, in UTC, by the clock of the instance that made it. It may be earlier than that of the event before: order events by `id`.
   */
  timestamp: string;
  /** @description `X-Request-Id` of the request that made the change. Absent if no request made it. */
  requestId?: string;
  data: Webhook;
};
/** @description An entry in the history of a workspace. Its `type` determines the schema of `data`. Later versions may add types, so ignore unknown ones. */
export type Event =
  | CategoryCreated
  | CategoryUpdated
  | CategoryDeleted
  | PetCreated
  | PetUpdated
  | PetDeleted
  | InventoryUpdated
  | OrderPlaced
  | OrderUpdated
  | OrderCompleted
  | OrderCancelled
  | WorkspaceReset
  | WorkspaceSeeded
  | WebhookDisabled;
/** @description Events, ordered by id. */
export type Events = Event[];
/** @description Webhooks, ordered by id. */
export type Webhooks = Webhook[];
/** @description A webhook to add. */
export type NewWebhook = {
  /** @description Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy. */
  url: string;
  /** @description Only events of these types are sent. Absent: all types, including future ones. */
  types?: EventType[];
  /** @description What the webhook is for. */
  description?: string;
};
/** @description A webhook with its secret. */
export type WebhookWithSecret = {
  /**
   * Format: int64
   * @description Unique identifier assigned on creation.
   */
  id: Int64;
  /** @description Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy. */
  url: string;
  /** @description Only events of these types are sent. Absent: all types, including future ones. */
  types?: (EventType | Unknown)[];
  /** @description What the webhook is for. */
  description?: string;
  /** @description Whether events are sent. Events that occur while it is `false` are sent when it is `true` again, if they are still stored. */
  enabled: boolean;
  disabledReason?: ('gone' | 'failing') | Unknown;
  /**
   * Format: date-time
   * @description When it was added, in UTC.
   */
  createdAt: string;
  /**
   * Format: date-time
   * @description The time until which the previous secret also signs. Absent if the secret was never rotated.
   */
  previousSecretValidUntil?: string;
  missedEvents?: MissedEvents;
  /** @description The secret that signs messages (Standard Webhooks). Save it: it is not shown again. */
  secret: string;
};
/** @description A message without an event, to test a webhook. */
export type Ping = {
  /**
   * @description Distinguishes it from events.
   * @enum {string}
   */
  type: 'ping';
  /**
   * Format: date-time
   * @description When it was requested, in UTC.
   */
  timestamp: string;
  /** @description The tested webhook. */
  data: {
    /**
     * Format: int64
     * @description The webhook that it is for.
     */
    webhookId: Int64;
  };
};
/** @description A message about events that were removed from the history before they could be sent. It comes before the next event. Read the lists again. */
export type EventsMissed = {
  /**
   * @description Distinguishes it from events.
   * @enum {string}
   */
  type: 'events.missed';
  /**
   * Format: date-time
   * @description When the service noticed the gap, in UTC.
   */
  timestamp: string;
  /** @description The missed events, whatever their types. */
  data: {
    /**
     * Format: int64
     * @description The webhook that it is for.
     */
    webhookId: Int64;
    /**
     * Format: int64
     * @description The first missed event.
     */
    firstEventId: Int64;
    /**
     * Format: int64
     * @description The last missed event.
     */
    lastEventId: Int64;
  };
};
/**
 * @description `pending`: it will be sent or retried; it waits while the webhook is disabled. `delivered`: it arrived. `failed`: the service gave up.
 * @enum {string}
 */
export type DeliveryState = 'pending' | 'delivered' | 'failed';
/** @description One request to the URL of a webhook, with its result. */
export type DeliveryAttempt = {
  /**
   * Format: date-time
   * @description When the attempt started, in UTC.
   */
  at: string;
  /** @description The status of the response. Absent if there was none. */
  status?: number;
  /**
   * Format: int64
   * @description The duration in milliseconds.
   */
  durationMs: Int64;
  /** @description Why it failed. Absent if it succeeded. */
  error?: string;
};
/** @description A message to a webhook: an event, a `ping`, or a notice of missed events. */
export type Delivery = {
  /**
   * Format: int64
   * @description Unique identifier.
   */
  id: Int64;
  /**
   * Format: int64
   * @description The webhook that it is for.
   */
  webhookId: Int64;
  /** @description `webhook-id` of its requests, the same in each attempt. */
  messageId: string;
  /**
   * Format: int64
   * @description The event that is sent. For `events.missed` the last missed event. Absent for a `ping`.
   */
  eventId?: Int64;
  /** @description The type of the event, `ping`, or `events.missed`. */
  type: string;
  state: DeliveryState | Unknown;
  /** @description The attempts so far, at most the last twenty. */
  attempts: DeliveryAttempt[];
  /**
   * Format: date-time
   * @description When the next attempt is due, in UTC. Absent if there is none, or if it is due at once.
   */
  nextAttemptAt?: string;
  /**
   * Format: date-time
   * @description When it was first sent or requested, in UTC.
   */
  createdAt: string;
};
/** @description Deliveries, newest first. */
export type Deliveries = Delivery[];
/** @description Fields of a webhook to change. A `types` of null means all types. */
export type WebhookPatch = {
  /** @description Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy. */
  url?: string;
  /** @description Only events of these types are sent. Absent: all types, including future ones. */
  types?: EventType[] | null;
  /** @description What the webhook is for. */
  description?: string | null;
  /** @description Whether events are sent. Events that occur while it is `false` are sent when it is `true` again, if they are still stored. */
  enabled?: boolean;
};
export interface operations {
  listPets: {
    parameters: {
      query?: {
        /** @description Orders and changes of stock set the status. It is `available` if units are in stock, `pending` if none are in stock and open orders hold some, and otherwise `sold`. A client may also set it through the pet. Only the stock decides whether an order is accepted. */
        status?: PetStatus;
        /** @description Only pets of this category. */
        categoryId?: Int64;
        /** @description Only pets with these ids. Repeat the parameter for more than one: `?id=1&id=2`. */
        id?: Int64[];
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
    };
  };
  listCategories: {
    parameters: {
      query?: {
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
    };
  };
  listOrders: {
    parameters: {
      query?: {
        /** @description `true`: only complete orders. `false`: only open ones. */
        complete?: boolean;
        /** @description Only orders for this pet. */
        petId?: Int64;
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
    };
  };
  listInventory: {
    parameters: {
      query?: {
        /** @description Orders and changes of stock set the status. It is `available` if units are in stock, `pending` if none are in stock and open orders hold some, and otherwise `sold`. A client may also set it through the pet. Only the stock decides whether an order is accepted. */
        status?: PetStatus;
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
    };
  };
  listEvents: {
    parameters: {
      query?: {
        /** @description Only events after this id. If one of them is no longer stored, the response is 410 `events_expired`. Without `after` the list starts with the oldest stored event. */
        after?: Int64;
        /** @description Only events of these types. Repeat the parameter for more than one. */
        type?: EventType[];
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
    };
  };
  streamEvents: {
    parameters: {
      query?: {
        /** @description Only events after this id. 0 starts with the first event. `Last-Event-ID` has priority. */
        after?: Int64;
        /** @description Only events of these types. Repeat the parameter for more than one: `?type=pet.created&type=pet.deleted`. For events of other types the stream sends only an `id`, the current position. */
        type?: EventType[];
      };
    };
  };
  listWebhooks: {
    parameters: {
      query?: {
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
    };
  };
  listDeliveries: {
    parameters: {
      query?: {
        /** @description `pending`: it will be sent or retried; it waits while the webhook is disabled. `delivered`: it arrived. `failed`: the service gave up. */
        state?: DeliveryState;
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
    };
  };
}
/** Every error code that the descriptions of the API, the lab and accounts name. Later versions may have more. */
export type ErrorCode =
  | 'account_kept'
  | 'conflict'
  | 'events_expired'
  | 'gone'
  | 'headers_too_large'
  | 'http_version_not_supported'
  | 'idempotency_key_in_use'
  | 'idempotency_key_reused'
  | 'insufficient_stock'
  | 'internal_error'
  | 'invalid_json'
  | 'invalid_reference'
  | 'invalid_request'
  | 'invite_invalid'
  | 'invite_used_up'
  | 'key_banned'
  | 'not_found'
  | 'order_complete'
  | 'payload_too_large'
  | 'plan_by_agreement'
  | 'precondition_failed'
  | 'rate_limited'
  | 'request_timeout'
  | 'signup_closed'
  | 'unauthorized'
  | 'unavailable'
  | 'unsupported_media_type';
