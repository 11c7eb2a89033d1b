import { nextLink } from '../../client/list.ts';
import { maxParameters } from '../../http/input.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { JudgedApi } from './judged-api.ts';

/** The target of the link to the next page; undefined for the last page. */
export const nextOf = ({ answerHeaders }: Recorded): string | undefined => nextLink(answerHeaders.link);

/** Parameters that say where in a list or stream to continue, and how much to return. */
const placing = ['cursor', 'limit', 'after'];

/** What a request reads. After its secrets were replaced, a target may no longer be a valid URL. */
export function placeOf(target: string) {
  const [path = '', query = ''] = target.replace(/^https?:\/\/[^/]*/, '').split('?');
  const parameters = new URLSearchParams(query.split('&', maxParameters).join('&'));
  const filters = [...parameters].filter(([name]) => name !== '' && !placing.includes(name)).sort();
  const list = `${path}?${new URLSearchParams(filters)}`;
  return {
    path,
    /** The list or stream: the path with all filters. */
    list,
    /** The same with its limit. A client may read one list to its end, and also its first item. */
    read: `${list} ${parameters.get('limit') ?? ''}`,
    /** The names of the filters, sorted. */
    filters: [...new Set(filters.map(([name]) => name))],
    /** Where a page begins. Empty for the first page. */
    cursor: parameters.get('cursor') ?? '',
  };
}

/** Pages whose next page the client did not read later. */
export function unfollowed(requests: readonly Recorded[], { isPage }: JudgedApi): Recorded[] {
  const nameOf = (target: string) => {
    const { list, cursor } = placeOf(target);
    return `${list} ${cursor}`;
  };
  const lastGot = new Map<string, number>();
  for (const request of requests) if (isPage(request)) lastGot.set(nameOf(request.target), request.atMs);
  return requests.filter((request) => {
    const next = isPage(request) ? nextOf(request) : undefined;
    return next !== undefined && (lastGot.get(nameOf(next)) ?? 0) <= request.atMs;
  });
}
