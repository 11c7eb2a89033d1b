import { operations } from '../../api/operations.ts';
import { nextLink } from '../../client/header-fields.ts';
import { faults } from '../faults/list.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted } from './check.ts';
import { isSuccess, isTouchedByAny } from './request-facts.ts';

const shortening = faults.filter(({ shortensPages }) => shortensPages).map(({ name }) => name);
const lists = new Set(operations.filter(({ success }) => success.kind === 'page').map(({ id }) => id));

const isPage = (request: Recorded) =>
  request.method === 'GET' && lists.has(request.operation ?? '') && isSuccess(request);

/** The path and the cursor that a page names as the next: `undefined` if it is the last. */
function nextOf({ answer }: Recorded): string | undefined {
  const url = nextLink(answer.link);
  return url && placeOf(url);
}

/** The path and the cursor of a page. A target may be no URL any more after its secrets were replaced. */
function placeOf(target: string): string {
  const [path = '', query = ''] = target.replace(/^https?:\/\/[^/]*/, '').split('?');
  const cursor = /(?:^|&)cursor=([^&]*)/.exec(query)?.[1] ?? '';
  return `${path} ${cursor.replaceAll(/%3d/gi, '=')}`;
}

export const pagesToTheEnd: Check = {
  name: 'pages.to-the-end',
  level: 'recommended',
  asks: 'The client follows `Link` with `rel="next"` until a page has none, also past short and empty pages.',
  judged:
    'Judged are pages that a rehearsal made shorter than the client had asked for, and that name a next page. The client must get that page later, by its `cursor`. A client that has found what it wanted and stops on purpose looks the same, so this is only recommended. Other pages are not judged: a client may want the first page alone.',
  unseen: 'No page with a next one was shortened by a rehearsal.',
  faults: shortening,
  advice: 'Follow `rel="next"` until a page has none, whatever number of items a page has.',
  guide: 'Getting started',
  judge({ requests }) {
    const shortened = requests.filter(
      (request) => isPage(request) && isTouchedByAny(request, shortening) && nextOf(request) !== undefined,
    );
    const lastGot = new Map<string, number>();
    for (const request of requests) if (isPage(request)) lastGot.set(placeOf(request.target), request.atMs);
    const left = shortened.filter(
      (request) => (lastGot.get(nextOf(request) as string) ?? Number.NEGATIVE_INFINITY) <= request.atMs,
    );
    return {
      bad: left,
      good: shortened,
      failed: `${counted(left.length, 'page')} named a next page that the client did not get. One that stops on purpose looks the same.`,
      passed: `The client got the page after each of ${counted(shortened.length, 'short page')}.`,
    };
  },
};
