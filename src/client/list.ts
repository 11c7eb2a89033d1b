import { remember } from './answers.ts';
import { unexpected } from './error.ts';
import type { Received } from './send.ts';

/** Gets one page. */
type GetPage<Item> = (url: URL, isFirst: boolean) => Promise<Received & { data: Item[] }>;

/**
 * A list, which is read page by page as it is iterated over: `for await (const pet of petstore.listPets())`, or
 * `await Array.fromAsync(petstore.listPets())`. Every iteration asks anew, and may reject with a PetstoreError. Without a `limit`,
 * pages are as large as they may be.
 */
export class List<Item> implements AsyncIterable<Item> {
  readonly #url: URL;
  readonly #get: GetPage<Item>;

  constructor(url: URL, get: GetPage<Item>) {
    this.#url = url;
    this.#get = get;
  }

  /** Page by page, also the empty ones. `answerOf` tells the ETag of each. */
  async *pages(): AsyncGenerator<Item[], void, undefined> {
    for (let url: URL | undefined = this.#url; url; ) {
      const { data, headers, status } = await this.#get(url, url === this.#url);
      if (status !== 304) remember(data, { headers, status });
      // The ETag of a page that was asked for by one id is that of its item.
      const [item] = data;
      if (status !== 304 && url.searchParams.getAll('id').length === 1) remember(item, { headers, status });
      url = nextOf(headers, url);
      yield data;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page;
  }
}

/**
 * Where a list goes on, by the link with `rel="next"`. Of that the query alone is taken: the key goes to the address that the client was
 * given and nowhere else, also where the service knows itself by another name.
 */
function nextOf(headers: Headers, url: URL): URL | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (!/;\s*rel\s*=\s*(?:next\b|"(?:[^"]*\s)?next[\s"])/i.test(parameters)) continue;
    const next = new URL(url);
    const [, query = ''] = /^[^?#]*(\?[^#]*)/.exec(target) ?? [];
    next.search = query;
    if (query && next.href !== url.href) return next;
    throw unexpected(`A page of ${url.pathname} leads to no other page of it: ${JSON.stringify(target)}.`);
  }
  return undefined;
}
