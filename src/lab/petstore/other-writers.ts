import { maxInt32 } from '../../foundation/schema.ts';
import { dayMs } from '../../foundation/time.ts';
import { changeCategory } from '../../store/resources/categories/store.ts';
import { changeOrder } from '../../store/resources/orders/store.ts';
import { updateInventory } from '../../store/resources/pets/stock.ts';
import { changePet } from '../../store/resources/pets/store.ts';
import type { OtherWriter } from '../target-api.ts';

/** The other writers of the fault `conflict`, by the path of the resource. */
export const otherWriters: Readonly<Record<string, OtherWriter>> = {
  '/pets/{petId}': {
    property: 'name',
    change: (sql, workspaceId, { petId = 0 }, keep) =>
      changePet(sql, workspaceId, petId, (pet) => ({ ...pet, name: renamed(keep(pet.name)) })),
  },
  '/categories/{categoryId}': {
    property: 'name',
    change: (sql, workspaceId, { categoryId = 0 }, keep) =>
      changeCategory(sql, workspaceId, categoryId, (one) => ({ ...one, name: renamed(keep(one.name)) })),
  },
  '/store/orders/{orderId}': {
    property: 'shipDate',
    change: (sql, workspaceId, { orderId = 0 }, keep) =>
      changeOrder(sql, workspaceId, orderId, (order) => ({
        ...order,
        shipDate: dayAfter(keep(order.shipDate), sql.context.atMs),
      })),
  },
  '/inventory/{petId}': {
    property: 'quantity',
    change: (sql, workspaceId, { petId = 0 }, keep) =>
      updateInventory(sql, workspaceId, petId, ({ quantity }) =>
        keep(quantity) < maxInt32 ? quantity + 1 : quantity - 1,
      ),
  },
};

const maxNameLength = 200;
const suffixOf = / \(another writer(?: (\d+))?\)$/;

/** Adds a suffix to a name that counts the changes of the other writer. */
export function renamed(name: string): string {
  const found = suffixOf.exec(name);
  const suffix = found ? ` (another writer ${Number(found[1] ?? 1) + 1})` : ' (another writer)';
  // The schemas count code points, too.
  return [...name.replace(suffixOf, '')].slice(0, maxNameLength - suffix.length).join('') + suffix;
}

/** The day after a ship date. Tomorrow if there is none or if it is in the year 9999. */
function dayAfter(shipDate: string | undefined, nowMs: number): string {
  const hasDayAfter = shipDate !== undefined && !shipDate.startsWith('9999');
  return new Date((hasDayAfter ? Date.parse(shipDate) : nowMs) + dayMs).toISOString();
}
