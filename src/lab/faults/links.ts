import { nextLink } from '../../client/list.ts';
import { aliasedTarget, prefix } from '../../http/target.ts';
import { isUnmoved, otherOrigin } from './moved.ts';
import { urlOf } from './same-page.ts';
import { choice, fault, isList } from './shared/fault.ts';

/** The next page has the URL of an open link, which needs no key, at the other loopback name of this service. */
export const nextAway = fault({
  name: 'next-away',
  isCondition: true,
  mayEnd: true,
  fits: isList,
  canTouch: (request, services) => isUnmoved(request) && otherOrigin(request, services) !== undefined,
  group: 'Lists',
  level: 'recommended',
  does: 'The link with `rel="next"` leads to another origin, and from there back again. Both origins are this service, as for `moved-away`. The URL at the other origin accepts one kind of request without a key, for a minute. Requests with another host name or through a proxy are not affected.',
  goodClient:
    'Reads the next page from its own origin, or from the other one without its key, or stops and reports the link.',
  whyItMatters:
    'Clients add the key to every URL that a page names, so a page can send it anywhere. erpl-web and confluence2md had this bug, although they removed the key after redirects.',
  perform: ({ request, rehearsalId, services, touch }) => ({
    represent: (answer) => {
      const next = nextLink(answer.headers.Link);
      if (next === undefined) return answer;
      touch();
      const base = new URL(services.baseUrl);
      const { pathname, search } = new URL(next, base);
      const target = prefix + pathname.slice(base.pathname.length) + search;
      const place = services.openLinks.open(request, 'next-away', rehearsalId, target);
      const url = otherOrigin(request, services) + aliasedTarget(place, target);
      return { ...answer, headers: { ...answer.headers, Link: `<${url}>; rel="next"` } };
    },
  }),
});

const linkForm = choice(
  ['relations', 'unquoted', 'two-in-one', 'relative'],
  'What is unusual. `relations`: there are other links before the one to the next page, and after the last page there are only these. One has a title with commas and quotation marks. `unquoted`: `rel=next`. `two-in-one`: `rel="section next"`. `relative`: a path instead of a URL.',
);

const others = (list: string) =>
  `<${list}>; rel="collection first", <${list}>; rel=alternate; title="Read \\"all\\", page by page"`;

/** The value of `Link`. Without a next page: undefined, or other links. */
const linkFields: Readonly<
  Record<(typeof linkForm)['enum'][number], (list: string, next: string | undefined) => string | undefined>
> = {
  relations: (list, next) => others(list) + (next ? `, <${next}>; rel="next"` : ''),
  unquoted: (_, next) => next && `<${next}>; rel=next`,
  'two-in-one': (_, next) => next && `<${next}>; rel="section next"`,
  relative: (_, next) => next && `<${next.replace(/^https?:\/\/[^/]*/, '')}>; rel="next"`,
};

export const linkOdd = fault({
  name: 'link-odd',
  parameters: { linkForm },
  isCondition: true,
  fits: isList,
  group: 'Lists',
  level: 'recommended',
  does: 'The `Link` of a page has an unusual but valid form (RFC 8288).',
  goodClient:
    'Uses a parser for `Link`: it looks for `next` among the relations of each link, and resolves its URL.',
  whyItMatters:
    'Clients search the header with a pattern for one form. They miss the next page, or follow the wrong link. Spring HATEOAS did not read a relation without quotes, Guzzle split a title at its comma, and `links` of Requests has no `next` if a link has two relations.',
  perform: ({ request, services, parameters, touch }) => ({
    represent: (answer) => {
      const [list = ''] = urlOf(services.baseUrl, request.url).split('?');
      const Link = linkFields[parameters.linkForm](list, nextLink(answer.headers.Link));
      if (Link === undefined) return answer;
      touch();
      return { ...answer, headers: { ...answer.headers, Link } };
    },
  }),
});
