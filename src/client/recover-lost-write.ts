import type { Event } from './description.ts';
import { PetstoreError } from './error.ts';
import type { Int64 } from './exact-json.ts';
import type { CallOptions } from './options.ts';

/** How many of the latest events are searched for a change that was just made. */
const searchedEvents = 1_000;

/** Functions that read the history. */
export interface History {
  /** The id of its last event. */
  last(options: CallOptions): Promise<Int64 | undefined>;
  /** Its events of some types after an id, or from the oldest on. */
  events(after: Int64 | undefined, types: readonly string[], options: CallOptions): AsyncIterable<Event>;
}

/**
 * If a refused request had in fact been applied, returns the resource after it. Then an earlier attempt made the change and its
 * answer was lost. Browsers, Deno, Bun and load balancers also send a request again by themselves when a connection breaks.
 * An event of the history contains the id of the request that caused it. `types` are the types of events that record such a request.
 */
export async function recoverLostWrite(
  history: History,
  types: readonly string[],
  requestId: string,
  options: CallOptions,
): Promise<object | undefined> {
  const last = BigInt((await history.last(options)) ?? 0);
  const after = last > searchedEvents ? last - BigInt(searchedEvents) : undefined;
  const found = await lastOf(history.events(after, types, options), requestId).catch((error) => {
    // Events that old are no longer stored.
    if (!(error instanceof PetstoreError) || ![400, 410].includes(error.status ?? 0)) throw error;
    return lastOf(history.events(undefined, types, options), requestId);
  });
  return found?.data;
}

async function lastOf(events: AsyncIterable<Event>, requestId: string): Promise<Event | undefined> {
  let found: Event | undefined;
  for await (const event of events) if (event.requestId === requestId) found = event;
  return found;
}
