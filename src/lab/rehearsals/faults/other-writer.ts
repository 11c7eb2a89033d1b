import { changeCategory } from '../../../categories/store.ts';
import type { Transaction } from '../../../db/database.ts';
import { ApiError } from '../../../errors.ts';
import { updateInventory } from '../../../inventory/store.ts';
import { dayMs } from '../../../limits/decision.ts';
import type { Operation } from '../../../operation.ts';
import { changeOrder } from '../../../orders/store.ts';
import { changePet } from '../../../pets/store.ts';
import { maxInt32 } from '../../../schema.ts';
import { fault } from '../fault.ts';

type Params = Readonly<Record<string, number>>;

/** How another writer changes what is at a path, so that its representation becomes one that it did not have before. */
const writers: Readonly<
  Record<string, (sql: Transaction, workspaceId: number, params: Params) => Promise<unknown>>
> = {
  '/pets/{petId}': (sql, workspaceId, { petId = 0 }) =>
    changePet(sql, workspaceId, petId, (pet) => ({ ...pet, name: renamed(pet.name) })),
  '/categories/{categoryId}': (sql, workspaceId, { categoryId = 0 }) =>
    changeCategory(sql, workspaceId, categoryId, (category) => ({
      ...category,
      name: renamed(category.name),
    })),
  '/store/orders/{orderId}': (sql, workspaceId, { orderId = 0 }) =>
    changeOrder(sql, workspaceId, orderId, (order) => ({
      ...order,
      shipDate: dayAfter(order.shipDate, sql.cause.atMs),
    })),
  '/inventory/{petId}': (sql, workspaceId, { petId = 0 }) =>
    updateInventory(sql, workspaceId, petId, ({ quantity }) =>
      quantity < maxInt32 ? quantity + 1 : quantity - 1,
    ),
};

/** The property that each of them writes, by the same paths. */
export const writtenProperty: Readonly<Record<string, string>> = {
  '/pets/{petId}': 'name',
  '/categories/{categoryId}': 'name',
  '/store/orders/{orderId}': 'shipDate',
  '/inventory/{petId}': 'quantity',
};

const isChange = ({ method }: Operation) => method === 'PUT' || method === 'PATCH' || method === 'DELETE';

export const conflict = fault({
  name: 'conflict',
  parameters: {},
  isLate: true,
  fits: (operation) => isChange(operation) && operation.path in writers,
  group: 'Late answers, other writers',
  level: 'recommended',
  does: 'Right before the change, another writer changes the same row: the name of a pet or category, the ship date of an open order, one unit of stock more. Its change stays. What is not there, or is closed, it leaves alone.',
  goodClient: 'Sends `If-Match`, gets 412, reads again and decides again.',
  bites: 'Clients that read, change and write back without `If-Match` undo what others wrote meanwhile.',
  perform: ({ operation, claim }) => ({
    prepare: async ({ workspaceId, params }) => {
      await claim(async (sql) => writers[operation.path]?.(sql, workspaceId, params as Params)).catch(
        forgive,
      );
    },
  }),
});

/** What cannot be changed is refused to the client, too. */
function forgive(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}

const maxNameLength = 200;
const sign = / \(another writer(?: (\d+))?\)$/;

/** A name with a sign of another writer, which counts its changes. */
export function renamed(name: string): string {
  const found = sign.exec(name);
  const suffix = found ? ` (another writer ${Number(found[1] ?? 1) + 1})` : ' (another writer)';
  // As the schemas count, by code points.
  return [...name.replace(sign, '')].slice(0, maxNameLength - suffix.length).join('') + suffix;
}

/** A day after a ship date; tomorrow if there is none, or no later year. */
export function dayAfter(shipDate: string | undefined, nowMs: number): string {
  const hasDayAfter = shipDate !== undefined && !shipDate.startsWith('9999');
  return new Date((hasDayAfter ? Date.parse(shipDate) : nowMs) + dayMs).toISOString();
}
