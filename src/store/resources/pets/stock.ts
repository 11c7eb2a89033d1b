import type { Transaction } from '../../../db/database.ts';
import { columns, fragment, type Sql } from '../../../db/sql.ts';
import { ApiError, bodyProperty, errorAt } from '../../../foundation/errors.ts';
import { maxInt32, type PetStatus } from '../../../foundation/schema.ts';
import type { Page, PageRequest } from '../../../http/pagination.ts';
import { ResourceTable } from '../resource-table.ts';
import type { InventoryItem } from './schema.ts';
import { type PetRow, petRows, recordInventory, recordPet, toInventoryItem } from './store.ts';

/** The inventory entries: each is a view of the row of its pet. */
export const inventory = new ResourceTable({
  table: 'pets',
  columns: columns(
    'id, stock, status',
    ({ id, stock, status }): InventoryItem =>
      toInventoryItem({ id: Number(id), stock: Number(stock), status: status as PetStatus }),
  ),
  lockColumn: 'stock',
  notFound: 'There is no pet with this petId, so there is no inventory entry.',
});

export const listInventory = (
  sql: Sql,
  workspaceId: number,
  status: PetStatus | undefined,
  page: PageRequest,
): Promise<Page<InventoryItem>> =>
  inventory.list(sql, workspaceId, page, [status && fragment`status = ${status}`]);

/** Sets the stock of a pet to the result of `change`; the status follows by the rule. */
export async function updateInventory(
  sql: Transaction,
  workspaceId: number,
  petId: number,
  change: (current: InventoryItem) => number,
): Promise<InventoryItem> {
  const before = (await petRows.lockIfFound(sql, workspaceId, petId)) ?? inventory.throwNotFound();
  return writeStock(sql, workspaceId, before, change(toInventoryItem(before)));
}

/**
 * Locks a pet until the transaction ends, and takes `units` from its stock (returns them, if negative). Call the returned function after the
 * orders are written: it writes the stock. Throws `invalid_reference` or `insufficient_stock`.
 */
export async function reserveUnits(
  sql: Transaction,
  workspaceId: number,
  petId: number,
  units: number,
): Promise<() => Promise<unknown>> {
  const pet = await petRows.lockIfFound(sql, workspaceId, petId);
  if (!pet)
    throw errorAt(bodyProperty('petId').place, 'invalid_reference', 'There is no pet with this petId.');
  if (pet.stock < units)
    throw new ApiError(
      'insufficient_stock',
      (shown) => `Pet ${shown(petId)} has too few units in stock: needed ${units}, available ${pet.stock}.`,
    );
  return () => writeStock(sql, workspaceId, pet, pet.stock - units);
}

/** Writes the stock of a pet locked as `before`, and its status. Throws `conflict` if returned units exceed the maximum stock. */
async function writeStock(
  sql: Transaction,
  workspaceId: number,
  before: PetRow,
  stock: number,
): Promise<InventoryItem> {
  const petId = before.id;
  if (stock > maxInt32)
    throw new ApiError(
      'conflict',
      (shown) => `The units cannot return to stock: pet ${shown(petId)} would have more than ${maxInt32}.`,
    );
  const openOrders = await sql`
    select id from orders where workspace_id = ${workspaceId} and pet_id = ${petId} and complete = 0 limit 1`;
  const status = stock > 0 ? 'available' : openOrders.length > 0 ? 'pending' : 'sold';
  await sql`
    update pets set stock = ${stock}, status = ${status} where workspace_id = ${workspaceId} and id = ${petId}`;
  const after: PetRow = { ...before, stock, status };
  recordInventory(sql, workspaceId, before, after);
  recordPet(sql, workspaceId, before, after);
  return toInventoryItem(after);
}
