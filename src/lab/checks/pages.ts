import { counted } from '../../foundation/words.ts';
import { linkOdd } from '../faults/links.ts';
import { faultsThat } from '../faults/list.ts';
import { samePage } from '../faults/same-page.ts';
import type { Recorded } from '../recordings/recorded-request.ts';
import type { Check } from './check.ts';
import type { JudgedApi } from './judged-api.ts';
import { nextOf, placeOf, unfollowed } from './page-links.ts';
import { isTouchedByAny } from './request-facts.ts';

const shortening = faultsThat(({ shortensPages }) => shortensPages);
const obscuring = [...shortening, linkOdd.name];

export const pagesToTheEnd: Check = {
  name: 'pages.to-the-end',
  level: 'recommended',
  needs: 'pages with cursor',
  asks: 'The client follows `Link` with `rel="next"` until a page has none, even after short and empty pages.',
  judged:
    'Looks at pages with a next page that a rehearsal has shortened, or whose `Link` has an unusual form. Passes: the client reads the next page later, with its `cursor`. A client that stops on purpose looks like one that fails, so the check is only recommended. `grade` requires it in a run with another result. Not judged: other pages, because a client may need only the first; with `grade`, lists that the program also leaves unfinished in the runs without faults, and a run with the same result: it read far enough.',
  unseen: 'No rehearsal changed a page that has a next page.',
  faults: obscuring,
  advice:
    'To read a whole list, follow `rel="next"` until a page has none. Do not stop at a short or empty page.',
  guide: 'Getting started',
  judge({ requests, api, leavesPages }) {
    const changed = requests.filter(
      (request) =>
        api.isPage(request) && isTouchedByAny(request, obscuring) && nextOf(request) && !leavesPages(request),
    );
    const left = new Set(unfollowed(requests, api));
    const bad = changed.filter((request) => left.has(request));
    return {
      bad,
      good: changed,
      failed: `${counted(bad.length, 'page')} had a next page that the client did not read.`,
      passed: `The client read the next page after ${counted(changed.length, 'such page')}.`,
    };
  },
};

/** A page that was requested with a cursor, and the page whose link has this cursor. */
interface NextPage {
  page: Recorded;
  link: Recorded;
  lost: readonly string[];
}

/** The pages with a cursor, each with the last link to it, or else to another list: lists with different filters have equal cursors. */
function nextPages(requests: readonly Recorded[], { isPage }: JudgedApi): NextPage[] {
  const links = new Map<string, { link: Recorded; kept: readonly string[] }>();
  const pages: NextPage[] = [];
  for (const page of requests.filter(isPage)) {
    const { path, list, cursor, filters } = placeOf(page.target);
    const found = links.get(`${list} ${cursor}`) ?? links.get(`${path} ${cursor}`);
    if (found)
      pages.push({ page, link: found.link, lost: found.kept.filter((name) => !filters.includes(name)) });
    const next = placeOf(nextOf(page) ?? '');
    // Under `same-page` a link may lead to the first page, which has no cursor.
    if (next.cursor === '') continue;
    for (const place of [next.list, next.path])
      links.set(`${place} ${next.cursor}`, { link: page, kept: next.filters });
  }
  return pages;
}

export const filtersKept: Check = {
  name: 'pages.filters-kept',
  level: 'required',
  needs: 'pages with cursor',
  asks: 'The client requests each page with the filters of the first page.',
  judged:
    'Looks at pages that the client requested with the `cursor` of a link. Fails: a request that lacks a parameter of the link, because it reads another list. `limit` may differ.',
  unseen: 'No page was requested with the cursor of a link.',
  faults: [...shortening, samePage.name],
  advice: 'Request the URL in `Link` unchanged, or add its `cursor` to all parameters of the first request.',
  guide: 'Getting started',
  judge({ requests, api }) {
    const pages = nextPages(requests, api);
    const bad = pages.filter(({ lost }) => lost.length > 0);
    return {
      bad: bad.flatMap(({ link, page }) => [link, page]),
      good: pages.flatMap(({ link, page }) => [link, page]),
      failed: () => {
        const { link, page, lost } = bad[0] as NextPage;
        return `${counted(bad.length, 'page')} lost a filter: request ${page.id} has no ${lost.join(' and no ')}, but the link in the response to request ${link.id} has ${lost.length === 1 ? 'it' : 'them'}.`;
      },
      passed: 'Each page was requested with the filters of its link.',
    };
  },
};
