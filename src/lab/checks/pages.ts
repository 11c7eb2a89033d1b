import { faults } from '../faults/list.ts';
import { samePage } from '../faults/same-page.ts';
import type { Recorded } from '../recordings/recorded.ts';
import { type Check, counted } from './check.ts';
import { filtersOf, hasCursor, isPage, nextOf, placeOf, unfollowed } from './page-links.ts';
import { isTouchedByAny } from './request-facts.ts';

const shortening = faults.filter(({ shortensPages }) => shortensPages).map(({ name }) => name);

export const pagesToTheEnd: Check = {
  name: 'pages.to-the-end',
  level: 'recommended',
  asks: 'The client follows `Link` with `rel="next"` until a page has none, also past short and empty pages.',
  judged:
    'Judged are pages that a rehearsal made shorter than the client had asked for, and that name a next page. The client must get that page later, by its `cursor`. A client that has found what it wanted and stops on purpose looks the same, so this is only recommended, and `grade` does not judge lists that the program leaves without faults, too. Other pages are not judged: a client may want the first page alone.',
  unseen: 'No page with a next one was shortened by a rehearsal.',
  faults: shortening,
  advice:
    'If you want the whole list, follow `rel="next"` until a page has none, whatever number of items a page has.',
  guide: 'Getting started',
  judge({ requests, leavesPages }) {
    const shortened = requests.filter(
      (request) =>
        isPage(request) && isTouchedByAny(request, shortening) && nextOf(request) && !leavesPages(request),
    );
    const left = new Set(unfollowed(requests));
    const bad = shortened.filter((request) => left.has(request));
    return {
      bad,
      good: shortened,
      failed: `${counted(bad.length, 'page')} named a next page that the client did not get. One that stops on purpose looks the same.`,
      passed: `The client got the page after each of ${counted(shortened.length, 'short page')}.`,
    };
  },
};

/** A page that was asked for by a cursor, and the filters of the link that the cursor is from. */
interface NextPage {
  page: Recorded;
  link: Recorded;
  lost: readonly string[];
}

/** The pages with a cursor, each with the link that it follows best: lists with different filters have equal cursors. */
function nextPages(requests: readonly Recorded[]): NextPage[] {
  const links = new Map<string, Map<string, Recorded>>();
  const pages: NextPage[] = [];
  for (const page of requests) {
    if (!isPage(page)) continue;
    const filters = filtersOf(page.target);
    const found = [...(links.get(placeOf(page.target)) ?? [])].map(([names, link]) => ({
      ...{ page, link },
      lost: names.split(' ').filter((name) => name !== '' && !filters.includes(name)),
    }));
    const best = found.toSorted((a, b) => a.lost.length - b.lost.length)[0];
    if (best) pages.push(best);
    const next = nextOf(page);
    // Under `same-page` a link may lead to the first page, which has no cursor. Any other list begins so.
    if (next === undefined || !hasCursor(next)) continue;
    const place = placeOf(next);
    const ofPlace = links.get(place) ?? new Map<string, Recorded>();
    links.set(place, ofPlace.set(filtersOf(next).join(' '), page));
  }
  return pages;
}

export const filtersKept: Check = {
  name: 'pages.filters-kept',
  level: 'required',
  asks: 'The client asks for each page with the filters of the first.',
  judged:
    'Judged are pages that the client asked for by the `cursor` of a link. One without a parameter that the link has fails, since the list is another one then. `limit` may differ.',
  unseen: 'No page was asked for by the cursor of a link.',
  faults: [...shortening, samePage.name],
  advice:
    'Request the address in `Link` unchanged, or add its `cursor` to all parameters of the first request.',
  guide: 'Getting started',
  judge({ requests }) {
    const pages = nextPages(requests);
    const bad = pages.filter(({ lost }) => lost.length > 0);
    return {
      bad: bad.flatMap(({ link, page }) => [link, page]),
      good: pages.flatMap(({ link, page }) => [link, page]),
      failed: () => {
        const { link, page, lost } = bad[0] as NextPage;
        return `${counted(bad.length, 'page')} lost a filter: request ${page.number} asks for the next page without ${lost.join(' and ')}, which the link of request ${link.number} has.`;
      },
      passed: 'Each page was asked for with the filters of its link.',
    };
  },
};
