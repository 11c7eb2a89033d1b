import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../../db/database.ts';
import { allocateIds } from '../../../db/ids.ts';
import { columns, fragment, type Row, type Sql } from '../../../db/sql.ts';
import { ApiError, bodyProperty, errorAt } from '../../../foundation/errors.ts';
import { toUtc } from '../../../foundation/time.ts';
import type { Page, PageRequest } from '../../../http/pagination.ts';
import { recordEvent, recordUpdate } from '../../history/record.ts';
import { reserveUnits } from '../pets/stock.ts';
import { ResourceTable } from '../resource-table.ts';
import { type Order, orderCancelled, orderCompleted, orderPlaced, orderUpdated } from './schema.ts';

/** An order as it is stored: fields that may be absent from an Order have their value here. */
interface StoredOrder extends Order {
  id: number;
  quantity: number;
  complete: boolean;
}

const orderColumns = columns(
  'id, pet_id, quantity, ship_date, complete',
  ({ id, petId, quantity, shipDate, complete }): StoredOrder => ({
    id: Number(id),
    ...(petId !== null && { petId: Number(petId) }),
    quantity: Number(quantity),
    ...(shipDate !== null && { shipDate: String(shipDate) }),
    complete: complete === 1,
  }),
);

export const orders = new ResourceTable({
  table: 'orders',
  columns: orderColumns,
  lockColumn: 'quantity',
  notFound: 'There is no order with this orderId.',
});

export const listOrders = (
  sql: Sql,
  workspaceId: number,
  { complete, petId }: { complete?: boolean; petId?: number },
  page: PageRequest,
): Promise<Page<StoredOrder>> =>
  orders.list(sql, workspaceId, page, [
    complete === undefined ? undefined : fragment`complete = ${Number(complete)}`,
    petId === undefined ? undefined : fragment`pet_id = ${petId}`,
  ]);

/** Places an order and takes its units from the stock of its pet, if it has one. */
export async function placeOrder(sql: Transaction, workspaceId: number, order: Order): Promise<StoredOrder> {
  const { petId, quantity, shipDate, complete } = withDefaults(order);
  const writeStock = petId === undefined ? undefined : await reserveUnits(sql, workspaceId, petId, quantity);
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
  await writeStock?.();
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
  const current = await orders.lock(sql, workspaceId, id);
  const changed = withDefaults(change(current));
  if (isDeepStrictEqual(changed, withDefaults(current))) return current;
  assertOpen(current);
  if (changed.petId !== current.petId)
    throw errorAt(
      bodyProperty('petId').place,
      'invalid_request',
      'Body property petId cannot change. Cancel the order, and place a new one.',
    );
  const { petId, quantity, shipDate, complete } = changed;
  const movesStock = petId !== undefined && (quantity !== current.quantity || complete);
  const writeStock = movesStock
    ? await reserveUnits(sql, workspaceId, petId, quantity - current.quantity)
    : undefined;
  const [row] = await sql`
    update orders set quantity = ${quantity}, ship_date = ${shipDate ?? null}, complete = ${Number(complete)}
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${orderColumns.list}`;
  const after = orderColumns.read(row as Row);
  if (complete) recordEvent(sql, workspaceId, orderCompleted, after);
  else recordUpdate(sql, workspaceId, orderUpdated, current, after);
  await writeStock?.();
  return after;
}

/** Removes an open order and returns its units to stock. Throws `order_complete` if it is complete. */
export async function cancelOrder(
  sql: Transaction,
  workspaceId: number,
  id: number,
  check: (current: StoredOrder) => void,
): Promise<void> {
  const current = await orders.lock(sql, workspaceId, id);
  check(current);
  assertOpen(current);
  const { petId, quantity } = current;
  const writeStock = petId === undefined ? undefined : await reserveUnits(sql, workspaceId, petId, -quantity);
  await sql`delete from orders where workspace_id = ${workspaceId} and id = ${id}`;
  recordEvent(sql, workspaceId, orderCancelled, current);
  await writeStock?.();
}

function assertOpen({ id, complete }: StoredOrder): void {
  if (complete)
    throw new ApiError('order_complete', (shown) => `Order ${shown(id)} is complete and cannot change.`);
}

const withDefaults = ({ petId, quantity = 1, shipDate, complete = false }: Order) => ({
  petId,
  quantity,
  shipDate: shipDate === undefined ? undefined : toUtc(shipDate),
  complete,
});
