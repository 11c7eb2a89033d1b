import type { Recorded } from '../recordings/recorded-request.ts';
import type { JudgedApi } from './judged-api.ts';
import { nextOf, placeOf } from './page-links.ts';
import { follows, isRead, isSuccess, isUncertain } from './request-facts.ts';
import type { Retry } from './retry-pairs.ts';
import type { Traffic } from './traffic.ts';

/** The paths of the resources that a request is about. A list may return one resource with its entity tag for a single id. */
export function pathsOf(request: Recorded, api: JudgedApi): string[] {
  const [path = '', query = ''] = request.target.split('?');
  const singleBy = api.operationOf(request)?.success.singleBy;
  return singleBy === undefined
    ? [path]
    : new URLSearchParams(query).getAll(singleBy).map((id) => `${path}/${id}`);
}

export const wasRead = (request: Recorded) => isRead(request) && isSuccess(request);

/** Methods that change a resource. */
export const changes = ['PUT', 'PATCH', 'DELETE'];

/** Changes after which the client read the resource again. If it then sent a new change, the value has both. */
export function readAgain({ requests, api }: Traffic): Map<Recorded, Recorded[]> {
  const found = new Map<Recorded, Recorded[]>();
  const later = new Map<string, { change?: Recorded; wasRead?: true }>();
  for (const request of requests.toReversed()) {
    for (const path of pathsOf(request, api)) {
      const next = later.get(path);
      if (wasRead(request)) later.set(path, { ...next, wasRead: true });
      if (!changes.includes(request.method)) continue;
      if (next?.wasRead) found.set(request, next.change ? [request, next.change] : []);
      later.set(path, { change: request });
    }
  }
  return found;
}

/**
 * Returns whether the client read the list of a resource to its end, whole, filtered or page by page, between a failed POST and the next
 * attempt. With several workers, the same one may have read it.
 */
export function looksBetween({ requests, api }: Traffic): (pair: Retry) => boolean {
  const firstPages = new Map<string, Recorded>();
  const ended = new Map<string, Record<'first' | 'last', Recorded>>();
  const before = new Map<Recorded, Record<'first' | 'last', Recorded> | undefined>();
  for (const request of requests) {
    const { path, list, filters, cursor } = placeOf(request.target);
    if (request.method === 'POST') before.set(request, ended.get(path));
    const { singleBy = '' } = api.operationOf(request)?.success ?? {};
    if (!api.isPage(request) || isUncertain(request) || filters.includes(singleBy)) continue;
    if (cursor === '') firstPages.set(list, request);
    const first = firstPages.get(list);
    if (first && nextOf(request) === undefined) ended.set(path, { first, last: request });
  }
  return ({ failed, retry }) => {
    const look = before.get(retry);
    return look !== undefined && follows(look.first, failed) && follows(retry, look.last);
  };
}
