import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { labPageUrlWithKey } from '../../../src/http/target.ts';
import { type KeyAccount, pageTitleOf } from '../../../src/lab/page/account.ts';
import { labPagePaths } from '../../../src/lab/serve-lab-page.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { recordedIn, startRecording } from '../../support/recordings.ts';

const maxBytes = 62_000;

const store = await startPetstore({ after }, { seed: false });

const get = (store: Petstore, url: string, headers: Record<string, string> = {}) =>
  store.app.inject({ url, headers });

/** The page and its files, without the redirect. */
const paths = labPagePaths.filter((path) => path !== '/lab/');

/** Every path of the page with its text. */
async function served(store: Petstore): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const path of paths) {
    const { statusCode, body } = await get(store, path);
    assert.equal(statusCode, 200, path);
    texts.set(path, body);
  }
  return texts;
}

/** The URLs that a page loads and links. */
const targetsOf = (path: string, text: string): string[] =>
  path === '/lab'
    ? Array.from(text.matchAll(/(?:src|href)="([^"#]+)[^"]*"/g), ([, target = '']) => target)
    : [];

test('/lab is the page, also with a trailing slash and behind a proxy that strips a prefix', async (t) => {
  const store = await startPetstore(t, { seed: false, baseUrl: 'https://pets.example/store/v1' });
  const { statusCode, headers, body } = await get(store, '/lab');
  assert.equal(statusCode, 200);
  assert.match(headers['content-type'] as string, /^text\/html/);
  assert.match(body, /<title>Petstore lab<\/title>/);
  const slash = await get(store, '/lab/');
  assert.equal(new URL(slash.headers.location as string, 'http://x/store/lab/').pathname, '/store/lab');
  // Relative, so each leads below the same prefix.
  const texts = await served(store);
  for (const [path, text] of texts)
    for (const target of targetsOf(path, text)) {
      assert.doesNotMatch(target, /^(\/|[a-z]+:)/, `${path} leads to ${target}`);
      const at = new URL(target, `https://pets.example/store${path}`).pathname;
      assert.match(at, /^\/store\//, `${path} leads to ${target}`);
      const { statusCode: found } = await get(store, at.slice('/store'.length));
      assert.equal(found, 200, `${path} leads to ${target}`);
    }
});

test('the page loads exactly the files that are served for it', async () => {
  const texts = await served(store);
  const loaded = new Set(['/lab']);
  for (const path of loaded)
    for (const target of targetsOf(path, texts.get(path) ?? '')) {
      const { pathname } = new URL(target, `http://x${path}`);
      const plain = pathname.replace(/[\w-]{27}\//, '');
      if (plain.startsWith('/lab/')) loaded.add(plain);
    }
  assert.deepEqual([...loaded].sort(), [...texts.keys()].sort());
});

test('the page takes less than 62 kB, compressed', async (t) => {
  const texts = await served(store);
  texts.set('icon', (await get(store, '/reference/icon.svg')).body);
  const bytes = [...texts.values()].reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
  t.diagnostic(`${bytes} bytes in ${texts.size} files`);
  assert.ok(bytes < maxBytes, `${bytes} bytes in ${texts.size} files`);
});

test('no module of the page creates markup from text', () => {
  const folder = new URL('../../../src/lab/page/', import.meta.url);
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.ts')))
    assert.doesNotMatch(
      readFileSync(new URL(name, folder), 'utf8'),
      /innerHTML|outerHTML|insertAdjacentHTML|unsafe(?:HTML|SVG)|document\.write/,
      name,
    );
});

test('the page may load only from its own origin, run no inline script or style, and create no markup from text', async () => {
  const { headers } = await get(store, '/lab');
  assert.deepEqual((headers['content-security-policy'] as string).split('; '), [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  assert.equal(headers['referrer-policy'], 'no-referrer');
  for (const [path, text] of await served(store)) {
    assert.doesNotMatch(text, /\sstyle=/, path);
    assert.doesNotMatch(text, /<script(?![^>]*\ssrc=)|<style|\son[a-z]+="/, path);
    const { headers: its } = await get(store, path);
    assert.equal(its['x-content-type-options'], 'nosniff', path);
  }
});

test('the files of the page are compressed if the client accepts it, and get 304 if it has them', async () => {
  for (const path of paths) {
    const first = await get(store, path, { 'accept-encoding': 'gzip' });
    assert.equal(first.headers['content-encoding'], 'gzip', path);
    const headers = { 'accept-encoding': 'gzip', 'if-none-match': first.headers.etag as string };
    const again = await get(store, path, headers);
    assert.deepEqual([again.statusCode, again.body], [304, ''], path);
  }
});

test('the URL of the page has the key behind #', () => {
  assert.equal(
    labPageUrlWithKey('https://pets.example/store/v1', 'pet_1'),
    'https://pets.example/store/lab#key=pet_1',
  );
});

test('the title shows the remaining requests, the ban, or why the page is paused', () => {
  const at = '2026-11-21T09:30:17.000Z';
  const window = (limit: number, remaining: number) => ({ limit, remaining, reset: 0 });
  const title = (account: Partial<KeyAccount> | undefined, connection = 'live', isHidden = false) =>
    pageTitleOf({ connection, account, nowMs: () => Date.parse(at) } as never, isHidden);
  const free = { minute: window(60, 12), day: window(1_000, 700), ban: { nextSeconds: 60 } };
  assert.equal(title(free), '12 of 60 left - Petstore lab');
  assert.equal(title({ ...free, day: window(1_000, 3) }), '3 of 1000 left - Petstore lab');
  const ban = { since: '2026-11-21T09:30:00.000Z', until: '2026-11-21T09:31:00.000Z', nextSeconds: 120 };
  assert.equal(title({ ...free, ban }), 'banned 0:43 - Petstore lab');
  assert.equal(title({ ...free, ban: { ...ban, until: at } }), '12 of 60 left - Petstore lab');
  assert.equal(title({ ...free, ban }, 'live', true), 'paused - Petstore lab');
  assert.equal(title(undefined, 'no-key', true), 'no key - Petstore lab');
  assert.equal(title(undefined, 'connecting'), 'Petstore lab');
  assert.equal(title(free, 'away'), 'paused - Petstore lab');
  assert.equal(title(undefined, 'revoked'), 'unknown key - Petstore lab');
});

test("the page's client marks its requests with the token of its page, and a recording shows it", async (t) => {
  const store = await startPetstore(t);
  const recording = await startRecording(store);
  const origin = await store.listen();
  const page = await (await fetch(`${origin}/lab`)).text();
  const querySelector = (selector: string) => {
    const [, name] = /^meta\[name="(.+)"\]$/.exec(selector) ?? [];
    const [, content] = new RegExp(`<meta name="${name}" content="(.+?)"`).exec(page) ?? [];
    return { getAttribute: () => content };
  };
  Object.assign(globalThis, { document: { baseURI: `${origin}/lab`, querySelector } });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  // Only the type check of browser code knows this module.
  const { operationsFor } = await import(String(new URL('../../../src/lab/page/api.ts', import.meta.url)));
  const { petstore } = operationsFor(store.key, new AbortController().signal);
  await petstore.getPet(1);
  await store.call('GET', '/pets/1');
  const [ofPage, other] = await recordedIn(store, recording);
  assert.deepEqual([ofPage.labPage, other.labPage], [true, undefined]);
});
