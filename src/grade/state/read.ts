import { withMeantIds } from '../../lab/rehearsals/faults/large-ids.ts';
import { ask, type Client, nextQuery } from '../../lab-service.ts';
import type { OtherChange, StoreState } from './state.ts';

const pageSize = 100;

/** Reads all that a workspace holds, through the API, with its key. */
export async function readState(client: Client): Promise<StoreState> {
  const [categories, pets, orders, inventory, webhooks] = await Promise.all([
    readAll<StoreState['categories'][number]>(client, '/categories'),
    readAll<StoreState['pets'][number]>(client, '/pets'),
    readAll<StoreState['orders'][number]>(client, '/store/orders'),
    readAll<StoreState['inventory'][number]>(client, '/inventory'),
    readAll<StoreState['webhooks'][number]>(client, '/store/webhooks'),
  ]);
  return { categories, pets, orders, inventory, webhooks };
}

/** A state that a client left to which ids were shown otherwise: in texts, such as names, it has written them as they were shown. */
export const withMeantIdsIn = (state: StoreState): StoreState =>
  JSON.parse(JSON.stringify(state), (_, value) => (typeof value === 'string' ? withMeantIds(value) : value));

/** What the other writer of a rehearsal changed, in that order: its events have the id of the rehearsal as that of their request. */
export async function readOtherChanges(client: Client, rehearsalId: string): Promise<OtherChange[]> {
  const types = ['category.updated', 'pet.updated', 'order.updated', 'inventory.updated'];
  const query = types.map((type) => `type=${type}`).join('&');
  const events = await readAll<Updated>(client, `/store/events?${query}`);
  return events.filter(({ requestId }) => requestId === rehearsalId).flatMap(otherChangeOf);
}

/** What is read of an event about a change. */
interface Updated {
  type: string;
  requestId?: string;
  data: { id?: number; petId?: number; name?: string; shipDate?: string; quantity?: number };
  previous: { name?: string; shipDate?: string | null; quantity?: number };
}

function otherChangeOf({ type, data, previous }: Updated): OtherChange[] {
  if (type === 'order.updated')
    return written('order', data.id, 'shipDate', previous.shipDate, data.shipDate);
  if (type === 'inventory.updated')
    return written('pet', data.petId, 'stock', previous.quantity, data.quantity);
  return written(type === 'pet.updated' ? 'pet' : 'category', data.id, 'name', previous.name, data.name);
}

/** A change, if it is one of that property: the status of a pet follows its stock in an event of its own. */
function written(
  kind: OtherChange['kind'],
  id: number | undefined,
  property: OtherChange['property'],
  before: string | number | null | undefined,
  after: string | number | undefined,
): OtherChange[] {
  if (id === undefined || before === undefined || after === undefined) return [];
  return [{ kind, id, property, before: before === null ? undefined : String(before), after: String(after) }];
}

/** A whole list, page after page. */
async function readAll<Item>(client: Client, path: string): Promise<Item[]> {
  const items: Item[] = [];
  const first = `${path}${path.includes('?') ? '&' : '?'}limit=${pageSize}`;
  for (let next: string | undefined = first; next !== undefined; ) {
    const { status, text, link } = await ask(client, client.baseUrl + next);
    if (status !== 200) throw new Error(`The store cannot be read: GET ${path} answers ${status}.`);
    items.push(...(JSON.parse(text) as Item[]));
    const query = nextQuery(link);
    next = query && path.replace(/\?.*$/, '') + query;
  }
  return items;
}
