// Made from openapi.json by "npm run generate" (12eb5c26d3d4). Do not edit.

import type { Int64 } from './exact-json.ts';

/** A value of a later version of the API: an enumeration of an answer may have new ones. */
type Unknown = string & Record<never, never>;

export interface paths {
  '/pets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listPets'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/categories': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listCategories'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/store/orders': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listOrders'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/inventory': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listInventory'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/store/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/store/events/stream': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['streamEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/store/webhooks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listWebhooks'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/store/webhooks/{webhookId}/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listDeliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /**
     * @description Orders and changes of stock set the status. It is `available` if units are in stock, `pending` if none are in stock and open orders hold some, and otherwise `sold`. A client may also set it through the pet. Only the stock decides whether an order is accepted.
     * @enum {string}
     */
    PetStatus: 'available' | 'pending' | 'sold';
    /** @description An animal in the store. */
    Pet: {
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
      status?: components['schemas']['PetStatus'] | Unknown;
    };
    /** @description Pets, ordered by id. */
    Pets: components['schemas']['Pet'][];
    /** @description The body of every error. */
    Error: {
      /** @description Machine-readable error code. Later versions may add codes: handle an unknown one by its status. */
      code: string;
      /** @description Human-readable description of the error. It names the wrong fields, at most ten. */
      message: string;
      /**
       * Format: int32
       * @description The HTTP status code of the response.
       */
      status: number;
    };
    /** @description A pet to add, or all fields of a pet to replace. */
    NewPet: {
      /** @description The animal's name. */
      name: string;
      /**
       * Format: int64
       * @description The id of the category that the animal belongs to.
       */
      categoryId: Int64;
      status?: components['schemas']['PetStatus'];
    };
    /** @description Fields of a pet to change. A `status` of null becomes `available`. */
    PetPatch: {
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
    Category: {
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
    Categories: components['schemas']['Category'][];
    /** @description A category to add, or all fields of a category to replace. */
    NewCategory: {
      /** @description Category name, for example a kind of animal. */
      name: string;
      /** @description Short description of the category. */
      description?: string;
    };
    /** @description An order for units of a pet. Without `quantity` a new order is for 1 unit. Without `complete` it is open. */
    Order: {
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
      /**
       * Format: int32
       * @description Number of units ordered.
       */
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
    Orders: components['schemas']['Order'][];
    /** @description Fields of an order to change. A `quantity` of null becomes 1 and a `shipDate` of null is removed. `petId` may be sent unchanged. */
    OrderPatch: {
      /**
       * Format: int64
       * @description The animal in the order.
       */
      petId?: Int64;
      /**
       * Format: int32
       * @description Number of units ordered.
       */
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
    InventoryItem: {
      /**
       * Format: int64
       * @description The pet that the entry tracks.
       */
      petId: Int64;
      /**
       * Format: int32
       * @description Units in stock now, without those in open orders.
       */
      quantity: number;
      status: components['schemas']['PetStatus'] | Unknown;
    };
    /** @description Inventory entries, ordered by pet id. */
    InventoryItems: components['schemas']['InventoryItem'][];
    /** @description A new stock count. */
    InventoryUpdate: {
      /**
       * Format: int32
       * @description The new stock count.
       */
      quantity: number;
    };
    /**
     * @description The type of an event. Later versions may add types.
     * @enum {string}
     */
    EventType:
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
    CategoryCreated: {
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
      data: components['schemas']['Category'];
    };
    /** @description The fields of the Category that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state. */
    PreviousCategory: {
      /** @description Category name, for example a kind of animal. */
      name?: string | null;
      /** @description Short description of the category. */
      description?: string | null;
    };
    /** @description A category was changed. */
    CategoryUpdated: {
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
      data: components['schemas']['Category'];
      previous: components['schemas']['PreviousCategory'];
    };
    /** @description A category was removed. `data` is its last state. */
    CategoryDeleted: {
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
      data: components['schemas']['Category'];
    };
    /** @description A pet was added, with its inventory entry: one unit, or none if its status is `sold`. */
    PetCreated: {
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
      data: components['schemas']['Pet'];
    };
    /** @description The fields of the Pet that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state. */
    PreviousPet: {
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
    PetUpdated: {
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
      data: components['schemas']['Pet'];
      previous: components['schemas']['PreviousPet'];
    };
    /** @description A pet was removed, with its inventory entry. `data` is its last state. */
    PetDeleted: {
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
      data: components['schemas']['Pet'];
    };
    /** @description The fields of the InventoryItem that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state. */
    PreviousInventoryItem: {
      /**
       * Format: int32
       * @description Units in stock now, without those in open orders.
       */
      quantity?: number | null;
      status?: ('available' | 'pending' | 'sold' | null) | Unknown;
    };
    /** @description The stock of a pet changed, or the status that it shares with the pet. */
    InventoryUpdated: {
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
      data: components['schemas']['InventoryItem'];
      previous: components['schemas']['PreviousInventoryItem'];
    };
    /** @description An order was placed. */
    OrderPlaced: {
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
      data: components['schemas']['Order'];
    };
    /** @description The fields of the Order that changed, with the values they had; null for a field that was absent. As a JSON Merge Patch it restores the previous state. */
    PreviousOrder: {
      /**
       * Format: int64
       * @description The animal in the order.
       */
      petId?: Int64 | null;
      /**
       * Format: int32
       * @description Number of units ordered.
       */
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
    OrderUpdated: {
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
      data: components['schemas']['Order'];
      previous: components['schemas']['PreviousOrder'];
    };
    /** @description An order was fulfilled. */
    OrderCompleted: {
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
      data: components['schemas']['Order'];
    };
    /** @description An order was cancelled. `data` is its last state. */
    OrderCancelled: {
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
      data: components['schemas']['Order'];
    };
    /** @description All or part of the data was removed, or the service was restored from a backup. Read the lists again. The history continues. */
    WorkspaceReset: {
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
    WorkspaceSeeded: {
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
    MissedEvents: {
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
    Webhook: {
      /**
       * Format: int64
       * @description Unique identifier assigned on creation.
       */
      id: Int64;
      /** @description Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy. */
      url: string;
      /** @description Only events of these types are sent. Absent: all types, including future ones. */
      types?: (components['schemas']['EventType'] | Unknown)[];
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
      missedEvents?: components['schemas']['MissedEvents'];
    };
    /** @description The service disabled a webhook. `disabledReason` says why. */
    WebhookDisabled: {
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
      data: components['schemas']['Webhook'];
    };
    /** @description An entry in the history of a workspace. Its `type` determines the schema of `data`. Later versions may add types, so ignore unknown ones. */
    Event:
      | components['schemas']['CategoryCreated']
      | components['schemas']['CategoryUpdated']
      | components['schemas']['CategoryDeleted']
      | components['schemas']['PetCreated']
      | components['schemas']['PetUpdated']
      | components['schemas']['PetDeleted']
      | components['schemas']['InventoryUpdated']
      | components['schemas']['OrderPlaced']
      | components['schemas']['OrderUpdated']
      | components['schemas']['OrderCompleted']
      | components['schemas']['OrderCancelled']
      | components['schemas']['WorkspaceReset']
      | components['schemas']['WorkspaceSeeded']
      | components['schemas']['WebhookDisabled'];
    /** @description Events, ordered by id. */
    Events: components['schemas']['Event'][];
    /** @description Webhooks, ordered by id. */
    Webhooks: components['schemas']['Webhook'][];
    /** @description A webhook to add. */
    NewWebhook: {
      /** @description Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy. */
      url: string;
      /** @description Only events of these types are sent. Absent: all types, including future ones. */
      types?: components['schemas']['EventType'][];
      /** @description What the webhook is for. */
      description?: string;
    };
    /** @description A webhook with its secret. */
    WebhookWithSecret: {
      /**
       * Format: int64
       * @description Unique identifier assigned on creation.
       */
      id: Int64;
      /** @description Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy. */
      url: string;
      /** @description Only events of these types are sent. Absent: all types, including future ones. */
      types?: (components['schemas']['EventType'] | Unknown)[];
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
      missedEvents?: components['schemas']['MissedEvents'];
      /** @description The secret that signs messages (Standard Webhooks). Save it: it is not shown again. */
      secret: string;
    };
    /** @description A message without an event, to test a webhook. */
    Ping: {
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
    EventsMissed: {
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
    DeliveryState: 'pending' | 'delivered' | 'failed';
    /** @description One request to the URL of a webhook, with its result. */
    DeliveryAttempt: {
      /**
       * Format: date-time
       * @description When the attempt started, in UTC.
       */
      at: string;
      /**
       * Format: int32
       * @description The status of the response. Absent if there was none.
       */
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
    Delivery: {
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
      state: components['schemas']['DeliveryState'] | Unknown;
      /** @description The attempts so far, at most the last twenty. */
      attempts: components['schemas']['DeliveryAttempt'][];
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
    Deliveries: components['schemas']['Delivery'][];
    /** @description Fields of a webhook to change. A `types` of null means all types. */
    WebhookPatch: {
      /** @description Where events are sent: an absolute `https` URL of a host on the public Internet, without user, password and fragment. If the service has the demo workspace and no other machine can reach it, it also accepts `http` and `https` URLs of its own machine. For that it must listen on a loopback address, have a base URL there, and trust no proxy. */
      url?: string;
      /** @description Only events of these types are sent. Absent: all types, including future ones. */
      types?: components['schemas']['EventType'][] | null;
      /** @description What the webhook is for. */
      description?: string | null;
      /** @description Whether events are sent. Events that occur while it is `false` are sent when it is `true` again, if they are still stored. */
      enabled?: boolean;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type PetStatus = components['schemas']['PetStatus'];
export type Pet = components['schemas']['Pet'];
export type Pets = components['schemas']['Pets'];
export type Error = components['schemas']['Error'];
export type NewPet = components['schemas']['NewPet'];
export type PetPatch = components['schemas']['PetPatch'];
export type Category = components['schemas']['Category'];
export type Categories = components['schemas']['Categories'];
export type NewCategory = components['schemas']['NewCategory'];
export type Order = components['schemas']['Order'];
export type Orders = components['schemas']['Orders'];
export type OrderPatch = components['schemas']['OrderPatch'];
export type InventoryItem = components['schemas']['InventoryItem'];
export type InventoryItems = components['schemas']['InventoryItems'];
export type InventoryUpdate = components['schemas']['InventoryUpdate'];
export type EventType = components['schemas']['EventType'];
export type CategoryCreated = components['schemas']['CategoryCreated'];
export type PreviousCategory = components['schemas']['PreviousCategory'];
export type CategoryUpdated = components['schemas']['CategoryUpdated'];
export type CategoryDeleted = components['schemas']['CategoryDeleted'];
export type PetCreated = components['schemas']['PetCreated'];
export type PreviousPet = components['schemas']['PreviousPet'];
export type PetUpdated = components['schemas']['PetUpdated'];
export type PetDeleted = components['schemas']['PetDeleted'];
export type PreviousInventoryItem = components['schemas']['PreviousInventoryItem'];
export type InventoryUpdated = components['schemas']['InventoryUpdated'];
export type OrderPlaced = components['schemas']['OrderPlaced'];
export type PreviousOrder = components['schemas']['PreviousOrder'];
export type OrderUpdated = components['schemas']['OrderUpdated'];
export type OrderCompleted = components['schemas']['OrderCompleted'];
export type OrderCancelled = components['schemas']['OrderCancelled'];
export type WorkspaceReset = components['schemas']['WorkspaceReset'];
export type WorkspaceSeeded = components['schemas']['WorkspaceSeeded'];
export type MissedEvents = components['schemas']['MissedEvents'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookDisabled = components['schemas']['WebhookDisabled'];
export type Event = components['schemas']['Event'];
export type Events = components['schemas']['Events'];
export type Webhooks = components['schemas']['Webhooks'];
export type NewWebhook = components['schemas']['NewWebhook'];
export type WebhookWithSecret = components['schemas']['WebhookWithSecret'];
export type Ping = components['schemas']['Ping'];
export type EventsMissed = components['schemas']['EventsMissed'];
export type DeliveryState = components['schemas']['DeliveryState'];
export type DeliveryAttempt = components['schemas']['DeliveryAttempt'];
export type Delivery = components['schemas']['Delivery'];
export type Deliveries = components['schemas']['Deliveries'];
export type WebhookPatch = components['schemas']['WebhookPatch'];
export type $defs = Record<string, never>;
export interface operations {
  listPets: {
    parameters: {
      query?: {
        /** @description Orders and changes of stock set the status. It is `available` if units are in stock, `pending` if none are in stock and open orders hold some, and otherwise `sold`. A client may also set it through the pet. Only the stock decides whether an order is accepted. */
        status?: components['schemas']['PetStatus'];
        /** @description Only pets of this category. */
        categoryId?: Int64;
        /** @description Only pets with these ids. Repeat the parameter for more than one: `?id=1&id=2`. */
        id?: Int64[];
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  listCategories: {
    parameters: {
      query?: {
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
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
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  listInventory: {
    parameters: {
      query?: {
        /** @description Orders and changes of stock set the status. It is `available` if units are in stock, `pending` if none are in stock and open orders hold some, and otherwise `sold`. A client may also set it through the pet. Only the stock decides whether an order is accepted. */
        status?: components['schemas']['PetStatus'];
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  listEvents: {
    parameters: {
      query?: {
        /** @description Only events after this id. If one of them is no longer stored, the response is 410 `events_expired`. Without `after` the list starts with the oldest stored event. */
        after?: Int64;
        /** @description Only events of these types. Repeat the parameter for more than one. */
        type?: components['schemas']['EventType'][];
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  streamEvents: {
    parameters: {
      query?: {
        /** @description Only events after this id. 0 starts with the first event. `Last-Event-ID` has priority. */
        after?: Int64;
        /** @description Only events of these types. Repeat the parameter for more than one: `?type=pet.created&type=pet.deleted`. For events of other types the stream sends only an `id`, the current position. */
        type?: components['schemas']['EventType'][];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  listWebhooks: {
    parameters: {
      query?: {
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  listDeliveries: {
    parameters: {
      query?: {
        /** @description `pending`: it will be sent or retried; it waits while the webhook is disabled. `delivered`: it arrived. `failed`: the service gave up. */
        state?: components['schemas']['DeliveryState'];
        /** @description Maximum number of items to return. */
        limit?: number;
        /** @description Where to continue: the `cursor` in the link with `rel="next"` of the previous page. */
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
}

/** Every error code that the descriptions of the API and of the lab name. Later versions may have more. */
export type ErrorCode =
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
  | 'key_banned'
  | 'not_found'
  | 'order_complete'
  | 'payload_too_large'
  | 'precondition_failed'
  | 'rate_limited'
  | 'request_timeout'
  | 'unauthorized'
  | 'unavailable'
  | 'unsupported_media_type';
