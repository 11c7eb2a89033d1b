import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../../db/database.ts';
import { columns, fragment, join, type Row, type Sql } from '../../../db/sql.ts';
import { ApiError, bodyProperty, errorAt } from '../../../foundation/errors.ts';
import { toUtc } from '../../../foundation/time.ts';
import { type Page, type PageRequest, toPage } from '../../../http/pagination.ts';
import { recordEvent, recordUpdate } from '../../history/record.ts';
import { allocateIds } from '../../workspaces/store.ts';
import { writeStock } from '../inventory/store.ts';
import { lockPetRow, type PetRow } from '../pets/store.ts';
import { orderCancelled, orderCompleted, orderPlaced, orderUpdated } from './events.ts';
import type { Order } from './schema.ts';

/** An order as it is stored: fields that may be absent from an Order have their value here. */
interface StoredOrder extends Order {
  id: number;
  quantity: number;
  complete: boolean;
}

const orderColumns = columns(
  ['id', 'pet_id', 'quantity', 'ship_date', 'complete'],
  ({ id, petId, quantity, shipDate, complete }): StoredOrder => ({
    id: Number(id),
    ...(petId !== null && { petId: Number(petId) }),
    quantity: Number(quantity),
    ...(shipDate !== null && { shipDate: String(shipDate) }),
    complete: complete === 1,
  }),
);

interface OrderFilter {
  complete?: boolean;
  petId?: number;
}

export async function listOrders(
  sql: Sql,
  workspaceId: number,
  filter: OrderFilter,
  page: PageRequest,
): Promise<Page<StoredOrder>> {
  const conditions = [fragment`workspace_id = ${workspaceId}`, fragment`id > ${page.after}`];
  if (filter.complete !== undefined) conditions.push(fragment`complete = ${Number(filter.complete)}`);
  if (filter.petId !== undefined) conditions.push(fragment`pet_id = ${filter.petId}`);
  const rows = await sql`
    select ${orderColumns.list} from orders
    where ${join(conditions, ' and ')} order by id limit ${page.limit + 1}`;
  return toPage(rows, page.limit, orderColumns.read);
}

export async function getOrder(sql: Sql, workspaceId: number, id: number): Promise<StoredOrder> {
  const [row] = await sql`
    select ${orderColumns.list} from orders where workspace_id = ${workspaceId} and id = ${id}`;
  return orderColumns.read(row ?? noSuchOrder());
}

/** Places an order and takes its units from the stock of its pet, if it has one. */
export async function placeOrder(sql: Transaction, workspaceId: number, order: Order): Promise<StoredOrder> {
  const { petId, quantity, shipDate, complete } = withDefaults(order);
  const reserved = petId === undefined ? undefined : await reserveUnits(sql, workspaceId, petId, quantity);
  // `allocateIds` counts `last_id` up, and the insert reads the new id from there.
  const [, [row]] = await Promise.all([
    allocateIds(sql, workspaceId, 'orders'),
    sql`
      insert into orders (workspace_id, id, pet_id, quantity, ship_date, complete)
      select workspace_id, last_id, ${petId ?? null}, ${quantity}, ${shipDate ?? null}, ${Number(complete)}
      from sequences where workspace_id = ${workspaceId} and kind = 'orders'
      returning ${orderColumns.list}`,
  ]);
  const placed = orderColumns.read(row as Row);
  recordEvent(sql, workspaceId, orderPlaced, placed);
  if (reserved) await writeStock(sql, workspaceId, reserved.pet, reserved.stock);
  return placed;
}

/**
 * Changes an open order by `change`. A changed quantity moves stock by the difference; units of a completed order never
 * return to stock. Throws `order_complete` if `change` would change a complete order. To change nothing is allowed, so that a
 * client may repeat the request that completed it.
 */
export async function changeOrder(
  sql: Transaction,
  workspaceId: number,
  id: number,
  change: (current: StoredOrder) => Order,
): Promise<StoredOrder> {
  const current = await lockOrder(sql, workspaceId, id);
  const changed = withDefaults(change(current));
  if (isDeepStrictEqual(changed, withDefaults(current))) return current;
  assertOpen(current);
  if (changed.petId !== current.petId) {
    throw errorAt(
      bodyProperty('petId').place,
      'invalid_request',
      'Body property petId cannot change. Cancel the order, and place a new one.',
    );
  }
  const { petId, quantity, shipDate, complete } = changed;
  const movesStock = petId !== undefined && (quantity !== current.quantity || complete);
  const reserved = movesStock
    ? await reserveUnits(sql, workspaceId, petId, quantity - current.quantity)
    : undefined;
  const [row] = await sql`
    update orders set quantity = ${quantity}, ship_date = ${shipDate ?? null}, complete = ${Number(complete)}
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${orderColumns.list}`;
  const after = orderColumns.read(row as Row);
  if (complete) recordEvent(sql, workspaceId, orderCompleted, after);
  else recordUpdate(sql, workspaceId, orderUpdated, current, after);
  if (reserved) await writeStock(sql, workspaceId, reserved.pet, reserved.stock);
  return after;
}

/** Removes an open order and returns its units to stock. Throws `order_complete` if it is complete. */
export async function cancelOrder(
  sql: Transaction,
  workspaceId: number,
  id: number,
  check: (current: StoredOrder) => void,
): Promise<void> {
  const current = await lockOrder(sql, workspaceId, id);
  check(current);
  assertOpen(current);
  const { petId, quantity } = current;
  const reserved = petId === undefined ? undefined : await reserveUnits(sql, workspaceId, petId, -quantity);
  await sql`delete from orders where workspace_id = ${workspaceId} and id = ${id}`;
  recordEvent(sql, workspaceId, orderCancelled, current);
  if (reserved) await writeStock(sql, workspaceId, reserved.pet, reserved.stock);
}

/**
 * A pet and its stock after `units` are taken (returned, if negative). The pet stays locked until the transaction ends.
 * Throws `invalid_reference` or `insufficient_stock`.
 */
async function reserveUnits(
  sql: Transaction,
  workspaceId: number,
  petId: number,
  units: number,
): Promise<{ pet: PetRow; stock: number }> {
  const pet = await lockPetRow(sql, workspaceId, petId);
  if (!pet)
    throw errorAt(bodyProperty('petId').place, 'invalid_reference', 'There is no pet with this petId.');
  if (pet.stock < units) {
    throw new ApiError(
      'insufficient_stock',
      (shown) => `Pet ${shown(petId)} has too few units in stock: needed ${units}, available ${pet.stock}.`,
    );
  }
  return { pet, stock: pet.stock - units };
}

function assertOpen({ id, complete }: StoredOrder): void {
  if (complete)
    throw new ApiError('order_complete', (shown) => `Order ${shown(id)} is complete and cannot change.`);
}

/** An update that changes nothing locks the row until the transaction ends, on both engines. */
async function lockOrder(sql: Sql, workspaceId: number, id: number): Promise<StoredOrder> {
  const [row] = await sql`
    update orders set quantity = quantity where workspace_id = ${workspaceId} and id = ${id}
    returning ${orderColumns.list}`;
  return orderColumns.read(row ?? noSuchOrder());
}

function noSuchOrder(): never {
  throw new ApiError('not_found', 'There is no order with this orderId.');
}

const withDefaults = ({ petId, quantity = 1, shipDate, complete = false }: Order) => ({
  petId,
  quantity,
  shipDate: shipDate === undefined ? undefined : toUtc(shipDate),
  complete,
});
