import { headOf } from '../recordings/link-attempts.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Expected } from './expected.ts';
import {
  follows,
  hasDisconnected,
  idempotencyKeyOf,
  isBroken,
  isRead,
  isSuccess,
  isSurelySame,
} from './request-facts.ts';

/** Retries that are certain on any connection: by their key, or beyond what `expected` has, unless it repeats such reads. */
export function knownRetriesOf(requests: readonly Recorded[], { timesOf }: Partial<Expected> = {}) {
  const knownRetries = new Map<Recorded, Recorded>();
  const counted = new Set<string>();
  const usual = new Set<string>();
  const lastOf = new Map<string, Recorded>();
  for (const request of requests) {
    const thing = thingOf(request);
    if (thing === undefined) continue;
    const before = lastOf.get(thing);
    if (before && hasFailed(before) && follows(request, before)) knownRetries.set(request, before);
    lastOf.set(thing, request);
  }
  if (timesOf) {
    const surplusOfHead = new Map<string, number>();
    for (const request of requests) {
      const head = headOf(request.fingerprint);
      const surplus = surplusOfHead.get(head) ?? -timesOf({ ...request, isGuessed: true });
      surplusOfHead.set(head, surplus + 1);
    }
    const isFirstUse = (request: Recorded) => !knownRetries.has(request);
    const isOpen = (request: Recorded) => hasFailed(request) && !mayBeRepeated.has(request);
    const mayBeRepeated = new Set(knownRetries.values());
    for (const [fingerprint, group] of Map.groupBy(requests, (request) => request.fingerprint)) {
      const known = group.find(({ isGuessed }) => !isGuessed) ?? (group[0] as Recorded);
      const times = timesOf(known);
      if (group.length <= times) usual.add(fingerprint);
      if (isRead(known) && times > 1) continue;
      const things = group.filter(isFirstUse);
      const pairs = pairsIn(things, isOpen);
      const surplus = things.length - times;
      if (pairs.length > surplus && surplus > 0) continue;
      counted.add(fingerprint);
      if (surplus <= 0) continue;
      const isSure = (pair: Pair) =>
        isSurelySame(...pair) || (surplusOfHead.get(headOf(fingerprint)) ?? 0) > 0;
      for (const [failed, retry] of pairs.filter(isSure)) knownRetries.set(retry, failed);
    }
  }
  return {
    knownRetries,
    isCounted: ({ fingerprint }: Recorded) => counted.has(fingerprint),
    isUsual: ({ fingerprint }: Recorded) => usual.has(fingerprint),
  };
}

type Pair = [failed: Recorded, retry: Recorded];

/** Each failure with the next request after it, oldest first. */
function pairsIn(things: readonly Recorded[], isOpen: (request: Recorded) => boolean): Pair[] {
  const open: Recorded[] = [];
  let next = 0;
  const pairs: Pair[] = [];
  for (const request of things) {
    const failed = open[next];
    if (failed && follows(request, failed)) {
      pairs.push([failed, request]);
      next++;
    }
    if (isOpen(request)) open.push(request);
  }
  return pairs;
}

/** Identifies what a POST with a key creates. A retry with another body has the same identity: it is a wrong retry. */
export function thingOf(request: Recorded): string | undefined {
  const key = idempotencyKeyOf(request);
  return request.method === 'POST' && key !== undefined ? `${request.target} ${key}` : undefined;
}

const hasFailed = (request: Recorded) => !isSuccess(request) || isBroken(request) || hasDisconnected(request);
