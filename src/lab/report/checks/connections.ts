import { isStream } from '../../attempts.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { type Check, failed, notObserved, passed } from './check.ts';
import { connectionUse } from './connection-use.ts';
import { endOf, isBroken, isLeft } from './outcomes.ts';

/** Many clients close a connection that was idle for some seconds. */
const idleMs = 2_000;
/** What a few requests show is chance. */
const enough = 5;
/** Programs that are run once for each request, and end with it. A connection cannot outlive them. */
const runOnce = /^(?:curl|wget|httpie|xh)\//i;

/** Whether the next request could go on the same connection, if the client wanted it. */
const leavesOpen = (request: Recorded) =>
  !isBroken(request) &&
  !isLeft(request) &&
  !isStream(request) &&
  request.answer.connection?.toLowerCase() !== 'close';

export const connectionsReused: Check = {
  name: 'connections.reused',
  level: 'recommended',
  asks: 'The client keeps connections open and sends its next requests on them.',
  judged: `Judged is each request at whose beginning a connection of the client was open and unused, for less than ${idleMs / 1_000} s. At least half of them must go on one that was there. Streams and answers that broke off leave no connection; \`Connection: close\` of the client itself is no excuse. A request of curl or the like that is alone on its connection is not judged: the program ends with it.`,
  unseen: `Fewer than ${enough} requests could have used an open connection, a program was run for each request, or a proxy stands between.`,
  faults: [],
  advice: 'Use one session, agent or client object for all requests, and read each answer to its end.',
  guide: 'Getting started',
  judge(requests) {
    if (requests.some(({ isProxied }) => isProxied))
      return notObserved('A proxy passed the requests on, so connections are not those of the client.');
    const use = connectionUse(requests);
    const isRunOnce = (request: Recorded) =>
      runOnce.test(request.headers['user-agent'] ?? '') && use.opens(request) && use.isLast(request);
    const last = new Map<string, Recorded>();
    const reused: Recorded[] = [];
    const opened: Recorded[] = [];
    const ending = [...requests].sort((a, b) => endOf(a) - endOf(b));
    /** Connections that were left open, the one that was used last on top. */
    const free: Recorded[] = [];
    let ended = 0;
    for (const request of requests) {
      for (; endOf(ending[ended] as Recorded) < request.atMs; ended++) free.push(ending[ended] as Recorded);
      const isUsable = (before: Recorded) => last.get(before.connection) === before && leavesOpen(before);
      while (free.length > 0 && !isUsable(free.at(-1) as Recorded)) free.pop();
      const latest = free.at(-1);
      if (last.has(request.connection)) reused.push(request);
      else if (latest && request.atMs - endOf(latest) <= idleMs && !isRunOnce(request)) opened.push(request);
      last.set(request.connection, request);
    }
    const all = reused.length + opened.length;
    if (all < enough)
      return notObserved(
        requests.some(isRunOnce)
          ? 'A program like curl was run for each request, and has no connection to keep.'
          : 'Too few requests could have used an open connection.',
      );
    return reused.length >= opened.length
      ? passed(reused, `${reused.length} of ${all} requests used a connection that was open.`)
      : failed(
          opened,
          `${opened.length} of ${all} requests opened a connection although one was open and unused.`,
        );
  },
};
