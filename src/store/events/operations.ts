import { Type } from 'typebox';
import { ApiError, errorAt, type ValuePlace } from '../../foundation/errors.ts';
import { identifying } from '../../foundation/schema.ts';
import { grouped } from '../../foundation/words.ts';
import { type AnyInput, operation } from '../../http/operation.ts';
import { fittingLimit, maxPageBytes } from '../../http/pagination.ts';
import { page, resource, stream } from '../../http/responses.ts';
import { type Extent, extentOf, findEvent, readEventSizes, readEvents } from '../history/store.ts';
import { type EventType, KnownEventType } from '../webhooks/schema.ts';
import { Event, Events, eventId } from './schema.ts';

/** How many events one page scans at most, so that a filter on rare types stays cheap. */
const maxLookedAt = 1_000;

const exampleStream = `retry: 2500
id: 41
event: category.created
data: {"id":41,"type":"category.created","timestamp":"2026-01-31T12:00:00.000Z","requestId":"walk-1","data":{"id":8,"name":"Dragons"}}

`;

const position = (description: string) =>
  Type.Optional(Type.Integer({ format: 'int64', minimum: 0, description, examples: [0], ...identifying }));

const ofTypes = (description: string, example: EventType[]) =>
  Type.Optional(Type.Array(KnownEventType, { maxItems: 100, description, examples: [example] }));

export const eventOperations = [
  operation({
    method: 'GET',
    path: '/store/events',
    id: 'listEvents',
    tag: 'Store',
    summary: 'List events',
    description: `Returns the events of the workspace, oldest first: from the oldest stored event, or after a position. With \`type\` a page scans at most ${maxLookedAt} events, so it may be short or empty although more follow. A page ends early after ${grouped(maxPageBytes)} bytes of events. Continue while there is a link to the next page. \`Last-Event-ID\` is the last position that the page has scanned. Send it as \`after\` to get newer events.`,
    stability: 'beta',
    query: {
      after: position(
        'Only events after this id. If one of them is no longer stored, the response is 410 `events_expired`. Without `after` the list starts with the oldest stored event.',
      ),
      type: ofTypes('Only events of these types. Repeat the parameter for more than one.', [
        'pet.created',
        'pet.updated',
      ]),
    },
    success: page<Event>(Events, 'A page of events.', { headers: ['Last-Event-ID'] }),
    errors: ['events_expired'],
    handle: async (sql, { workspaceId, query, page, baseUrl, digitsOf }) => {
      const asked = page.after || query.after;
      const readAfter = async (after: number) => {
        // A larger number does not fit into a column of PostgreSQL.
        const upTo = Math.min(after + maxLookedAt, Number.MAX_SAFE_INTEGER);
        const range = { after, upTo, types: query.type, limit: page.limit };
        const limit = await fittingLimit(page.limit, () => readEventSizes(sql, workspaceId, range));
        return { limit, ...(await readEvents(sql, workspaceId, { ...range, limit: limit + 1 })) };
      };
      let after = asked ?? (await extentOf(sql, workspaceId)).first - 1;
      let read = await readAfter(after);
      // The oldest events may have been removed since it was read where they begin.
      while (asked === undefined && read.first > after + 1) {
        after = read.first - 1;
        read = await readAfter(after);
      }
      const { events, limit, ...extent } = read;
      const place = { parameter: page.after ? 'cursor' : 'after' };
      if (asked !== undefined) assertPosition(after, extent, place, { baseUrl, digitsOf });
      const items = events.slice(0, limit);
      const lookedAt =
        events.length > limit ? (items.at(-1)?.id ?? after) : Math.min(after + maxLookedAt, extent.last);
      return {
        items: items.map(({ json }): Event => JSON.parse(json)),
        ...(lookedAt < extent.last && { next: lookedAt }),
        headers: { 'Last-Event-ID': String(lookedAt) },
      };
    },
  }),

  operation({
    method: 'GET',
    path: '/store/events/{eventId}',
    id: 'getEvent',
    tag: 'Store',
    summary: 'Get an event',
    description: 'Returns one event of the workspace, while it is stored.',
    stability: 'beta',
    params: { eventId },
    success: resource(Event, 'The event.'),
    handle: async (sql, { workspaceId, params }) => {
      const event = await findEvent(sql, workspaceId, params.eventId);
      if (!event)
        throw new ApiError('not_found', 'There is no event with this eventId, or it is no longer stored.');
      return JSON.parse(event.json) as Event;
    },
  }),

  operation({
    method: 'GET',
    path: '/store/events/stream',
    id: 'streamEvents',
    tag: 'Store',
    summary: 'Follow events',
    description:
      'Sends each event as soon as it happens, with its `id`, its type as `event`, and the event as JSON in `data`. The stream starts after the event in `Last-Event-ID` or `after`. Without both, it starts now. It ends after about 15 minutes. It also ends when its key opens more streams than its plan allows, or when the service stops. Then open it again with the last `id`: no event is lost or repeated.',
    stability: 'beta',
    query: {
      after: position(
        'Only events after this id. 0 starts with the first event. `Last-Event-ID` has priority.',
      ),
      type: ofTypes(
        'Only events of these types. Repeat the parameter for more than one: `?type=pet.created&type=pet.deleted`. For events of other types the stream sends only an `id`, the current position.',
        ['pet.created'],
      ),
    },
    success: stream(Event, 'Events, until the stream ends.', exampleStream),
    errors: ['events_expired'],
    handle: async (sql, { workspaceId, query, lastEventId, baseUrl, digitsOf }) => {
      const extent = await extentOf(sql, workspaceId);
      // A client that reconnects sends the header with its first URL, so the header wins.
      const asked = lastEventId ?? query.after;
      const place = lastEventId === undefined ? { parameter: 'after' } : { header: 'Last-Event-ID' };
      if (asked !== undefined) assertPosition(asked, extent, place, { baseUrl, digitsOf });
      return { after: asked ?? extent.last, types: query.type };
    },
  }),
];

/** Throws `events_expired` with a link to the oldest event, or `invalid_request` if `after` is above the last event. */
function assertPosition(
  after: number,
  { first, last }: Extent,
  place: ValuePlace,
  { baseUrl, digitsOf }: Pick<AnyInput, 'baseUrl' | 'digitsOf'>,
): void {
  if (after > last)
    throw errorAt(
      place,
      'invalid_request',
      (shown) => `Event ${shown(digitsOf(after))} does not exist yet. The last event is ${shown(last)}.`,
    );
  if (after < first - 1)
    throw errorAt(
      place,
      'events_expired',
      (shown) =>
        `The events after ${shown(after)} are no longer stored. The oldest is ${shown(first)}. Read the lists again, and then the events after ${shown(first - 1)}.`,
      { Link: `<${baseUrl}/store/events>; rel="first"` },
    );
}
