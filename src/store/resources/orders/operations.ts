import { Type } from 'typebox';
import { Id, mergePatch } from '../../../foundation/schema.ts';
import { operation } from '../../../http/operation.ts';
import { created, empty, page, resource } from '../../../http/responses.ts';
import { Order, OrderPatch, Orders, orderId } from './schema.ts';
import * as store from './store.ts';

export const orderOperations = [
  operation({
    method: 'GET',
    path: '/store/orders',
    id: 'listOrders',
    tag: 'Store',
    summary: 'List orders',
    description: 'Returns the orders that match all filters, ordered by id.',
    hideTryItPanel: true,
    query: {
      complete: Type.Optional(
        Type.Boolean({
          description: '`true`: only complete orders. `false`: only open ones.',
          examples: [false],
        }),
      ),
      petId: Type.Optional(Id('Only orders for this pet.')),
    },
    success: page<Order>(Orders, 'A page of orders.'),
    handle: (sql, { workspaceId, query, page }) => store.listOrders(sql, workspaceId, query, page),
  }),

  operation({
    method: 'POST',
    path: '/store/orders',
    id: 'placeOrder',
    tag: 'Store',
    summary: 'Place an order',
    description:
      'Places an order. Every field is optional. With `petId` the units are taken from stock at once. If there are too few, the response is 409 `insufficient_stock`. An order with `complete: true` is fulfilled from the start.',
    body: Order,
    success: created(Order, 'The new order.'),
    errors: ['invalid_reference', 'insufficient_stock'],
    handle: (sql, { workspaceId, body }) => store.placeOrder(sql, workspaceId, body),
  }),

  operation({
    method: 'GET',
    path: '/store/orders/{orderId}',
    id: 'getOrder',
    tag: 'Store',
    summary: 'Get an order',
    description: 'Returns an order.',
    params: { orderId },
    success: resource(Order, 'The order.'),
    handle: (sql, { workspaceId, params }) => store.orders.get(sql, workspaceId, params.orderId),
  }),

  operation({
    method: 'PATCH',
    path: '/store/orders/{orderId}',
    id: 'updateOrder',
    tag: 'Store',
    summary: 'Change or fulfil an order',
    description:
      'Changes the given fields of an open order (JSON Merge Patch, RFC 7396). A new `quantity` changes the stock by the difference. `complete: true` fulfils and closes the order. `petId` cannot change. A request that changes nothing returns the order unchanged, even if it is complete, so you can retry it.',
    stability: 'beta',
    params: { orderId },
    sampleParams: { orderId: 2 },
    body: OrderPatch,
    success: resource(Order, 'The order after the change.'),
    errors: ['insufficient_stock', 'order_complete', 'conflict'],
    handle: (sql, { workspaceId, params, body, assertMayChange }) =>
      store.changeOrder(sql, workspaceId, params.orderId, (current) => {
        assertMayChange(current);
        return mergePatch(current, body);
      }),
  }),

  operation({
    method: 'DELETE',
    path: '/store/orders/{orderId}',
    id: 'cancelOrder',
    tag: 'Store',
    summary: 'Cancel an order',
    description:
      'Cancels an open order and returns its units to stock. A complete order cannot be cancelled.',
    stability: 'beta',
    params: { orderId },
    sampleParams: { orderId: 5 },
    success: empty('The order was cancelled.'),
    errors: ['order_complete', 'conflict'],
    handle: (sql, { workspaceId, params, assertMayChange }) =>
      store.cancelOrder(sql, workspaceId, params.orderId, assertMayChange),
  }),
];
