import { nextLink } from '../../client/list.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { JudgedApi } from './judged-api.ts';

/** The target of the link to the next page; undefined for the last page. */
export const nextOf = ({ answerHeaders }: Recorded): string | undefined => nextLink(answerHeaders.link);

/** Path and query. After its secrets were replaced, a target may no longer be a valid URL. */
function partsOf(target: string): [path: string, query: string] {
  const [path = '', query = ''] = target.replace(/^https?:\/\/[^/]*/, '').split('?');
  return [path, query];
}

export const pathOf = (target: string) => partsOf(target)[0];

/** The path and the cursor of a page. */
export function placeOf(target: string): string {
  const [path, query] = partsOf(target);
  const cursor = /(?:^|&)cursor=([^&]*)/.exec(query)?.[1] ?? '';
  return `${path} ${cursor.replaceAll(/%3d/gi, '=')}`;
}

export const hasCursor = (target: string) => !placeOf(target).endsWith(' ');

/** The names of the parameters that filter a list, sorted. */
export function filtersOf(target: string): string[] {
  const names = partsOf(target)[1]
    .split('&', 100)
    .map((part) => part.slice(0, `${part}=`.indexOf('=')));
  return [...new Set(names)].filter((name) => !['', 'cursor', 'limit'].includes(name)).sort();
}

/** Pages whose next page the client did not read later. */
export function unfollowed(requests: readonly Recorded[], { isPage }: JudgedApi): Recorded[] {
  const lastGot = new Map<string, number>();
  for (const request of requests) if (isPage(request)) lastGot.set(placeOf(request.target), request.atMs);
  return requests.filter((request) => {
    const next = isPage(request) ? nextOf(request) : undefined;
    return next !== undefined && (lastGot.get(placeOf(next)) ?? 0) <= request.atMs;
  });
}
