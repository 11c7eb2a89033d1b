import { ApiError } from '../errors.ts';
import type { Extent } from '../history/store.ts';

/**
 * Throws `events_expired` if a history no longer holds every event after `after`, with a link to the oldest, and
 * `invalid_request` if `after` is above its last event. `baseUrl` is where callers find the API.
 */
export function assertPosition(after: number, { first, last }: Extent, baseUrl: string): void {
  if (after > last) {
    throw new ApiError(
      'invalid_request',
      (shown) => `There is no event ${shown(after)} yet; the last one is ${shown(last)}.`,
    );
  }
  if (after < first - 1) {
    throw new ApiError(
      'events_expired',
      (shown) =>
        `The events after ${shown(after)} are no longer kept; the oldest is ${shown(first)}. Read the lists anew, and then the events after ${shown(first - 1)}.`,
      { Link: `<${baseUrl}/store/events>; rel="first"` },
    );
  }
}
