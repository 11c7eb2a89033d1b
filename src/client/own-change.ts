import type { Event } from './description.ts';
import { PetstoreError } from './error.ts';
import type { Int64 } from './exact-json.ts';
import type { CallOptions } from './options.ts';

/** How far back in the history a change is looked for that was just made. */
const lookedBack = 1_000;

/** The events of a change, by the collection that its path names. */
const types: Readonly<Record<string, string[]>> = {
  pets: ['pet.updated'],
  categories: ['category.updated'],
  inventory: ['inventory.updated'],
  orders: ['order.updated', 'order.completed'],
};

/** How the history is read. */
export interface History {
  /** The position of its last event. */
  last(options: CallOptions): Promise<Int64 | undefined>;
  /** Its events of some types after a position, or from the oldest on. */
  events(after: Int64 | undefined, type: string[], options: CallOptions): AsyncIterable<Event>;
}

/**
 * The resource as a request has left it, if it made a change. Its answer was lost, and the attempt after it was refused: because of that
 * very change, or of somebody else's? The history knows, since its events name the request that made them.
 */
export async function ownChange(
  history: History,
  path: string,
  requestId: string,
  options: CallOptions,
): Promise<object | undefined> {
  const [, collection = ''] = /(\w+)\/[^/]+$/.exec(path) ?? [];
  const wanted = types[collection];
  if (!wanted) return undefined;
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
