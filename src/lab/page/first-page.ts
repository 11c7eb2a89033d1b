import { answerOf, type List } from '../../client/index.ts';

/** What a list has at its beginning, and whether there is more. */
export interface FirstPage<Item> {
  items: Item[];
  hasMore: boolean;
}

/** The first page of a list that has items. An empty page may have a next one. */
export async function firstPage<Item>(list: List<Item>): Promise<FirstPage<Item>> {
  for await (const items of list.pages()) {
    const hasMore = /rel="?next/.test(answerOf(items)?.headers.get('link') ?? '');
    if (items.length > 0) return { items, hasMore };
  }
  return { items: [], hasMore: false };
}
