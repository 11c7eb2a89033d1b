import type { Page } from '../../http/pagination.ts';
import { fault, isList } from './shared/fault.ts';

export const smallLimit = 2;

export const smallPages = fault({
  name: 'small-pages',
  shortensPages: true,
  isCondition: true,
  fits: isList,
  changesAnswers: true,
  group: 'Lists',
  level: 'required',
  does: 'No page of a list has more than two items, whatever `limit` says. A page is touched if it holds fewer than it would have.',
  goodClient: 'Follows the link with `rel="next"` until a page has none.',
  consequence:
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
