import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operations } from '../../src/api/operations.ts';
import { errorCodes } from '../../src/foundation/errors.ts';
import { guides } from '../../src/reference/description/guides.ts';
import { pagePaths } from '../../src/reference/pages/serve-docs.ts';
import { textPaths } from '../../src/reference/pages/texts.ts';
import { type Petstore, startPetstore } from '../support/petstore.ts';
import { textOf } from '../support/tree.ts';

/** Behind a proxy that removes the prefix. */
const rootUrl = 'https://pets.example/store';
const baseUrl = `${rootUrl}/v1`;
const store = await startPetstore({ after }, { seed: false, baseUrl });

const read = async (store: Petstore, path: string) => {
  const answer = await store.send('GET', path, { key: null });
  assert.equal(answer.status, 200, path);
  return answer;
};

const mediaTypes: Record<string, string> = {
  '': 'text/html',
  '.md': 'text/markdown',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
};

test('every text has its media type and an ETag, and its links lead to served pages', async () => {
  const linked = new Set<string>();
  for (const path of new Set([...textPaths(true), ...pagePaths({ operations, hasLab: true })])) {
    const { headers, text } = await read(store, path);
    const mediaType = mediaTypes[/\.\w+$/.exec(path)?.[0] ?? ''];
    assert.equal(headers['content-type'], `${mediaType}; charset=utf-8`);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    const known = { 'if-none-match': headers.etag as string };
    assert.equal((await store.send('GET', path, { key: null, headers: known })).status, 304, path);
    assert.equal((await store.send('HEAD', path, { key: null })).status, 200);
    const inText = [...text.matchAll(/\]\((\S+?)\)/g)].map(([, link]) => link as string);
    const inPage = [...text.matchAll(/(?:href|src)="(.*?)"/g)].map(([, link]) => link as string);
    const inMap = [...text.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, link]) => link as string);
    const own = [...inText, ...inPage, ...inMap]
      .map((link) => new URL(link, rootUrl + path))
      .filter(({ origin }) => origin === new URL(rootUrl).origin);
    if (path !== '/robots.txt' && path !== '/changelog.md') assert.notDeepEqual(own, [], path);
    for (const { pathname } of own) {
      assert.ok(pathname.startsWith('/store/'), `${path}: ${pathname}`);
      linked.add(pathname);
    }
  }
  for (const pathname of linked) await read(store, pathname.slice('/store'.length));
});

test('llms.txt links to each guide, which is served as Markdown with its headings one level up', async () => {
  const { text: overview } = await read(store, '/llms.txt');
  assert.match(overview, /^# Petstore API\n\n> .+\n\n/);
  for (const { name, description } of guides(baseUrl)) {
    const [, link, note] = new RegExp(`^- \\[${name}\\]\\((.*)\\): (.+\\.)$`, 'm').exec(overview) ?? [];
    assert.ok(link && note, name);
    assert.ok(description.replaceAll('\n', ' ').startsWith(note), note);
    const { text } = await read(store, link.slice(rootUrl.length));
    assert.ok(text.startsWith(`# ${name}\n\n`));
    const [, heading] = /^### (.+)$/m.exec(description) ?? [];
    assert.ok(heading && text.includes(`\n## ${heading}\n`), name);
    const headingsOf = (page: string) => page.replaceAll(/```[\s\S]*?```/g, '').match(/^##+ .+$/gm) ?? [];
    assert.deepEqual(
      headingsOf(text),
      headingsOf(description).map((line) => line.slice(1)),
    );
    // Code stays as it is.
    for (const [code] of description.matchAll(/```[\s\S]*?```/g)) assert.ok(text.includes(code));
  }
});

test('one text, small enough for an assistant, has every operation, parameter, schema and error', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const { text } = await read(store, '/llms-full.txt');
  assert.ok(text.length > 20_000 && text.length < 1_550 * operations.length, String(text.length));
  for (const { id, method, path, params, query, body } of operations) {
    const section = text.split(`\`${method} ${path}\` · \`${id}\``)[1]?.split('\n### ')[0] ?? '';
    for (const name of [...Object.keys(params), ...Object.keys(query)]) {
      assert.ok(section.includes(`\`${name}\``), `${id}: ${name}`);
    }
    assert.equal(/^- body: `\w+` as `application/m.test(section), body !== undefined, id);
    assert.match(section, /^- 20\d/m);
    assert.match(section, /^- errors: 400 \(`invalid_\w+`.*\), 401, 403 \(`key_banned`\), /m);
  }
  for (const [code, [status]] of Object.entries(errorCodes)) {
    assert.match(text, new RegExp(`^- ${status}: .*\`${code}\``, 'm'));
  }
  const { body: description } = await store.send('GET', '/v1/openapi.json', { key: null });
  for (const [name, schema] of Object.entries<{ properties?: object }>(description.components.schemas)) {
    const section = text.split(`\n### ${name}\n`)[1]?.split('\n### ')[0] ?? '';
    for (const property of Object.keys(schema.properties ?? {})) {
      assert.ok(section.includes(`\`${property}\``), `${name}.${property}`);
    }
  }
  assert.doesNotMatch(text, /undefined|\[object/);
});

test('the changelog is served as a page without scripts, and as a text', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const { text: markdown } = await read(store, '/changelog.md');
  assert.equal(markdown, textOf('CHANGELOG.md'));
  let threads = 0;
  const count = () => void threads++;
  process.on('worker', count);
  t.after(() => process.off('worker', count));
  const { headers, text } = await read(store, '/changelog');
  assert.equal(threads, 1, 'made beside the event loop');
  assert.match(headers['content-security-policy'] as string, /^default-src 'none'; style-src 'self';/);
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(text) ?? [];
  assert.match(main, /^\s*<h1>Changelog<\/h1>/);
  assert.equal(main.match(/<li>/g)?.length, markdown.match(/^- /gm)?.length);
});

test('robots.txt allows crawlers everything except the APIs', async () => {
  const { text } = await read(store, '/robots.txt');
  const rules = [...text.matchAll(/^(Allow|Disallow): \/store(.*)$/gm)];
  const pathsOf = (rule: string) => rules.filter(([, name]) => name === rule).map(([, , path = '']) => path);
  assert.deepEqual(pathsOf('Disallow'), ['/v1/', '/accounts/', '/lab/']);
  const allowed = pathsOf('Allow');
  for (const path of allowed) await read(store, path);
  for (const path of ['/v1/openapi.json', '/v1/openapi-3.2.yaml', '/v1/arazzo.yaml', '/lab/openapi.json'])
    assert.ok(allowed.includes(path), path);
});
