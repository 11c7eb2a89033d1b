import { counted, inSeconds } from '../../foundation/words.ts';
import { delay } from '../faults/delay.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import type { JudgedApi } from './judged-api.ts';
import { hasDisconnected, isTouchedByAny, silentFaults } from './request-facts.ts';

/** A good client may wait this long. To wait through a shorter silence is no evidence. */
const patienceMs = 20_000;
/** The comments of a stream come every 15 seconds. */
const patienceWithStreamsMs = 45_000;

/** How long a client waited for a silent response before it gave up; undefined if it did not. */
const gaveUpAfterMs = (request: Recorded): number | undefined => {
  if (isTouchedByAny(request, silentFaults) && request.silenceMs !== undefined) return request.silenceMs;
  return isTouchedByAny(request, [...silentFaults, delay.name]) && hasDisconnected(request)
    ? request.durationMs
    : undefined;
};

const hasWaited = (request: Recorded, { isStream }: JudgedApi) =>
  isTouchedByAny(request, silentFaults) &&
  request.durationMs >= (isStream(request) ? patienceWithStreamsMs : patienceMs);

export const timeLimitExists: Check = {
  name: 'time-limit.exists',
  level: 'recommended',
  asks: 'The client has a timeout for responses and streams that are missing or incomplete.',
  judged: `Looks at missing and incomplete responses, and at silent streams. Fails: a client that waits at least ${patienceMs / 1_000} s, or ${patienceWithStreamsMs / 1_000} s on a stream, until the service resets the connection. Passes: a client that closes the connection itself, also during \`${delay.name}\`. Not judged: a client that waits for the end of \`${delay.name}\` or of a shorter silence.`,
  unseen: 'The service was never silent for that long, or the requests came through a proxy.',
  faults: [...silentFaults, delay.name],
  advice:
    'Set a timeout for each request that covers the whole body. Close a stream after 40 seconds of silence.',
  guide: 'Errors',
  judge({ requests, api }) {
    const own = requests.filter(({ proxied }) => !proxied);
    const good = own.filter((request) => gaveUpAfterMs(request) !== undefined);
    const bad = own.filter((request) => gaveUpAfterMs(request) === undefined && hasWaited(request, api));
    const times = good.slice(0, 3).map((request) => inSeconds(gaveUpAfterMs(request) as number));
    return {
      bad,
      good,
      failed: () => {
        const longestMs = bad.reduce((longest, { durationMs }) => Math.max(longest, durationMs), 0);
        return `The client waited in ${counted(bad.length, 'request')} until the service ended the connection. Its timeout is longer than ${inSeconds(longestMs)}, if it has one.`;
      },
      passed: `The client gave up after ${times.join(', ')}${good.length > times.length ? ', …' : ''}.`,
    };
  },
};
