import type { TSchema } from 'typebox';
import { counted } from '../../foundation/words.ts';
import type { Operation } from '../../http/operation.ts';
import { streamCut, streamExpired, streamSilent } from '../faults/streams.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import { placeOf } from './page-links.ts';
import { endOf, isTouchedByAny } from './request-facts.ts';
import { type Retry, requestsOf } from './retry-pairs.ts';

/** The faults after which a client must open a stream again. */
const interrupting = [streamCut.name, streamSilent.name, streamExpired.name];

/** The id of the event after which a stream continues; undefined if it starts with new events. */
const positionOf = ({ target, headers }: Recorded): string | undefined =>
  headers['last-event-id'] ?? new URLSearchParams(target.split('?')[1]).get('after') ?? undefined;

/** How far a position is ahead of an incomplete event: -1 if right, or no number. Under `large-ids` both are beyond 2^53. */
const aheadOf = (eventId: string, position = '') =>
  /^\d+$/.test(position) ? BigInt(position) - BigInt(eventId) : -1n;

const itemsOf = (success: Operation['success'] | undefined) =>
  (success?.schema as { items?: TSchema } | undefined)?.items;

/** Streams that ended early, with the next one of the same filters, from any position. */
function resumedIn(requests: readonly Recorded[]): Retry[] {
  const cuts = requests.filter((request) => isTouchedByAny(request, interrupting));
  const operations = new Set(cuts.map(({ operation }) => operation));
  const listOf = ({ target }: Recorded) => placeOf(target).list;
  const openings = requests.filter(({ method, operation }) => method === 'GET' && operations.has(operation));
  const byList = Map.groupBy(openings, listOf);
  return cuts.flatMap((cut) => {
    const later = (byList.get(listOf(cut)) ?? []).filter(({ atMs }) => atMs > cut.atMs);
    // The service may record the end of a stream late.
    const next = later.find(({ atMs }) => atMs > endOf(cut)) ?? later.at(-1);
    return next ? [{ failed: cut, retry: next }] : [];
  });
}

/** Whether a stream of all events was opened again before one that had arrived in full, so that events come twice. */
export const rewindsStream = (requests: readonly Recorded[]): boolean =>
  resumedIn(requests).some(({ failed: { cutEventId, target }, retry }) => {
    const isOfAll = placeOf(target).filters.length === 0;
    return cutEventId !== undefined && isOfAll && aheadOf(cutEventId, positionOf(retry)) < -1n;
  });

export const streamsResumed: Check = {
  name: 'streams.resumed',
  level: 'recommended',
  asks: 'The client resumes a stream after the last complete event.',
  judged:
    'Looks at the next stream with the same filters after one that ended in the middle of an event, was silent, or got 410 `events_expired`. Fails: a stream that continues after the incomplete event or a later one; a stream without a position, because events in between are lost, unless the client reads the list of events afterwards, or any list after 410. Passes: a stream that continues after an earlier event.',
  unseen: 'No stream ended like this, or no stream was opened after it.',
  faults: interrupting,
  advice:
    'Save the `id` of an event only when the event is complete, and send it as `Last-Event-ID` when you open the stream again. After 410 `events_expired`, read the lists again first.',
  guide: 'Events',
  judge({ requests, api }) {
    const successOf = (request: Recorded) => api.operationOf(request)?.success;
    const isListed = ({ failed: cut, retry: next }: Retry) => {
      const event = successOf(cut)?.event;
      const isList = (request: Recorded) =>
        isTouchedByAny(cut, [streamExpired.name])
          ? api.isPage(request)
          : event !== undefined && itemsOf(successOf(request)) === event;
      return positionOf(next) === undefined && (requests.findLast(isList)?.atMs ?? 0) > endOf(cut);
    };
    const isBad = ({ failed: { cutEventId }, retry: next }: Retry) => {
      const position = positionOf(next);
      return position === undefined || (cutEventId !== undefined && aheadOf(cutEventId, position) >= 0n);
    };
    const judged = resumedIn(requests).filter((pair) => !isListed(pair));
    const bad = judged.filter(isBad);
    return {
      bad: requestsOf(bad),
      good: requestsOf(judged),
      failed: () => {
        const { failed: cut, retry: next } = bad[0] as Retry;
        const lost =
          positionOf(next) === undefined
            ? `has no Last-Event-ID, so the events since the end of request ${cut.id} are lost`
            : `continues after event ${positionOf(next)}, but request ${cut.id} got only half of event ${cut.cutEventId}`;
        return `${counted(bad.length, 'stream')} lost events: request ${next.id} ${lost}.`;
      },
      passed: 'The client resumed after the last event that it had received.',
    };
  },
};
