import type { Operation } from '../../../operation.ts';
import type { Page } from '../../../page.ts';
import { fault } from '../fault.ts';

const smallLimit = 2;

const isList = ({ success }: Operation) => success.kind === 'page';

export const smallPages = fault({
  name: 'small-pages',
  parameters: {},
  isCondition: true,
  fits: isList,
  group: 'Lists',
  level: 'required',
  does: 'No page of a list has more than two items, whatever `limit` says. A page is touched if it holds fewer than it would have.',
  goodClient: 'Follows the link with `rel="next"` until a page has none.',
  bites:
    'Clients take the first page for the whole list, or one that is shorter than `limit` for the last; with little data nobody sees it.',
  perform: ({ touch }) => ({
    handle: (handle) => async (sql, input) => {
      const { query, page } = input;
      const limit = Math.min(query.limit ?? page.limit, smallLimit);
      const result = await handle(sql, { ...input, query: { ...query, limit }, page: { ...page, limit } });
      const { items, next } = result as Page<unknown>;
      const { id } = query as { id?: unknown[] };
      const asked = query.limit ?? id?.length ?? page.limit;
      if (asked > limit && items.length === limit && next !== undefined) touch();
      return result;
    },
  }),
});

export const emptyPage = fault({
  name: 'empty-page',
  parameters: {},
  isLate: true,
  fits: isList,
  group: 'Lists',
  level: 'recommended',
  does: 'A page is empty, and its link with `rel="next"` leads to what it would have held.',
  goodClient: 'Goes on while there is such a link, whatever a page holds.',
  bites:
    'Clients stop at the first page without items, and miss what follows: a filter can leave a page empty.',
  perform: ({ claim }) => ({
    handle: (handle) => async (sql, input) => {
      const { query, page } = input;
      const none = { query: { ...query, limit: 0 }, page: { ...page, limit: 0 } };
      // Refuses what the page would, and tells in the header fields how far it has looked.
      const { headers } = (await handle(sql, { ...input, ...none })) as Page<unknown>;
      if (!(await claim())) return handle(sql, input);
      return { items: [], next: page.after, ...(headers && { headers }) };
    },
  }),
});
