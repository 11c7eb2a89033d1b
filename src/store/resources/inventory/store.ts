import type { Transaction } from '../../../db/database.ts';
import { columns, fragment, type Sql } from '../../../db/sql.ts';
import { ApiError } from '../../../foundation/errors.ts';
import { maxInt32, type PetStatus } from '../../../foundation/schema.ts';
import { type Page, type PageRequest, toPage } from '../../../http/pagination.ts';
import { itemOf, lockPetRow, type PetRow, recordItem, recordPet } from '../pets/store.ts';
import type { InventoryItem } from './schema.ts';

/** The rule by which orders and stock changes set the status that a pet and its inventory entry share. */
function statusOfStock(stock: number, hasUnitsInOpenOrders: boolean): PetStatus {
  if (stock > 0) return 'available';
  return hasUnitsInOpenOrders ? 'pending' : 'sold';
}

const itemColumns = columns(
  ['id', 'stock', 'status'],
  ({ id, stock, status }): InventoryItem => ({
    petId: Number(id),
    quantity: Number(stock),
    status: status as PetStatus,
  }),
);

export async function listInventory(
  sql: Sql,
  workspaceId: number,
  status: PetStatus | undefined,
  page: PageRequest,
): Promise<Page<InventoryItem>> {
  const withStatus = status ? fragment`and status = ${status}` : fragment``;
  const rows = await sql`
    select ${itemColumns.list} from pets
    where workspace_id = ${workspaceId} and id > ${page.after} ${withStatus} order by id limit ${page.limit + 1}`;
  return toPage(rows, page.limit, itemColumns.read);
}

export async function getInventory(sql: Sql, workspaceId: number, petId: number): Promise<InventoryItem> {
  const [row] = await sql`
    select ${itemColumns.list} from pets where workspace_id = ${workspaceId} and id = ${petId}`;
  return itemColumns.read(row ?? noSuchItem());
}

/** Sets the stock of a pet to the result of `change`; the status follows by the rule. */
export async function updateInventory(
  sql: Transaction,
  workspaceId: number,
  petId: number,
  change: (current: InventoryItem) => number,
): Promise<InventoryItem> {
  const before = (await lockPetRow(sql, workspaceId, petId)) ?? noSuchItem();
  return writeStock(sql, workspaceId, before, change(itemOf(before)));
}

/**
 * Writes the stock of a pet, which is locked as `before`, and sets the status by the rule, after the orders of the transaction are written.
 * Throws `conflict` if returned units would make the stock exceed its maximum.
 */
export async function writeStock(
  sql: Transaction,
  workspaceId: number,
  before: PetRow,
  stock: number,
): Promise<InventoryItem> {
  const petId = before.id;
  if (stock > maxInt32) {
    throw new ApiError(
      'conflict',
      (shown) => `The units cannot return to stock: pet ${shown(petId)} would have more than ${maxInt32}.`,
    );
  }
  const openOrders = await sql`
    select id from orders where workspace_id = ${workspaceId} and pet_id = ${petId} and complete = 0 limit 1`;
  const status = statusOfStock(stock, openOrders.length > 0);
  await sql`
    update pets set stock = ${stock}, status = ${status} where workspace_id = ${workspaceId} and id = ${petId}`;
  const after = { ...before, stock, status };
  recordItem(sql, workspaceId, before, after);
  recordPet(sql, workspaceId, before, after);
  return itemOf(after);
}

function noSuchItem(): never {
  throw new ApiError('not_found', 'There is no pet with this petId, so there is no inventory entry.');
}
