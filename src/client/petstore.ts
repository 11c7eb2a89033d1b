import { baseOf, connectTo, type Requests } from './connect.ts';
import type * as types from './description.ts';
import { PetstoreError } from './error.ts';
import { type Int64, idOf } from './exact-json.ts';
import { type Operations, targets } from './operations.ts';
import type { CallOptions, ChangeOptions, PetstoreOptions } from './options.ts';

/** A change gives up after this many attempts if another change overtakes each of them. */
const mostRounds = 10;

/** Decides on a change from the current resource, again whenever somebody else changes it. `undefined` changes nothing. */
export type Decide<Resource, Change> = (
  current: Resource,
) => Change | undefined | PromiseLike<Change | undefined>;

type Order = types.Order & { id: Int64 };

/** A client of the API: its operations, by their operationIds, and methods that combine some of them. */
export interface Petstore extends Operations, Requests {
  /** Returns a pet, or undefined if there is none with this id. */
  findPet(petId: Int64, options?: CallOptions): Promise<types.Pet | undefined>;
  /**
   * Changes fields of a pet, depending on their current values: `changePet(7, ({ name }) => ({ name: name.toUpperCase() }))`. No change of
   * others is lost: if the pet changes meanwhile, `decide` is called again. The other `change…` methods do the same.
   */
  changePet(
    petId: Int64,
    decide: Decide<types.Pet, types.PetPatch>,
    options?: CallOptions,
  ): Promise<types.Pet>;
  /** Replaces a category by what `decide` returns. */
  changeCategory(
    categoryId: Int64,
    decide: Decide<types.Category, types.NewCategory>,
    options?: CallOptions,
  ): Promise<types.Category>;
  /** Changes fields of an order, depending on their current values. */
  changeOrder(orderId: Int64, decide: Decide<Order, types.OrderPatch>, options?: CallOptions): Promise<Order>;
  /** Changes the stock of a pet, depending on its current value. */
  changeInventory(
    petId: Int64,
    decide: Decide<types.InventoryItem, types.InventoryUpdate>,
    options?: CallOptions,
  ): Promise<types.InventoryItem>;
  /** Changes fields of a webhook, depending on their current values. */
  changeWebhook(
    webhookId: Int64,
    decide: Decide<types.Webhook, types.WebhookPatch>,
    options?: CallOptions,
  ): Promise<types.Webhook>;
}

/**
 * Makes a client. All its requests share the limits of the key, so make one client for each key.
 *
 * @throws TypeError if `baseUrl` is no URL, there is no key, or an option is unknown.
 */
export function createPetstore(options: PetstoreOptions): Petstore {
  const operations = connectTo<Operations>(options, baseOf(options), targets);
  return { ...operations, ...combined(operations) };
}

/** The methods that combine several operations. */
function combined(api: Operations): Omit<Petstore, keyof Operations | keyof Requests> {
  const findPet = async (petId: Int64, options: CallOptions = {}) => {
    for await (const pet of api.listPets({ id: [idOf(petId)] }, options)) return pet;
    return undefined;
  };
  const petAt = async (petId: Int64, options: CallOptions) => {
    const pet = await findPet(petId, options);
    if (pet) return pet;
    throw new PetstoreError({ code: 'not_found', status: 404, message: `There is no pet ${petId}.` });
  };
  return {
    findPet,
    changePet: changing(petAt, api.updatePet),
    changeCategory: changing(api.getCategory, api.replaceCategory),
    changeOrder: changing(api.getOrder, api.updateOrder),
    changeInventory: changing(api.getInventory, api.updateInventory),
    changeWebhook: changing(api.getWebhook, api.updateWebhook),
  };
}

/** Returns a method that reads a resource, asks `decide` for a change, and sends it with `If-Match`. It returns the last state. */
const changing =
  <Resource extends object, Change>(
    read: (id: Int64, options: CallOptions) => Promise<Resource>,
    write: (id: Int64, body: Change, options: ChangeOptions) => Promise<Resource>,
  ) =>
  async (id: Int64, decide: Decide<Resource, Change>, options: CallOptions = {}): Promise<Resource> => {
    for (let round = 1; ; round++) {
      const current = await read(id, options);
      const body = await decide(current);
      if (body === undefined) return current;
      try {
        return await write(id, body, { ...options, ifMatch: current });
      } catch (error) {
        const isOutdated = error instanceof PetstoreError && error.code === 'precondition_failed';
        if (!isOutdated || round === mostRounds) throw error;
      }
    }
  };
