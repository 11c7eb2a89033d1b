import { Type } from 'typebox';
import { PetStatus } from '../../../foundation/schema.ts';
import { operation } from '../../../http/operation.ts';
import { page, resource } from '../../../http/responses.ts';
import { InventoryItem, InventoryItems, InventoryUpdate, petId } from './schema.ts';
import * as stock from './stock.ts';

export const inventoryOperations = [
  operation({
    method: 'GET',
    path: '/inventory',
    id: 'listInventory',
    tag: 'Store',
    summary: 'List the inventory',
    description: 'Returns all inventory entries, or those with one status, ordered by pet id.',
    query: { status: Type.Optional(PetStatus) },
    success: page<InventoryItem>(InventoryItems, 'A page of inventory entries.'),
    handle: (sql, { workspaceId, query, page }) => stock.listInventory(sql, workspaceId, query.status, page),
  }),

  operation({
    method: 'GET',
    path: '/inventory/{petId}',
    id: 'getInventory',
    tag: 'Store',
    summary: 'Get the stock of a pet',
    description: 'Returns the inventory entry of a pet.',
    params: { petId },
    success: resource(InventoryItem, 'The inventory entry.'),
    handle: (sql, { workspaceId, params }) => stock.inventory.get(sql, workspaceId, params.petId),
  }),

  operation({
    method: 'PATCH',
    path: '/inventory/{petId}',
    id: 'updateInventory',
    tag: 'Store',
    summary: 'Set the stock of a pet',
    description:
      'Sets the units in stock. This also sets the status of the entry and of its pet. It is `available` above 0, `pending` at 0 with units in open orders, and otherwise `sold`.',
    stability: 'experimental',
    params: { petId },
    body: InventoryUpdate,
    success: resource(InventoryItem, 'The inventory entry after the change.'),
    handle: (sql, { workspaceId, params, body, assertMayChange }) =>
      stock.updateInventory(sql, workspaceId, params.petId, (current) => {
        assertMayChange(current);
        return body.quantity;
      }),
  }),
];
