import { remember } from './answers.ts';
import { unexpected } from './error.ts';
import type { Received } from './send.ts';

type GetPage<Item> = (url: URL, isFirst: boolean) => Promise<Received & { data: Item[] }>;

/**
 * A list, read page by page: `for await (const pet of petstore.listPets())`, or `await petstore.listPets().toArray()`. Every
 * iteration sends new requests, and may reject with a PetstoreError. Without a `limit`, pages have the largest size.
 */
export class List<Item> implements AsyncIterable<Item> {
  readonly #url: URL;
  readonly #get: GetPage<Item>;

  constructor(url: URL, get: GetPage<Item>) {
    this.#url = url;
    this.#get = get;
  }

  /** Yields page by page, also empty pages. `answerOf` returns the ETag of each. */
  async *pages(): AsyncGenerator<Item[], void, undefined> {
    const seen = new Set<string>();
    for (let url: URL | undefined = this.#url; url; ) {
      const received: Received & { data: Item[] } = await this.#get(url, url === this.#url);
      const { data, headers, status } = received;
      if (status !== 304) remember(data, received);
      // The ETag of a page for a single id is that of its item.
      const [item] = data;
      if (status !== 304 && url.searchParams.getAll('id').length === 1) remember(item, received);
      seen.add(`${url.searchParams}`);
      url = nextUrl(headers, url, seen);
      yield data;
    }
  }

  /** All items, read to the last page. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page;
  }
}

/**
 * The URL of the next page. Only the query comes from the link, so the key is never sent to another host than that of `baseUrl`.
 * `seen` has the queries of the pages so far.
 *
 * @throws PetstoreError if the link leads to one of them. The list would never end.
 */
function nextUrl(headers: Headers, url: URL, seen: ReadonlySet<string>): URL | undefined {
  const target = nextLink(headers.get('link'));
  if (target === undefined) return undefined;
  const next = new URL(url);
  const [, query = ''] = /^[^?#]*(\?[^#]*)/.exec(target) ?? [];
  next.search = query;
  if (query && !seen.has(`${next.searchParams}`)) return next;
  const problem = query ? 'leads to a page that was already read' : 'has no query';
  throw unexpected(`The link to the next page of ${url.pathname} ${problem}: ${JSON.stringify(target)}.`);
}

/** A link with its parameters. A quoted value may have any character. */
const link = /<([^<>]*)>((?:[^<"]|"(?:[^"\\]|\\.)*")*)/g;
const parameter = /;\s*([^\s;,="]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s;,]*))?/g;

/** The target of the link with `rel="next"` in a `Link` field (RFC 8288). Undefined on the last page. */
export function nextLink(field: string | null | undefined): string | undefined {
  for (const [, target, rest = ''] of (field ?? '').matchAll(link)) {
    const [, , rel = ''] = [...rest.matchAll(parameter)].find(([, name]) => /^rel$/i.test(name ?? '')) ?? [];
    if (/(?:^|[\s"])next(?:$|[\s"])/i.test(rel)) return target;
  }
  return undefined;
}
