import { delay } from '../faults/delay.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted, decide, inSeconds } from './check.ts';
import { isLeft, isTouchedByAny, silentFaults } from './request-facts.ts';

/** A good client may wait so long. A shorter silence shows nothing if the client bears it. */
const patienceMs = 20_000;

export const timeLimitExists: Check = {
  name: 'time-limit.exists',
  level: 'recommended',
  asks: 'The client gives up by itself when an answer does not come, or not to its end.',
  judged: `Judged are requests that the service left without an answer, or without the rest of one. A client that waits ${patienceMs / 1_000} s or longer, until the service resets the connection, fails. One that closes the connection itself passes, also during \`${delay.name}\`. To wait for the end of \`${delay.name}\` or of a shorter silence counts neither way. Streams are not judged: a recording does not tell who ended them.`,
  unseen: 'The service was never silent for so long, or a proxy was between.',
  faults: [...silentFaults, delay.name],
  advice: 'Set a time limit for each request that lasts until the end of its body.',
  guide: 'Errors',
  judge({ requests }) {
    const isSilent = (request: Recorded) => isTouchedByAny(request, silentFaults) && !request.isProxied;
    const bad = requests.filter(
      (request) => isSilent(request) && !isLeft(request) && request.tookMs >= patienceMs,
    );
    const good = requests.filter(
      (request) => isTouchedByAny(request, [...silentFaults, delay.name]) && isLeft(request),
    );
    const times = good.slice(0, 3).map(({ tookMs }) => inSeconds(tookMs));
    return decide({
      ...{ bad, good },
      failed: () => {
        const longestMs = bad.reduce((longest, { tookMs }) => Math.max(longest, tookMs), 0);
        return `The client waited ${inSeconds(longestMs)} in ${counted(bad.length, 'request')}, until the service ended the connection.`;
      },
      passed: `The client gave up after ${times.join(', ')}${good.length > times.length ? ', …' : ''}.`,
      unseen: `The service was never silent for ${patienceMs / 1_000} s.`,
    });
  },
};
