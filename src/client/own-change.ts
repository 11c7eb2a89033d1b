import type { Event } from './description.ts';
import { PetstoreError } from './error.ts';
import type { Int64 } from './exact-json.ts';
import type { CallOptions } from './options.ts';

/** How far back in the history a change is looked for that was just made. */
const lookedBack = 1_000;

/** The events of a change and of a removal, by the collection that a path names. Webhooks have none. */
const types: Readonly<Record<string, { changed: string[]; removed: string[] }>> = {
  pets: { changed: ['pet.updated'], removed: ['pet.deleted'] },
  categories: { changed: ['category.updated'], removed: ['category.deleted'] },
  inventory: { changed: ['inventory.updated'], removed: [] },
  orders: { changed: ['order.updated', 'order.completed'], removed: ['order.cancelled'] },
};

/** How the history is read. */
export interface History {
  /** The position of its last event. */
  last(options: CallOptions): Promise<Int64 | undefined>;
  /** Its events of some types after a position, or from the oldest on. */
  events(after: Int64 | undefined, type: string[], options: CallOptions): AsyncIterable<Event>;
}

/**
 * The resource as a request has left it that was refused, if it has made its change nevertheless: then an attempt came before that did, and
 * whose answer was lost. It need not be one of the client, since browsers, Deno, Bun and load balancers send a request again
 * by themselves when a connection breaks. The history knows: its events name the request that made them.
 */
export async function ownChange(
  history: History,
  { method, path, requestId }: { method: string; path: string; requestId: string },
  options: CallOptions,
): Promise<object | undefined> {
  const [, collection = ''] = /(\w+)\/[^/]+$/.exec(path) ?? [];
  const wanted = types[collection]?.[method === 'DELETE' ? 'removed' : 'changed'];
  // What is not there is removed, whoever did it.
  if (!wanted) return method === 'DELETE' ? {} : undefined;
  const last = BigInt((await history.last(options)) ?? 0);
  const after = last > lookedBack ? last - BigInt(lookedBack) : undefined;
  const found = await lastOf(history.events(after, wanted, options), requestId).catch((error) => {
    // That far back nothing is kept.
    if (!(error instanceof PetstoreError) || ![400, 410].includes(error.status ?? 0)) throw error;
    return lastOf(history.events(undefined, wanted, options), requestId);
  });
  return found?.data;
}

async function lastOf(events: AsyncIterable<Event>, requestId: string): Promise<Event | undefined> {
  let found: Event | undefined;
  for await (const event of events) if (event.requestId === requestId) found = event;
  return found;
}
