import { streamCut } from '../faults/stream-cut.ts';
import { streamSilent } from '../faults/stream-silent.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted } from './check.ts';
import { endOf, isTouchedByAny, streams } from './request-facts.ts';

/** The faults after which a client must open a stream again. */
const interrupting = [streamCut.name, streamSilent.name];

const isOpening = ({ operation = '', method }: Recorded) => streams.includes(operation) && method === 'GET';

/** The event after which a stream goes on; undefined if it begins with what happens from now on. */
function positionOf({ target, headers }: Recorded): number | undefined {
  const position = headers['last-event-id'] ?? new URLSearchParams(target.split('?')[1]).get('after');
  return position === null ? undefined : Number(position);
}

/** A stream that ended within an event, and the next stream. */
interface Resumed {
  cut: Recorded;
  next: Recorded;
}

export const streamsResumed: Check = {
  name: 'streams.resumed',
  level: 'recommended',
  asks: 'A client opens a stream again after the last event of which all has come.',
  judged:
    'Judged is the next stream after one that ended in the middle of an event, or on which nothing came. To go on after an event of which only the half came, or after a later one, fails. To name no event fails, too, unless the client reads the list of events afterwards: what happened meanwhile is lost. To go on after another event passes.',
  unseen: 'No stream ended so, or none was opened after it.',
  faults: interrupting,
  advice:
    'Keep the `id` of an event only when all of the event has come, and send it as `Last-Event-ID` when you open the stream again.',
  guide: 'Events',
  judge({ requests }) {
    const resumed = requests.flatMap((cut): Resumed[] => {
      if (!isTouchedByAny(cut, interrupting)) return [];
      // The service may note the end of a stream late.
      const next =
        requests.find((one) => isOpening(one) && one.atMs > endOf(cut)) ??
        requests.findLast((one) => isOpening(one) && one.atMs > cut.atMs);
      return next ? [{ cut, next }] : [];
    });
    const lastListMs = requests.findLast(({ operation }) => operation === 'listEvents')?.atMs ?? 0;
    const isListed = ({ cut, next }: Resumed) => positionOf(next) === undefined && lastListMs > endOf(cut);
    const isBad = ({ cut: { cutEventId }, next }: Resumed) => {
      const position = positionOf(next);
      return position === undefined || (cutEventId !== undefined && position >= Number(cutEventId));
    };
    const judged = resumed.filter((pair) => !isListed(pair));
    const bad = judged.filter(isBad);
    return {
      bad: bad.flatMap(({ cut, next }) => [cut, next]),
      good: judged.flatMap(({ cut, next }) => [cut, next]),
      failed: () => {
        const { cut, next } = bad[0] as Resumed;
        const lost =
          positionOf(next) === undefined
            ? `named no event to go on after, so what happened since request ${cut.number} broke off is lost`
            : `went on after event ${positionOf(next)}, but of event ${cut.cutEventId} only the half had come in request ${cut.number}`;
        return `${counted(bad.length, 'stream')} lost events: request ${next.number} ${lost}.`;
      },
      passed: 'The client went on after the last event that it had.',
    };
  },
};
