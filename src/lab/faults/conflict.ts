import type { Transaction } from '../../db/database.ts';
import { ApiError } from '../../foundation/errors.ts';
import { maxInt32 } from '../../foundation/schema.ts';
import { dayMs } from '../../foundation/time.ts';
import type { Operation } from '../../http/operation.ts';
import { changeCategory } from '../../store/resources/categories/store.ts';
import { changeOrder } from '../../store/resources/orders/store.ts';
import { updateInventory } from '../../store/resources/pets/stock.ts';
import { changePet } from '../../store/resources/pets/store.ts';
import { fault } from './shared/fault.ts';

interface Writer {
  /** The property that it changes. */
  property: string;
  /** Gives the resource a representation that it never had. */
  change(sql: Transaction, workspaceId: number, params: Readonly<Record<string, number>>): Promise<unknown>;
}

/** The other writers, by the path of the resource. */
const writers: Readonly<Record<string, Writer>> = {
  '/pets/{petId}': {
    property: 'name',
    change: (sql, workspaceId, { petId = 0 }) =>
      changePet(sql, workspaceId, petId, (pet) => ({ ...pet, name: renamed(pet.name) })),
  },
  '/categories/{categoryId}': {
    property: 'name',
    change: (sql, workspaceId, { categoryId = 0 }) =>
      changeCategory(sql, workspaceId, categoryId, (one) => ({ ...one, name: renamed(one.name) })),
  },
  '/store/orders/{orderId}': {
    property: 'shipDate',
    change: (sql, workspaceId, { orderId = 0 }) =>
      changeOrder(sql, workspaceId, orderId, (order) => ({
        ...order,
        shipDate: dayAfter(order.shipDate, sql.context.atMs),
      })),
  },
  '/inventory/{petId}': {
    property: 'quantity',
    change: (sql, workspaceId, { petId = 0 }) =>
      updateInventory(sql, workspaceId, petId, ({ quantity }) =>
        quantity < maxInt32 ? quantity + 1 : quantity - 1,
      ),
  },
};

/** The other writer of the resource at a path, if there is one. */
export const otherWriterAt = (path: string): Writer | undefined => writers[path];

const isWrite = ({ method }: Operation) => method === 'PUT' || method === 'PATCH' || method === 'DELETE';

export const conflict = fault({
  name: 'conflict',
  actsAfterValidation: true,
  fits: (operation) => isWrite(operation) && operation.path in writers,
  changesResponses: true,
  group: 'Late responses, other writers',
  level: 'recommended',
  does: 'Just before the change, another writer changes the same resource. It changes the name of a pet or category, the ship date of an open order, or the stock by one unit. This change is permanent. Missing resources and complete orders are not changed.',
  goodClient: 'Sends `If-Match`, gets 412, reads the resource again and decides again.',
  whyItMatters:
    'Clients that read, change and write back without `If-Match` undo the changes that others made in between.',
  perform: ({ operation, claim }) => ({
    prepare: async ({ workspaceId, params }) => {
      const { change } = writers[operation.path] as Writer;
      try {
        await claim((sql) => change(sql, workspaceId, params as Record<string, number>));
      } catch (error) {
        // The client's own change gets the same error.
        if (!(error instanceof ApiError)) throw error;
      }
    },
  }),
});

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
