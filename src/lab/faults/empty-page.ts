import type { Page } from '../../http/pagination.ts';
import { isSingleRead } from '../../http/responses.ts';
import { fault, isList } from './shared/fault.ts';

export const emptyPage = fault({
  name: 'empty-page',
  isQuick: true,
  shortensPages: true,
  actsAfterValidation: true,
  fits: isList,
  shows: 'pages',
  group: 'Lists',
  level: 'recommended',
  does: 'Returns an empty page. Its link with `rel="next"` leads to the missing items. The link has a different `limit`, so it does not lead to the same page. `GET /pets?id=2`, which reads one pet, is not affected.',
  goodClient: 'Follows `rel="next"` until a page has none, even after an empty page.',
  whyItMatters:
    'Clients stop at the first empty page and miss the rest. In real APIs a filter can leave a page empty although more pages follow.',
  perform: ({ claim, operation }) => {
    let limit: number | undefined;
    return {
      handle: (handle) => async (sql, input) => {
        const { query, page } = input;
        if (isSingleRead(operation.success, query)) return handle(sql, input);
        const none = { query: { ...query, limit: 0 }, page: { ...page, limit: 0 } };
        // With the limit 0 the handler validates the request as usual, and returns the headers of an empty page.
        const { headers } = (await handle(sql, { ...input, ...none })) as Page<unknown>;
        if (!(await claim())) return handle(sql, input);
        limit = page.limit > 1 ? page.limit - 1 : 2;
        return { items: [], next: page.after, ...(headers && { headers }) };
      },
      represent: (answer) => {
        const { Link } = answer.headers;
        if (limit === undefined || typeof Link !== 'string') return answer;
        return { ...answer, headers: { ...answer.headers, Link: withLimit(Link, limit) } };
      },
    };
  },
});

function withLimit(link: string, limit: number): string {
  const [, target = '', rest = ''] = /^<([^>]*)>(.*)$/.exec(link) ?? [];
  const url = new URL(target);
  url.searchParams.set('limit', String(limit));
  return `<${url}>${rest}`;
}
