import assert from 'node:assert/strict';
import { rowKinds } from '../../src/db/tables.ts';
import type { JsonObject as Json } from '../../src/reference/description/schemas.ts';
import { description, resolve } from './description.ts';
import type { Petstore } from './petstore.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shape of a description is known
type PathItem = Record<string, any>;
const contentOf = ({ content }: PathItem) => content['application/json'];

/** The resources that callers create, in an order in which the references of each example exist. A list has the name of its table. */
export const resources = rowKinds.flatMap((kind) => {
  const paths = Object.entries<PathItem>(description.paths);
  const list = paths.find(([path, { post }]) => post && path.endsWith(`/${kind}`));
  const item = paths.find(
    ([path, { get }]) => get && list && path.replace(/\/{\w+}$/, '/{}') === `${list[0]}/{}`,
  );
  if (!list || !item) return [];
  const shown = resolve(contentOf(item[1].get.responses['200']).schema);
  return {
    kind,
    /** The path of their list, below the base URL. */
    path: list[0],
    /** The path parameter of one of them. */
    param: /{(\w+)}$/.exec(item[0])?.[1] as string,
    properties: shown.properties as Record<string, Json>,
    /** The body of the request that creates one. */
    example: contentOf(list[1].post.requestBody).example as object,
  };
});

/** Creates one of each resource that a workspace lacks, from the examples, and a delivery. Nothing is sent. */
export async function fill(store: Petstore, key = store.key): Promise<void> {
  for (const { path, example } of resources) {
    if ((await store.call('GET', path, { key })).body.length > 0) continue;
    const headers = { 'idempotency-key': path };
    const answer = await store.call('POST', path, { key, body: example, headers });
    assert.equal(answer.status, 201, answer.text);
  }
  if ((await store.call('GET', '/store/webhooks/1/deliveries', { key })).body.length > 0) return;
  assert.equal((await store.call('POST', '/store/webhooks/1/ping', { key })).status, 202);
}
