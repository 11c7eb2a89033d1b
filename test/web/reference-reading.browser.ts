import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guidePaths } from '../../src/description/guides.ts';
import { findings } from '../support/axe.ts';
import { skip, timeout } from '../support/browsers.ts';
import { openReference } from '../support/reference.ts';

/** Search terms, and the first expected result: a section of a guide, or an operation. */
const searches: [string, RegExp][] = [
  ['429', /^When a limit is used up Rate limits Guide/],
  ['Retry-After', /(Errors|Rate limits) Guide/],
  ['ban', /^Bans Rate limits Guide/],
  ['key', /^Send the key Authentication Guide/],
  ['webhook', /^Receive webhooks Events Guide/],
  ['etag', /^Ask only for what is new Getting started Guide/],
  ['cursor', /^Read lists page by page Getting started Guide/],
  ['idempotency', /^Repeat a POST without doing it twice Getting started Guide/],
  ['412', /^Do not undo what others did Getting started Guide/],
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
  ['openapi', /^openapi-generator Generate a client Guide/],
];

const looks = [
  { colorScheme: 'light', width: 1440, height: 900 },
  { colorScheme: 'dark', width: 390, height: 844 },
] as const;

/** One of each kind: axe takes long for the whole page. */
const partsOfPage = [
  'header',
  'aside',
  'section[id$="/description/introduction"]',
  'section[id$="/tag/rate-limits"]',
  'section[id$="/tag/pets"]',
  'section[id$="/tag/pets/POST/pets"]',
];

/** Cards and programs that overflow horizontally. */
const tooWide = `[...document.querySelectorAll(':is(.request-card, .response-card, .markdown pre) *')]
  .filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowX))
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
  .map(({ className }) => className)`;

test('the reference can be searched and read', { skip, timeout }, async (t) => {
  const { page, open, origin, complaints } = await openReference(t);

  await t.test('a search finds the guide first, and an operation by its name', async () => {
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search' });
    for (const [query, expected] of searches) {
      await field.fill(query);
      const [first = ''] = await page.getByRole('option').allInnerTexts();
      assert.match(first.replaceAll(/\s+/g, ' '), expected, query);
    }
    await field.fill('pet');
    const kinds = await page.getByRole('option').locator('.kind').allInnerTexts();
    assert.match(kinds.join(' '), /^(Operation ){5}/);
    await field.fill('xyzzy');
    await page.getByText('Nothing fits.').waitFor();
    assert.equal(await page.getByRole('option').count(), 0);
  });

  await t.test('what is found is reached by keyboard and by a click', async () => {
    const field = page.getByRole('combobox', { name: 'Search' });
    await field.fill('ban');
    await field.press('ArrowDown');
    await field.press('ArrowUp');
    await field.press('Enter');
    await page.waitForURL(`${origin}/reference#tag/rate-limits`);
    const bans = page.locator('main').getByRole('heading', { name: 'Bans', exact: true });
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
    await page.waitForURL(`${origin}/reference#tag/pets/POST/pets`);
    assert.equal(await page.getByRole('dialog', { name: 'Search the reference' }).count(), 0);
  });

  await t.test('the introduction leads to the guides, in the same tab', async () => {
    const introduction = page.locator('section[id$="/description/introduction"]');
    await introduction.getByRole('link', { name: 'Getting started' }).click();
    await page.waitForURL(`${origin}/reference#tag/getting-started`);
    assert.equal(page.context().pages().length, 1);
    const links = page.locator('main').getByRole('link', { name: 'This guide as Markdown' });
    const paths = await links.evaluateAll((all) => all.map((link) => new URL(String(link)).pathname));
    assert.deepEqual(paths, guidePaths());
  });

  // Each size and each colour scheme once, since axe takes seconds for each page.
  for (const { colorScheme, ...size } of looks) {
    await t.test(`nothing keeps anybody from reading it: ${colorScheme}, ${size.width} pixels`, async () => {
      const tab = await open(`${origin}/reference#tag/pets/POST/pets`, { ...size, colorScheme });
      await tab.locator('section[id$="/tag/pets/POST/pets"] .request-card').waitFor();
      assert.equal(await tab.locator(`body.${colorScheme}-mode`).count(), 1);
      assert.deepEqual(await findings(tab, partsOfPage), []);
      assert.deepEqual(await tab.evaluate(tooWide), []);
      assert.equal(await tab.evaluate('document.documentElement.scrollWidth'), size.width);
      await tab.goto(`${origin}/changelog`);
      assert.deepEqual(await findings(tab, ['body']), []);
      await tab.close();
    });
  }

  assert.deepEqual(complaints, []);
});
