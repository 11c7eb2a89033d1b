import { change, type Decide } from './change.ts';
import { baseOf, connect } from './connect.ts';
import type * as types from './description.ts';
import { PetstoreError } from './error.ts';
import { type Int64, idOf } from './exact-json.ts';
import { type Operations, targets } from './operations.ts';
import type { CallOptions, ChangeOptions, PetstoreOptions } from './options.ts';

type Order = types.Order & { id: Int64 };

/** A client of the API: its operations, by their operationIds, and what is made of them. */
export interface Petstore extends Operations {
  /** One pet, or undefined if there is none with this id. */
  findPet(petId: Int64, options?: CallOptions): Promise<types.Pet | undefined>;
  /**
   * Changes fields of a pet by what they are now, and undoes nothing that others change meanwhile:
   * `changePet(7, ({ name }) => ({ name: name.toUpperCase() }))`. Where others were faster, `decide` is called again. It is so, too, for the
   * other methods of this kind.
   */
  changePet(
    petId: Int64,
    decide: Decide<types.Pet, types.PetPatch>,
    options?: CallOptions,
  ): Promise<types.Pet>;
  /** Replaces a category by what `decide` makes of it. */
  changeCategory(
    categoryId: Int64,
    decide: Decide<types.Category, types.NewCategory>,
    options?: CallOptions,
  ): Promise<types.Category>;
  /** Changes fields of an order by what they are now. */
  changeOrder(orderId: Int64, decide: Decide<Order, types.OrderPatch>, options?: CallOptions): Promise<Order>;
  /** Changes the stock of a pet by what it is now. */
  changeInventory(
    petId: Int64,
    decide: Decide<types.InventoryItem, types.InventoryUpdate>,
    options?: CallOptions,
  ): Promise<types.InventoryItem>;
  /** Changes fields of a webhook by what they are now. */
  changeWebhook(
    webhookId: Int64,
    decide: Decide<types.Webhook, types.WebhookPatch>,
    options?: CallOptions,
  ): Promise<types.Webhook>;
}

/**
 * Makes a client. All its requests keep one pace, that of its key, so make one for each key, and share it.
 *
 * @throws TypeError if `baseUrl` is no URL, or there is no key.
 */
export function createPetstore(options: PetstoreOptions): Petstore {
  const operations = connect<Operations>(options, baseOf(options), targets);
  return { ...operations, ...made(operations) };
}

/** What is made of several operations. */
function made(api: Operations): Omit<Petstore, keyof Operations> {
  const findPet = async (petId: Int64, options: CallOptions = {}) => {
    for await (const pet of api.listPets({ id: [idOf(petId)] }, options)) return pet;
    return undefined;
  };
  const petAt = async (petId: Int64, options: CallOptions) => {
    const pet = await findPet(petId, options);
    if (pet) return pet;
    throw new PetstoreError({ code: 'not_found', status: 404, message: `There is no pet ${petId}.` });
  };
  type Read<R> = (id: Int64, options: CallOptions) => Promise<R>;
  type Write<R, C> = (id: Int64, body: C, options: ChangeOptions) => Promise<R>;
  const changing =
    <R extends object, C>(read: Read<R>, write: Write<R, C>) =>
    (id: Int64, decide: Decide<R, C>, options: CallOptions = {}) =>
      change(
        () => read(id, options),
        decide,
        (body, conditions) => write(id, body, conditions),
        options,
      );
  return {
    findPet,
    changePet: changing(petAt, api.updatePet),
    changeCategory: changing(api.getCategory, api.replaceCategory),
    changeOrder: changing(api.getOrder, api.updateOrder),
    changeInventory: changing(api.getInventory, api.updateInventory),
    changeWebhook: changing(api.getWebhook, api.updateWebhook),
  };
}
