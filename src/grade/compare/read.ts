import { type List, type Petstore, PetstoreError } from '../../client/index.ts';
import type { Clients } from '../../service/start/running-service.ts';
import { lists, type StoreState } from './state.ts';
import type { StoreEvent } from './store-result.ts';

/** Reads all lists of a workspace through the API. */
export async function readState(listAt: Clients['listAt']): Promise<StoreState> {
  const items = lists.map(async ({ name, path }) => [name, await readAll(path, listAt(path))]);
  return Object.fromEntries(await Promise.all(items));
}

/** Reads the history of a workspace through the API. */
export const readHistory = (store: Petstore): Promise<StoreEvent[]> =>
  readAll('/store/events', store.listEvents() as unknown as List<StoreEvent>);

async function readAll<Item>(path: string, list: List<Item>): Promise<Item[]> {
  try {
    return await Array.fromAsync(list);
  } catch (error) {
    if (!(error instanceof PetstoreError) || error.status === undefined) throw error;
    throw new Error(`The store cannot be read: GET ${path} returns ${error.status}.`, { cause: error });
  }
}
