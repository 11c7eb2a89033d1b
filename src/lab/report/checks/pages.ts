import { operations } from '../../../operations.ts';
import type { Recorded } from '../../recordings/recorded.ts';
import { type Check, counted, failed, notObserved, passed } from './check.ts';
import { isSuccess, isTouchedByAny } from './outcomes.ts';

const shortening = ['small-pages', 'empty-page'];
const lists = new Set(operations.filter(({ success }) => success.kind === 'page').map(({ id }) => id));

const isPage = (request: Recorded) =>
  request.method === 'GET' && lists.has(request.operation ?? '') && isSuccess(request);

/** The path and the cursor that a page names as the next: `undefined` if it is the last. */
function nextOf({ answer }: Recorded): string | undefined {
  const [, url] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(answer.link ?? '') ?? [];
  return url && placeOf(url);
}

/** Where a page stands: its path, and the cursor that leads to it. */
function placeOf(target: string): string {
  // Only what follows the host is read.
  const { pathname, searchParams } = new URL(target, 'http://localhost');
  return `${pathname} ${searchParams.get('cursor') ?? ''}`;
}

export const pagesToTheEnd: Check = {
  name: 'pages.to-the-end',
  level: 'recommended',
  asks: 'The client follows `Link` with `rel="next"` until a page has none, also past short and empty pages.',
  judged:
    'Judged are pages that a rehearsal made shorter than they were asked for: after them the client cannot have what it wanted. For each that names a next page, that page must be got later, by its `cursor`: to ask for it, be refused and give up is half a list. A client that stops on purpose, as it has found what it wanted, looks the same, so this is no more than recommended. Other pages are not judged: a client may want the first page alone.',
  unseen: 'No list with more to come was shortened by a rehearsal.',
  faults: shortening,
  advice: 'Follow `Link` until there is none. Do not count items, and do not stop at a page without any.',
  guide: 'Getting started',
  judge(requests) {
    const shortened = requests.filter(
      (request) => isPage(request) && isTouchedByAny(request, shortening) && nextOf(request) !== undefined,
    );
    if (shortened.length === 0) return notObserved('No page with a next one was shortened.');
    const lastGot = new Map<string, number>();
    for (const request of requests) if (isPage(request)) lastGot.set(placeOf(request.target), request.atMs);
    const left = shortened.filter(
      (request) => (lastGot.get(nextOf(request) as string) ?? Number.NEGATIVE_INFINITY) <= request.atMs,
    );
    return left.length > 0
      ? failed(
          left,
          `${counted(left.length, 'page')} named a next page that the client did not get. One that stops on purpose looks the same.`,
        )
      : passed(
          shortened,
          `The client got the page after each of ${counted(shortened.length, 'short page')}.`,
        );
  },
};
