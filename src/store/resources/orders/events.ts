import { event } from '../../history/event.ts';
import { Order } from './schema.ts';

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
