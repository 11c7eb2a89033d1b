import { change, type Decide } from './change.ts';
import type * as types from './description.ts';
import { PetstoreError } from './error.ts';
import { type Int64, idOf } from './exact-json.ts';
import { operationOf } from './operation.ts';
import { type Operations, targets } from './operations.ts';
import { type CallOptions, type ChangeOptions, defaults, type PetstoreOptions } from './options.ts';
import { Pace } from './pace.ts';
import type { Connection } from './send.ts';
import { platformClock } from './time.ts';

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
export function createPetstore({ baseUrl, clock, ...given }: PetstoreOptions): Petstore {
  // What no header field can hold would be told, with the key, by errors of `fetch`.
  if (!/^[!-~]+\s*$/.test(given.apiKey ?? ''))
    throw new TypeError('createPetstore needs an apiKey: visible ASCII characters, without a space.');
  const base = new URL(baseUrl).href.replace(/\/+$/, '');
  const usual = {
    ...defaults,
    fetch: (...request: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...request),
  };
  const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
  const times = { ...platformClock, ...clock };
  const options = { ...usual, ...Object.fromEntries(chosen) } as Connection['options'];
  const connection = { options, clock: times, pace: new Pace(times) };
  const operations = Object.fromEntries(
    Object.entries(targets).map(([name, target]) => [name, operationOf(connection, base, target)]),
  ) as unknown as Operations;
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
