import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import type { JudgedApi } from './judged-api.ts';
import { endOf, hasDisconnected, isBroken, isRedirect } from './request-facts.ts';

/** Many clients close a connection after some idle seconds. */
const idleMs = 2_000;
/** Workers that start together open a connection each. A busy machine may serve the first before it reads the last. */
const burstMs = 1_000;
/** Fewer requests are no evidence. */
const enough = 5;
/** Programs that run once per request, so they cannot reuse a connection. */
const runOnce = /^(?:curl|wget|httpie|xh)\//i;

const leavesOpen = (request: Recorded, { isStream }: JudgedApi) =>
  !isBroken(request) &&
  !hasDisconnected(request) &&
  !isStream(request) &&
  !isRedirect(request) &&
  (closes(request.headers) || !closes(request.answerHeaders));

const closes = ({ connection = '' }: Recorded['headers']) => connection.toLowerCase() === 'close';

export const connectionsReused: Check = {
  name: 'connections.reused',
  level: 'recommended',
  isAdvice: true,
  asks: 'The client keeps connections open and sends its next requests on them.',
  judged: `Looks at requests that began less than ${idleMs / 1_000} s after the end of another one whose connection the service left open. With several workers it must also have been more than ${burstMs / 1_000} s. Passes: at least half of these requests use an open connection. A client that ends connections itself, with or without \`Connection: close\`, is judged, too. Streams, redirects and broken responses leave no open connection. Not judged: curl and similar programs that run once per request.`,
  unseen: `Fewer than ${enough} requests could use an open connection, a program ran once per request, or the requests came through a proxy.`,
  faults: [],
  advice: 'Use one session, agent or client object for all requests, and read each response to its end.',
  guide: 'Getting started',
  judge({ requests, api, isOfOneWorker, opens, isLast }) {
    const isProxied = requests.some((request) => request.proxied);
    const leastIdleMs = isOfOneWorker ? 0 : burstMs;
    const isRunOnce = (request: Recorded) =>
      runOnce.test(request.headers['user-agent'] ?? '') && opens(request) && isLast(request);
    const last = new Map<string, Recorded>();
    const reused: Recorded[] = [];
    const opened: Recorded[] = [];
    const ending = [...requests].sort((a, b) => endOf(a) - endOf(b));
    /** The last requests of idle connections, newest last. */
    const free: Recorded[] = [];
    let ended = 0;
    for (const request of requests) {
      for (; endOf(ending[ended] as Recorded) < request.atMs; ended++) free.push(ending[ended] as Recorded);
      const isUsable = (before: Recorded) =>
        last.get(before.connection) === before && leavesOpen(before, api);
      while (free.length > 0 && !isUsable(free.at(-1) as Recorded)) free.pop();
      const latest = free.at(-1);
      const forMs = latest ? request.atMs - endOf(latest) : Number.NaN;
      if (last.has(request.connection)) reused.push(request);
      else if (forMs >= leastIdleMs && forMs <= idleMs && !isRunOnce(request)) opened.push(request);
      last.set(request.connection, request);
    }
    const all = reused.length + opened.length;
    const isSeen = all >= enough && !isProxied;
    return {
      bad: isSeen && opened.length > reused.length ? opened : [],
      good: isSeen ? reused : [],
      failed: `${opened.length} of ${all} requests opened a connection although the client could have kept the one before.`,
      passed: `${reused.length} of ${all} requests used an open connection.`,
      unseen: isProxied
        ? 'The requests came through a proxy, so the connections are not those of the client.'
        : requests.some(isRunOnce)
          ? 'A program such as curl ran once per request, so it cannot keep connections open.'
          : 'Too few requests could have used an open connection.',
    };
  },
};
