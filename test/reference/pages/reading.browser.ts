import assert from 'node:assert/strict';
import { operations } from '../../../src/api/operations.ts';
import { labOperations } from '../../../src/lab/petstore/petstore-api.ts';
import { operationPath } from '../../../src/reference/pages/pages.ts';
import { findings } from '../../support/axe.ts';
import { browserTest as test } from '../../support/browsers.ts';
import { openReference } from './reference.ts';

/** Search terms, and the first expected result: a section of a guide, or an operation. */
const searches: [string, RegExp][] = [
  ['429', /^When a limit is used up Rate limits Guide/],
  ['Retry-After', /(Retry a POST safely Getting started|Errors|Rate limits) Guide/],
  ['ban', /^Bans Rate limits Guide/],
  ['key', /^(Three ways to a key )?Get a key Guide/],
  ['webhook', /^Receive webhooks Events Guide/],
  ['etag', /^Ask only for what is new Getting started Guide/],
  ['cursor', /^Read lists page by page Getting started Guide/],
  ['idempotency', /^Retry a POST safely Getting started Guide/],
  ['412', /^Do not overwrite other clients' changes Getting started Guide/],
  ['rate limits', /^Rate limits Guide/],
  ['rate_limited', /^When a limit is used up Rate limits Guide/],
  ['rate-limited', /^rate-limited Rehearse failures Guide/],
  ['lost answer', /^lost-answer Rehearse failures Guide/],
  ['webhok', /^Receive webhooks Events Guide/],
  ['createPet', /^Add a pet POST \/pets Operation/],
  ['list pets', /^List pets GET \/pets Operation/],
  ['/inventory/{petId}', /GET \/inventory\/\{petId\} Operation/],
  ['NewPet', /^NewPet Schema/],
  ['pet', /^List pets GET \/pets Operation/],
  ['pets', /^List pets GET \/pets Operation/],
  ['orders', /^List orders GET \/store\/orders Operation/],
  ['get an order', /^Get an order GET \/store\/orders\/\{orderId\} Operation/],
  ['POST /pets', /^Add a pet POST \/pets Operation/],
  ['events', /^Events Guide/],
  ['403', /^Bans Rate limits Guide/],
  ['pagination', /^Read lists page by page Getting started Guide/],
  ['python', /Python.* Generate a client Guide/i],
  ['startRehearsal', /^Start a rehearsal POST \/lab\/rehearsals Operation/],
  ['list recordings', /^List recordings GET \/lab\/recordings Operation/],
  ['openapi', /^openapi-generator Generate a client Guide/],
];

const looks = [
  { colorScheme: 'light', width: 1440, height: 900 },
  { colorScheme: 'dark', width: 390, height: 844 },
  { colorScheme: 'dark', width: 1440, height: 900 },
] as const;

/** One page of each kind, and the part of it that differs from the others. */
const pages = [
  ['reference', 'html'],
  ['reference#operations/createPet', 'main'],
  ['reference/operations/createWebhook', 'main'],
  ['reference/guides/rate-limits', 'main'],
  ['reference/schemas', 'section:has(> #Pet)'],
  ['reference/errors/insufficient_stock', 'main'],
  ['changelog', 'main'],
] as const;

/** Code and tables that are wider than their column. */
const tooWide = `[...document.querySelectorAll('pre, table')]
  .filter((element) => element.scrollWidth > element.clientWidth + 1)
  .map(({ textContent }) => textContent.slice(0, 80))`;

/** Opens all samples, without line wrapping. */
const showWhole = `for (const sample of document.querySelectorAll('.samples details')) {
  sample.removeAttribute('name');
  sample.open = true;
  sample.querySelector('pre').style.whiteSpace = 'pre';
}`;

test('the reference can be searched and read', async (t) => {
  const { page, open, origin, complaints } = await openReference(t);

  await t.test('a search finds the guide first, and an operation by its name', async () => {
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search' });
    await page.getByText('Guides, operations and schemas.').waitFor();
    for (const [query, expected] of searches) {
      await field.fill(query);
      const [first = ''] = await page.getByRole('option').allInnerTexts();
      assert.match(first.replaceAll(/\s+/g, ' '), expected, query);
    }
    await field.fill('pet');
    const kinds = await page.getByRole('option').locator('.kind').allInnerTexts();
    assert.match(kinds.join(' '), /^(Operation ){5}/);
    await field.fill('xyzzy');
    await page.getByText('No results.').waitFor();
    assert.equal(await page.getByRole('option').count(), 0);
  });

  await t.test('results are reached by keyboard and by a click', async () => {
    const field = page.getByRole('combobox', { name: 'Search' });
    await field.fill('ban');
    await field.press('ArrowDown');
    await field.press('ArrowUp');
    await field.press('Enter');
    await page.waitForURL(`${origin}/reference#guides/rate-limits/bans`);
    const bans = page.getByRole('heading', { name: 'Bans', exact: true });
    await page.waitForFunction(
      (element) => {
        const { top } = element?.getBoundingClientRect() ?? {};
        return top !== undefined && top > 40 && top < 200;
      },
      await bans.elementHandle(),
    );
    await page.getByRole('button', { name: 'Search' }).click();
    await field.fill('createPet');
    await page.getByRole('option').first().click();
    await page.waitForURL(`${origin}/reference#operations/createPet`);
    assert.equal(await page.getByRole('dialog', { name: 'Search the reference' }).count(), 0);
  });

  await t.test('links between pages stay in the reference, which keeps its key and its links', async () => {
    await page.getByRole('link', { name: 'NewPet', exact: true }).click();
    await page.waitForURL(`${origin}/reference#schemas/NewPet`);
    await page.getByRole('heading', { name: 'NewPet', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Petstore', exact: true }).click();
    await page.waitForURL(`${origin}/reference`);
    await page.getByRole('main').getByRole('link', { name: 'Getting started' }).click();
    await page.waitForURL(`${origin}/reference#guides/getting-started`);
    const asText = page.getByRole('link', { name: 'This page as Markdown' });
    assert.equal(await asText.getAttribute('href'), `${origin}/guides/getting-started.md`);
    assert.equal(page.context().pages().length, 1);
  });

  await t.test('going back restores the scroll position', async () => {
    const tab = await open(`${origin}/reference`);
    const link = tab.getByRole('main').getByRole('link', { name: 'List recordings' });
    await link.scrollIntoViewIfNeeded();
    const left = Number(await tab.evaluate('scrollY'));
    assert.ok(left > 500);
    await link.click();
    await tab.getByRole('heading', { name: 'List recordings', level: 1 }).waitFor();
    assert.equal(await tab.evaluate('scrollY'), 0);
    await tab.goBack();
    await link.waitFor();
    await tab.waitForFunction(`scrollY === ${left}`);
    await tab.close();
  });

  await t.test('links of the former reference lead to the same content', async () => {
    const old = {
      'pets/POST/pets': 'Add a pet',
      'recordings/GET/recordings/{recordingId}/report': 'Get a report card',
      'rate-limits': 'Rate limits',
      'errors/description/codes': 'Errors',
      pets: 'All operations',
    };
    for (const [place, title] of Object.entries(old)) {
      const tab = await open(`${origin}/reference#tag/${place}`);
      await tab.getByRole('heading', { name: title, exact: true, level: 1 }).waitFor();
      await tab.close();
    }
  });

  // Each size and each colour scheme once, since axe takes seconds for each page.
  for (const { colorScheme, ...size } of looks) {
    await t.test(
      `axe finds no fault, and nothing scrolls sideways: ${colorScheme}, ${size.width} pixels`,
      async () => {
        const tab = await open(`${origin}/reference`, { ...size, colorScheme });
        for (const [path, part] of pages) {
          await tab.goto(`${origin}/${path}`);
          if (path.includes('#')) {
            await tab.getByRole('link', { name: 'Try it' }).click();
            await tab.getByRole('form', { name: 'Try it' }).waitFor();
          }
          assert.deepEqual(await findings(tab, [part]), [], path);
          assert.deepEqual(await tab.evaluate(tooWide), [], path);
          assert.equal(await tab.evaluate('document.documentElement.scrollWidth'), size.width, path);
        }
        await tab.close();
      },
    );
  }

  await t.test('no sample line is wrapped on a wide screen, and all samples are printed', async () => {
    const tab = await open(`${origin}/reference`, { width: 1440, height: 900 });
    for (const { id } of [...operations, ...labOperations]) {
      await tab.goto(`${origin}${operationPath({ id })}`);
      await tab.evaluate(showWhole);
      for (const width of [1440, 1920]) {
        await tab.setViewportSize({ width, height: 900 });
        assert.deepEqual(await tab.evaluate(tooWide), [], `${id} at ${width} px`);
      }
    }
    await tab.reload();
    await tab.emulateMedia({ media: 'print' });
    const seen = tab.locator('.samples pre').filter({ visible: true });
    assert.equal(await seen.count(), 3);
    assert.equal(await tab.getByRole('navigation').filter({ visible: true }).count(), 0);
  });

  assert.deepEqual(complaints, []);
});
