import { type Static, Type } from 'typebox';
import { DateTime, Id, patchOf, Units } from '../../../foundation/schema.ts';
import { event } from '../../history/event.ts';

export const orderId = Id('The id of the order.');

const petId = Type.Optional(Id('The animal in the order.'));

/** What may be changed of an open order. */
const terms = {
  quantity: Type.Optional(Units(1, 'Number of units ordered.', 1)),
  shipDate: Type.Optional(
    DateTime(
      'Expected or actual ship date (RFC 3339, at most nine fractional digits). Responses have the same instant in UTC.',
      '2026-12-24T12:00:00Z',
    ),
  ),
  complete: Type.Optional(
    Type.Boolean({ description: 'Whether the order has been fulfilled.', examples: [false] }),
  ),
};

export const Order = Type.Object(
  { id: Type.Optional(Id('Unique order identifier.', { readOnly: true })), petId, ...terms },
  {
    title: 'Order',
    description:
      'An order for units of a pet. Without `quantity` a new order is for 1 unit. Without `complete` it is open.',
  },
);
export type Order = Static<typeof Order>;

export const Orders = Type.Array(Order, { title: 'Orders', description: 'Orders, ordered by id.' });

export const OrderPatch = Type.Object(
  { petId, ...patchOf(terms) },
  {
    title: 'OrderPatch',
    examples: [{ complete: true }],
    description:
      'Fields of an order to change. A `quantity` of null becomes 1 and a `shipDate` of null is removed. `petId` may be sent unchanged.',
  },
);

export const orderPlaced = event({
  type: 'order.placed',
  change: 'created',
  data: Order,
  meaning: 'An order was placed.',
});

export const orderUpdated = event({
  type: 'order.updated',
  change: 'updated',
  data: Order,
  meaning: 'An open order was changed.',
  previousExample: { quantity: 2 },
});

export const orderCompleted = event({
  type: 'order.completed',
  change: 'updated',
  data: Order,
  meaning: 'An order was fulfilled.',
});

export const orderCancelled = event({
  type: 'order.cancelled',
  change: 'deleted',
  data: Order,
  meaning: 'An order was cancelled. `data` is its last state.',
});

export const orderEvents = [orderPlaced, orderUpdated, orderCompleted, orderCancelled] as const;
