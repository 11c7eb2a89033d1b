import { delay } from '../faults/delay.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted, inSeconds } from './check.ts';
import { isLeft, isStream, isTouchedByAny, silentFaults } from './request-facts.ts';

/** A good client may wait as long. A shorter silence shows nothing if the client bears it. */
const patienceMs = 20_000;
/** The comments of a stream come every 15 seconds. */
const patienceWithStreamsMs = 45_000;

/** After how long a client gave up a silent answer; undefined if it did not. */
const gaveUpAfterMs = (request: Recorded): number | undefined => {
  if (isTouchedByAny(request, silentFaults) && request.silenceMs !== undefined) return request.silenceMs;
  return isTouchedByAny(request, [...silentFaults, delay.name]) && isLeft(request)
    ? request.tookMs
    : undefined;
};

const hasWaited = (request: Recorded) =>
  isTouchedByAny(request, silentFaults) &&
  request.tookMs >= (isStream(request) ? patienceWithStreamsMs : patienceMs);

export const timeLimitExists: Check = {
  name: 'time-limit.exists',
  level: 'recommended',
  asks: 'The client gives up by itself when an answer or a stream does not come, or not to its end.',
  judged: `Judged are requests that the service left without an answer, or without the rest of one, and streams on which nothing came. A client that waits ${patienceMs / 1_000} s or longer, or ${patienceWithStreamsMs / 1_000} s on a stream, until the service resets the connection, fails. One that closes the connection itself passes, also during \`${delay.name}\`. To wait for the end of \`${delay.name}\` or of a shorter silence counts neither way.`,
  unseen: 'The service was never silent for so long, or a proxy was between.',
  faults: [...silentFaults, delay.name],
  advice:
    'Set a time limit for each request that lasts until the end of its body. Give up a stream on which nothing comes for 40 seconds.',
  guide: 'Errors',
  judge({ requests }) {
    const own = requests.filter(({ isProxied }) => !isProxied);
    const good = own.filter((request) => gaveUpAfterMs(request) !== undefined);
    const bad = own.filter((request) => gaveUpAfterMs(request) === undefined && hasWaited(request));
    const times = good.slice(0, 3).map((request) => inSeconds(gaveUpAfterMs(request) as number));
    return {
      bad,
      good,
      failed: () => {
        const longestMs = bad.reduce((longest, { tookMs }) => Math.max(longest, tookMs), 0);
        return `The client waited ${inSeconds(longestMs)} in ${counted(bad.length, 'request')}, until the service ended the connection.`;
      },
      passed: `The client gave up after ${times.join(', ')}${good.length > times.length ? ', …' : ''}.`,
    };
  },
};
