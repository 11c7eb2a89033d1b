import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operations } from '../../../src/api/operations.ts';
import { labOperations } from '../../../src/lab/petstore/petstore-api.ts';
import { describeAccounts, describeLab, describeStore } from '../../../src/reference/description/apis.ts';
import { guides } from '../../../src/reference/description/guides.ts';
import { resolverOf } from '../../../src/reference/description/part.ts';
import { guidePagePath, operationPath } from '../../../src/reference/pages/pages.ts';
import { pagePaths } from '../../../src/reference/pages/serve-docs.ts';
import { restart } from '../../support/limits.ts';
import { startPetstore } from '../../support/petstore.ts';

/** Behind a proxy that removes the prefix. */
const rootUrl = 'https://pets.example/store';
const baseUrl = `${rootUrl}/v1`;
const store = await startPetstore({ after }, { seed: false, baseUrl });
const read = (path: string) => store.send('GET', path, { key: null });

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };

/** The visible text of a page. */
const textOf = (html: string) =>
  (/<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(#?\w+);/g, (_, name) => entities[name] as string);

test('every page has its own canonical URL, title and summary, and no script', async () => {
  const titles = new Set<string | undefined>();
  const paths = pagePaths({ operations, hasLab: true });
  for (const path of paths) {
    const { status, headers, text } = await read(path);
    assert.equal(status, 200, path);
    assert.ok(text.includes(`<link rel="canonical" href="${rootUrl}${path}">`), path);
    assert.match(text, /<meta name="description" content="[^"]{15,}">/, path);
    assert.doesNotMatch(textOf(text), /undefined|\[object/, path);
    titles.add(/<title>(.+)<\/title>/.exec(text)?.[1]);
    if (path === '/reference') continue;
    assert.doesNotMatch(text, /<script|\son\w+=/, path);
    assert.match(headers['content-security-policy'] as string, /^default-src 'none'; style-src 'self'; img/);
  }
  assert.equal(titles.size, paths.length);
});

test('search engines find every page through robots.txt and the sitemap', async () => {
  const { text: robots } = await read('/robots.txt');
  assert.ok(robots.endsWith(`\nSitemap: ${rootUrl}/sitemap.xml\n`));
  const { text } = await read('/sitemap.xml');
  const found = [...text.matchAll(/<loc>(.*)<\/loc>/g)].map(([, url]) => url);
  assert.deepEqual(
    found,
    pagePaths({ operations, hasLab: true }).map((path) => rootUrl + path),
  );
});

test('the page of an operation has its parameters, body, responses, errors and samples', async () => {
  for (const document of [
    describeStore(operations, baseUrl),
    describeLab(baseUrl),
    describeAccounts(baseUrl),
  ] as Json[]) {
    const resolve = resolverOf(document);
    for (const item of Object.values<Json>(document.paths))
      for (const operation of Object.values<Json>(item)) {
        const { text } = await read(operationPath({ id: operation.operationId }));
        const seen = textOf(text);
        const body = operation.requestBody?.content['application/json'];
        const success = resolve(Object.values<Json>(operation.responses)[0]);
        for (const part of [
          operation.summary,
          ...operation.parameters.map((parameter: Json) => resolve(parameter).name),
          ...(body ? Object.keys(resolve(body.schema).properties) : []),
          ...(body ? [JSON.stringify(body.example, null, 2)] : []),
          success.description.replaceAll('`', ''),
          ...Object.keys(success.headers),
          ...operation['x-codeSamples'].map(({ source }: Json) => source),
        ])
          assert.ok(seen.includes(part), `${operation.operationId}: ${part}`);
        const codes = Object.entries<Json>(operation.responses)
          .filter(([status]) => Number(status) >= 400)
          .flatMap(([, response]) => Object.keys(resolve(response).content['application/json'].examples));
        const linked = [...text.matchAll(/\/errors\/(\w+)"/g)].map(([, code]) => code);
        assert.deepEqual(linked, codes, operation.operationId);
      }
  }
});

// biome-ignore lint/suspicious/noExplicitAny: the description is valid OpenAPI
type Json = any;

test('the page of a guide has its full text, with headings that can be linked to', async () => {
  for (const { name, description } of guides(baseUrl)) {
    const { text } = await read(guidePagePath(name));
    const seen = textOf(text);
    for (const [, code = ''] of description.matchAll(/^```\w+\n([\s\S]*?)\n```$/gm))
      assert.ok(seen.includes(code), `${name}: ${code}`);
    const headings = description.replaceAll(/```[\s\S]*?```/g, '').match(/^###+ /gm) ?? [];
    assert.equal(text.match(/<h[23] id="[a-z0-9-]+">/g)?.length, headings.length, name);
  }
});

test('each link to a part of a page has a target', async () => {
  const ids = new Map<string, Set<string>>();
  for (const path of pagePaths({ operations, hasLab: true })) {
    const { text } = await read(path);
    for (const [, link = ''] of text.matchAll(/href="(\.[^"]*#[^"]*)"/g)) {
      const { pathname, hash } = new URL(link, `${rootUrl}${path}`);
      const target = pathname.slice('/store'.length);
      if (target === '/reference') {
        assert.equal((await read(`${target}/${hash.slice(1)}`)).status, 200, link);
        continue;
      }
      if (!ids.has(target)) {
        const { text: page } = await read(target);
        ids.set(target, new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string)));
      }
      assert.ok(ids.get(target)?.has(hash.slice(1)), `${path}: ${link}`);
    }
  }
  assert.ok(ids.size > 0);
});

test('the names of pages are matched exactly, and without a lab its pages are missing', async (t) => {
  for (const path of ['operations/createpet', 'operations/createPet/', 'operations/__proto__', 'guides/x'])
    assert.equal((await read(`/reference/${path}`)).status, 404, path);
  const off = await restart(t, store, { beside: true, lab: false });
  const ofLab = labOperations.map(operationPath);
  for (const path of [...ofLab, guidePagePath('Rehearse failures')])
    assert.equal((await off.send('GET', path, { key: null })).status, 404, path);
  for (const path of pagePaths({ operations, hasLab: false })) {
    const { status, text } = await off.send('GET', path, { key: null });
    assert.equal(status, 200, path);
    if (path !== '/changelog') assert.doesNotMatch(text, /href="[^"]*\/?lab["/]/, path);
  }
});
