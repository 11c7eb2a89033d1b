import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../../src/api/operations.ts';
import { createPetstore } from '../../../src/client/index.ts';
import { assertTouched, assertUntouched, performedOf, rehearse } from '../../support/lab.ts';
import { type JsonAnswer, type Petstore, startPetstore } from '../../support/petstore.ts';
import { fill } from '../../support/resources.ts';
import { nextPath } from '../../support/values.ts';

/** Follows the links of a list from its first page. */
async function pagesOf(store: Petstore, path: string): Promise<JsonAnswer[]> {
  const pages: JsonAnswer[] = [];
  for (let next: string | undefined = path; next; next = nextPath(pages.at(-1) as JsonAnswer)) {
    assert.ok(pages.length < 100, `${path} goes on for ever`);
    const page = await store.call('GET', next);
    assert.equal(page.status, 200, page.text);
    pages.push(page);
  }
  return pages;
}

const itemsOf = (pages: readonly JsonAnswer[]) => pages.flatMap(({ body }) => body);

const lists = operations
  .filter(({ success }) => success.kind === 'page')
  .map(({ id, path }) => ({ id, path: path.replace('{webhookId}', '1') }));

const variants = ['/pets?status=available&limit=7', '/pets?id=1&id=2&id=3', '/store/events?after=2&limit=3'];

test('under small-pages every list is complete, in pages of at most two', async (t) => {
  const store = await startPetstore(t);
  await fill(store);
  for (const quantity of [5, 6, 7, 8, 9]) await store.call('PATCH', '/inventory/1', { body: { quantity } });
  const paths = [...lists.map(({ path }) => path), ...variants];
  const whole = await Promise.all(paths.map((path) => pagesOf(store, path)));
  const rehearsal = await rehearse(store, ['small-pages']);
  for (const [index, path] of paths.entries()) {
    const pages = await pagesOf(store, path);
    assert.deepEqual(itemsOf(pages), itemsOf(whole[index] as JsonAnswer[]), path);
    for (const page of pages) {
      assert.ok(page.body.length <= 2, `${path}: ${page.text}`);
      if (nextPath(page)) assertTouched(page, rehearsal, 'small-pages');
      else assertUntouched(page);
    }
  }
});

test('small-pages does not change pages whose limit is already small', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, ['small-pages']);
  for (const path of ['/pets?limit=2', '/pets?limit=1', '/pets?id=1&id=2', '/pets?id=1', '/pets/1'])
    assertUntouched(await store.call('GET', path));
  assert.equal((await store.call('GET', '/pets?limit=0')).status, 400);
});

test('empty-page returns one page of each list without items, and its link leads to them', async (t) => {
  const store = await startPetstore(t);
  await fill(store);
  const paths = [...lists.map(({ path }) => path), ...variants.slice(0, 1)];
  for (const path of paths) {
    const whole = await pagesOf(store, path);
    const rehearsal = await rehearse(store, ['empty-page']);
    const [empty, ...rest] = await pagesOf(store, path);
    assert.deepEqual(empty?.body, [], path);
    assertTouched(empty as JsonAnswer, rehearsal, 'empty-page');
    assert.deepEqual(itemsOf(rest), itemsOf(whole), path);
    for (const page of rest) assertUntouched(page);
    assert.deepEqual(await performedOf(store, rehearsal.id), [1]);
  }
});

test('empty-page does not apply to the read of a single pet, and waits for a list', async (t) => {
  const store = await startPetstore(t);
  const { id } = await rehearse(store, ['empty-page']);
  const single = await store.call('GET', '/pets?id=2');
  assertUntouched(single);
  assert.deepEqual([single.body[0]?.id, single.headers.link], [2, undefined]);
  assert.deepEqual(await performedOf(store, id), [0]);
  assert.deepEqual((await store.call('GET', '/pets?id=2&id=3')).body, []);
});

test('an empty page after a cursor continues at the cursor, with the other parameters', async (t) => {
  const store = await startPetstore(t);
  const path = '/pets?status=available&limit=2';
  const whole = await pagesOf(store, path);
  await rehearse(store, [{ fault: 'empty-page', after: 1 }]);
  const pages = await pagesOf(store, path);
  assert.deepEqual(pages[1]?.body, []);
  const [own, next] = [nextPath(pages[0] as JsonAnswer), nextPath(pages[1] as JsonAnswer)];
  assert.match(next ?? '', /status=available&limit=1&cursor=/);
  assert.notEqual(next, own, 'a client that looks for endless loops must not take it for one');
  assert.deepEqual(itemsOf(pages), itemsOf(whole));
});

test('the Last-Event-ID of an empty page of events skips no event', async (t) => {
  const store = await startPetstore(t, { seed: false });
  await fill(store);
  for (const [path, place] of [
    ['/store/events', '0'],
    ['/store/events?after=2', '2'],
    ['/store/events?after=2&type=order.placed', '2'],
  ] as const) {
    await rehearse(store, ['empty-page']);
    const empty = await store.call('GET', path);
    assert.deepEqual([empty.body, empty.headers['last-event-id']], [[], place], path);
    const after = await store.call('GET', `/store/events?after=${place}`);
    assert.deepEqual(
      itemsOf(await pagesOf(store, nextPath(empty) as string)),
      after.body.filter(({ type }: { type: string }) => !path.includes('type=') || type === 'order.placed'),
    );
  }
});

test('an empty page is refused where the real page would be', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, ['empty-page']);
  assert.equal((await store.call('GET', '/store/webhooks/99/deliveries')).status, 404);
  assert.equal((await store.call('GET', '/store/events?after=99999')).status, 400);
});

test('under same-page the last page of every list links to itself, and earlier pages stay unchanged', async (t) => {
  const store = await startPetstore(t);
  await fill(store);
  const paths = [...lists.map(({ path }) => path), ...variants.slice(0, 2), '/store/events?limit=3'];
  const whole = await Promise.all(paths.map((path) => pagesOf(store, path)));
  const rehearsal = await rehearse(store, ['same-page']);
  for (const [index, path] of paths.entries()) {
    let at = path;
    for (const before of whole[index] as JsonAnswer[]) {
      const page = await store.call('GET', at);
      assert.deepEqual(page.body, before.body, at);
      const next = nextPath(page) as string;
      if (nextPath(before)) {
        assertUntouched(page);
        at = next;
      } else {
        assertTouched(page, rehearsal, 'same-page');
        assert.equal(decodeURIComponent(next), decodeURIComponent(at));
      }
    }
  }
});

test('same-page links to itself also under large-ids, and in a 304', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, ['same-page', 'large-ids']);
  const second = nextPath(await store.call('GET', '/pets?limit=15')) as string;
  const last = await store.call('GET', second);
  assert.equal(nextPath(last), second);
  const headers = { 'if-none-match': last.headers.etag as string };
  const unchanged = await store.call('GET', second, { headers });
  assert.deepEqual([unchanged.status, nextPath(unchanged)], [304, second]);
});

/** The client of the package, for a store that listens. */
const clientOf = (store: Petstore, origin: string) =>
  createPetstore({ baseUrl: `${origin}/v1`, apiKey: store.key });

for (const [linkForm, next, last] of [
  [
    'relations',
    '<ALL>; rel="collection first", <ALL>; rel=alternate; title="Read \\"all\\", page by page", <NEXT>; rel="next"',
    '<ALL>; rel="collection first", <ALL>; rel=alternate; title="Read \\"all\\", page by page"',
  ],
  ['unquoted', '<NEXT>; rel=next', undefined],
  ['two-in-one', '<NEXT>; rel="section next"', undefined],
  ['relative', '</v1/pets?NEXT>; rel="next"', undefined],
] as const)
  test(`link-odd:linkForm=${linkForm} writes the links of every page in a valid form`, async (t) => {
    const store = await startPetstore(t);
    const usual = await store.call('GET', '/pets?limit=15');
    const [, url = ''] = /<(.*)>/.exec(usual.headers.link ?? '') ?? [];
    const rehearsal = await rehearse(store, [{ fault: 'link-odd', linkForm }]);
    const first = await store.call('GET', '/pets?limit=15');
    assertTouched(first, rehearsal, 'link-odd');
    const [list, query] = url.split('?');
    const filled = (text: string | undefined) =>
      text
        ?.replaceAll('ALL', list as string)
        .replace('?NEXT', `?${query}`)
        .replace('NEXT', url);
    assert.equal(first.headers.link, filled(next));
    const rest = await store.call('GET', nextPath(usual) as string);
    assert.equal(rest.headers.link, filled(last));
    const { length } = await clientOf(store, await store.listen())
      .listPets({ limit: 6 })
      .toArray();
    assert.equal(length, 20);
  });

test('petstore-lab/client notices a page that links to itself', async (t) => {
  const store = await startPetstore(t);
  const origin = await store.listen();
  await rehearse(store, ['same-page']);
  const petstore = clientOf(store, origin);
  await assert.rejects(Array.fromAsync(petstore.listPets()), /leads to a page that was already read/);
});
