import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { operations } from '../api/operations.ts';
import { bareText, Id } from '../foundation/schema.ts';
import { maxKeyLength } from '../http/idempotency.ts';
import type { Operation } from '../http/operation.ts';
import { labPrefix, prefix } from '../http/target.ts';
import { labOperations } from '../lab/petstore/petstore-api.ts';
import { Event } from '../store/events/schema.ts';
import { KnownEventType } from '../store/webhooks/schema.ts';

/** A task that an agent can ask for. A call sends one request of one operation. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  /** The beginning of the operation's path: the store, or the lab. */
  start: typeof prefix | typeof labPrefix;
  operation: Operation;
  arguments: TProperties;
  /** What it always sends in the body. */
  fixed: Readonly<Record<string, unknown>>;
  /** What the items of a page are called in the result. */
  items: string | undefined;
  /** The properties of the response that it returns. Default: all. */
  only: readonly string[] | undefined;
  result: TObject;
}

interface Definition extends Pick<Tool, 'name' | 'title' | 'description'> {
  /** The id of its operation. */
  operation: string;
  /** Arguments that the operation takes and the tool does not. */
  without?: readonly string[];
  fixed?: Tool['fixed'];
  items?: string;
  /** The schema of an item. Default: that of the operation. */
  item?: TSchema;
  only?: readonly string[];
}

const idempotencyKey = Type.String({
  minLength: 1,
  maxLength: maxKeyLength,
  pattern: bareText,
  description:
    'A string that identifies this call, such as a UUID. To retry a call that got no result, send the same string: the call takes effect once, and you get the first result. Use a new string for each new task.',
  examples: ['order-for-ada-1'],
});

const nextCursor = Type.Optional(
  Type.String({ description: 'Send it as `cursor` to get the next page. Absent on the last page.' }),
);
const cursor = Type.Optional(Type.String({ description: '`nextCursor` of the previous page.' }));
const position = Id('The last scanned position. Send it as `after` to get only newer events.');

/** Common to all types of events. Listing every type would be longer than all tools together. */
const { properties: eventProperties } = Event.anyOf[0] as unknown as TObject;
const AnyEvent = Type.Object({
  id: eventProperties.id as TSchema,
  type: KnownEventType,
  timestamp: eventProperties.timestamp as TSchema,
  requestId: eventProperties.requestId as TSchema,
  data: Type.Object({}, { description: 'The resource after the change.' }),
  previous: Type.Optional(Type.Object({}, { description: 'For updates: the old values of changed fields.' })),
});

const definitions: readonly Definition[] = [
  {
    name: 'find_categories',
    title: 'Find categories',
    description:
      'Lists the categories that pets belong to, such as Dogs. Other tools take the `id` of a category as `categoryId`.',
    operation: 'listCategories',
    items: 'categories',
  },
  {
    name: 'find_pets',
    title: 'Find pets',
    description:
      'Lists all pets, or those that match every filter. With `id` it returns the pets with these ids. It cannot search by name: read all pages. For the units in stock, use `get_stock`.',
    operation: 'listPets',
    items: 'pets',
  },
  {
    name: 'add_pet',
    title: 'Add a pet',
    description: 'Adds a pet to a category. Its stock is 1, or 0 with the status `sold`.',
    operation: 'createPet',
  },
  {
    name: 'get_stock',
    title: 'Get the stock of a pet',
    description: 'Returns how many units of a pet can be ordered now.',
    operation: 'getInventory',
  },
  {
    name: 'set_stock',
    title: 'Restock a pet',
    description:
      'Sets how many units of a pet are in stock. `quantity` is the new total, not a difference. Units in open orders do not count.',
    operation: 'updateInventory',
  },
  {
    name: 'find_orders',
    title: 'Find orders',
    description:
      'Lists all orders, or those that match every filter. An order is open until it is fulfilled or cancelled.',
    operation: 'listOrders',
    items: 'orders',
  },
  {
    name: 'place_order',
    title: 'Order a pet',
    description:
      'Places an open order, and takes its units from stock at once: all of them or none. If there are too few, it fails with `insufficient_stock`.',
    operation: 'placeOrder',
    without: ['complete'],
  },
  {
    name: 'fulfil_order',
    title: 'Fulfil an order',
    description: 'Marks an open order as complete. It cannot be changed or cancelled afterwards.',
    operation: 'updateOrder',
    without: ['petId', 'quantity', 'shipDate', 'complete'],
    fixed: { complete: true },
  },
  {
    name: 'cancel_order',
    title: 'Cancel an order',
    description:
      'Removes an open order and returns its units to stock. A complete order fails with `order_complete`. An order that is already removed fails with `not_found`.',
    operation: 'cancelOrder',
  },
  {
    name: 'read_events',
    title: 'Read events',
    description:
      'Returns the events of the store, oldest first: each change of a category, a pet, a stock or an order. To get only newer events, send the `position` of your last call as `after`.',
    operation: 'listEvents',
    items: 'events',
    item: AnyEvent,
  },
  {
    name: 'get_limits',
    title: 'Get the limits',
    description:
      'Returns how many requests are left in this minute and on this day, and whether the key is banned.',
    operation: 'getAccount',
    only: ['plan', 'minute', 'day', 'strikes', 'strikesAllowed', 'ban'],
  },
];

/** All tools, in the order in which they are listed. Without a lab, those that need none. */
export const toolsFor = (hasLab: boolean): Tool[] =>
  definitions.map(toTool).filter(({ start }) => hasLab || start !== labPrefix);

function toTool({ operation: id, without = [], item, only, ...definition }: Definition): Tool {
  const { fixed = {}, items } = definition;
  const ofStore = operations.find((operation) => operation.id === id);
  const operation = (ofStore ?? labOperations.find((operation) => operation.id === id)) as Operation;
  const { method, params, query, body } = operation;
  const all = { ...params, ...query, ...(items && { cursor }), ...body?.properties };
  const taken = Object.entries(all).filter(
    ([name, schema]) => !without.includes(name) && !(schema as { readOnly?: boolean }).readOnly,
  );
  const { schema = Success, headers } = operation.success;
  return {
    ...definition,
    start: ofStore ? prefix : labPrefix,
    operation,
    arguments: { ...Object.fromEntries(taken), ...(method === 'POST' && { idempotencyKey }) },
    ...{ fixed, items, only },
    result: items
      ? Type.Object({ [items]: item ? Type.Array(item) : schema, nextCursor, ...(headers && { position }) })
      : picked(schema as TObject, only),
  };
}

const Success = Type.Object({ done: Type.Literal(true, { description: 'It is done.' }) });

function picked({ properties }: TObject, names: readonly string[] = Object.keys(properties)): TObject {
  return Type.Object(Object.fromEntries(names.map((name) => [name, properties[name] as TSchema])));
}

/** What a call returns instead of its result if it fails. */
export const ToolFailure = Type.Object({
  code: Type.String({ description: 'What went wrong, for programs.', examples: ['rate_limited'] }),
  message: Type.String({ description: 'What is wrong, what is allowed, and what to do.' }),
  retryAfterSeconds: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Wait this many seconds, then send the same call again.' }),
  ),
});

/** Hints for clients about a tool. Each call may be repeated, because tools that create something take an `idempotencyKey`. */
export const annotationsOf = ({ operation: { method } }: Tool) => ({
  readOnlyHint: method === 'GET',
  // A POST only adds something.
  destructiveHint: method !== 'GET' && method !== 'POST',
  idempotentHint: true,
  openWorldHint: false,
});

/** How a call counts against the limits of the key. */
export const costOf = ({ start }: Tool) =>
  start === prefix ? 'It counts as one request.' : 'It does not count as a request.';
