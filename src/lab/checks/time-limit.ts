import { delay } from '../faults/delay.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import { isLeft, isTouchedByAny, silentFaults } from './request-facts.ts';

export const timeLimitExists: Check = {
  name: 'time-limit.exists',
  level: 'recommended',
  asks: 'The client gives up by itself when an answer does not come, or not to its end.',
  judged: `Judged are requests that the service left without an answer, or without the rest of one. A client that waits until the service resets the connection fails. One that closes the connection itself passes, also during \`${delay.name}\`. To wait for the end of \`${delay.name}\` counts neither way. Streams are not judged: a recording does not tell who ended them.`,
  unseen: 'The service was never silent, or a proxy was between.',
  faults: [...silentFaults, delay.name],
  advice: 'Set a time limit for each request that lasts until the end of its body.',
  guide: 'Errors',
  judge({ requests }) {
    const isWaiting = (request: Recorded) =>
      isTouchedByAny(request, silentFaults) && !request.isProxied && !isLeft(request);
    const bad = requests.filter(isWaiting);
    if (bad.length > 0) {
      const longestMs = Math.max(...bad.map(({ tookMs }) => tookMs));
      return failed(
        bad,
        `The client waited ${(longestMs / 1_000).toFixed(1)} s in ${counted(bad.length, 'request')}, until the service ended the connection.`,
      );
    }
    const good = requests.filter(
      (request) => isTouchedByAny(request, [...silentFaults, delay.name]) && isLeft(request),
    );
    return good.length > 0
      ? passed(
          good,
          `The client gave up after ${good.map(({ tookMs }) => `${(tookMs / 1_000).toFixed(1)} s`).join(', ')}.`,
        )
      : notObserved('The service was never silent.');
  },
};
