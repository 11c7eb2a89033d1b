import type { Page } from '../../http/pagination.ts';
import { fault, isList } from './shared/fault.ts';

export const smallLimit = 2;

export const smallPages = fault({
  name: 'small-pages',
  shortensPages: true,
  isCondition: true,
  fits: isList,
  shows: 'pages',
  group: 'Lists',
  level: 'required',
  does: 'A page of a list has at most two items, whatever `limit` says. The fault counts as performed if the page would otherwise have more than two items.',
  goodClient: 'Follows `rel="next"` until a page has none.',
  whyItMatters:
    'Clients treat the first page as the whole list, or a page shorter than `limit` as the last one. With little data nobody notices.',
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
