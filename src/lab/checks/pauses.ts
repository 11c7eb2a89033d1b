import type { Recorded } from '../recordings/recorded-request.ts';
import { follows, isSuccess } from './request-facts.ts';
import { certainRetries } from './retry-pairs.ts';
import type { Traffic } from './traffic.ts';

/** A time in which a response forbids requests. */
export interface Pause {
  /** A request before this time comes too early. */
  untilMs: number;
  /** Which requests it forbids. Without a scope: only the same request. */
  scope?: string;
  /** What an early request proves. */
  shownBy(early: Recorded): 'too early' | 'pause ended' | 'nothing';
}

interface Pair {
  by: Recorded;
  request: Recorded;
}

export interface Observed {
  /** Pauses that were obeyed. */
  obeyed: Pair[];
  /** Requests that came too early. */
  tooEarly: Pair[];
  /** Early requests that the service admitted, because it had ended the pause itself. */
  endedByService: Pair[];
  /** Requests that came too early, perhaps from workers that did not know about the pause. */
  uncertain: Recorded[];
}

/** The first pause of a scope that is not over. */
interface Current extends Pause {
  by: Recorded;
  /** The last refused request that was not retried in time. */
  ignoredBy?: Recorded;
}

/**
 * Finds requests that came too early, and in time. One worker knows each response; of several, only a retry counts. If a refused request
 * was retried in time, its worker waited: then an early request on its connection came from one that did not know about the pause.
 */
export function pausesOf(
  traffic: Traffic,
  pauseOf: (answered: Recorded) => Pause | undefined,
  scopesOf: (request: Recorded) => readonly string[] = () => [],
): Observed {
  const { requests, isOfOneWorker, knownRetries } = traffic;
  const asked = new Map(requests.map((request) => [request, pauseOf(request)]));
  const untilMsOf = (request: Recorded) => (isSuccess(request) ? undefined : asked.get(request)?.untilMs);
  const retries = certainRetries(traffic, (request) => untilMsOf(request) !== undefined);
  const refusalOf = new Map(retries.map(({ failed, retry }) => [retry, failed]));
  const waited = cameAgainInTime(requests, untilMsOf);
  const current = new Map<string, Current>();
  /** Refused requests that do not count for the client: they, or later ones, came too early, perhaps from another worker. */
  const doubtful = new Set<Recorded>();
  const observed: Observed = { obeyed: [], tooEarly: [], endedByService: [], uncertain: [] };

  const judge = (request: Recorded, { scope = '', untilMs, shownBy, by }: Current, sureBy?: Recorded) => {
    const shown = request.atMs < untilMs ? shownBy(request) : 'in time';
    if (shown === 'too early') {
      if (sureBy) observed.tooEarly.push({ by: sureBy, request });
      else observed.uncertain.push(request);
      doubtful.add(request).add(current.get(scope)?.by ?? by);
    }
    if (shown === 'in time' && !doubtful.has(by)) observed.obeyed.push({ by, request });
    if (shown === 'pause ended') observed.endedByService.push({ by, request });
    if (shown === 'in time' || shown === 'pause ended') current.delete(scope);
  };

  for (const request of requests) {
    const by = refusalOf.get(request);
    const own = by && asked.get(by);
    const isSure = isOfOneWorker || knownRetries.has(request) || !waited.has(by as Recorded);
    if (by && own) judge(request, { ...own, by }, isSure ? by : undefined);
    for (const scope of scopesOf(request)) {
      const pause = current.get(scope);
      if (!pause || scope === own?.scope || !follows(request, pause.by)) continue;
      judge(request, pause, isOfOneWorker ? pause.ignoredBy : undefined);
    }
    const pause = asked.get(request);
    if (pause?.scope === undefined) continue;
    const first = current.get(pause.scope) ?? { ...pause, by: request };
    if (!waited.has(request)) first.ignoredBy = request;
    current.set(pause.scope, first);
  }
  return observed;
}

/** Refused requests that were retried after their pause. Each later request is the retry of one refused request. */
function cameAgainInTime(
  requests: readonly Recorded[],
  untilMsOf: (request: Recorded) => number | undefined,
): ReadonlySet<Recorded> {
  const again = new Set<Recorded>();
  const waiting = new Map<string, Recorded[]>();
  for (const request of requests) {
    const refused = waiting.get(request.fingerprint) ?? [];
    const [first] = refused;
    if (first && (untilMsOf(first) as number) <= request.atMs) again.add(refused.shift() as Recorded);
    if (untilMsOf(request) === undefined) continue;
    refused.push(request);
    waiting.set(request.fingerprint, refused);
  }
  return again;
}

export const bothOf = (pairs: readonly Pair[]) => pairs.flatMap(({ by, request }) => [by, request]);
