import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { comparedWith, toData } from '../../src/grade/card/data.ts';
import { toHtml } from '../../src/grade/card/page.ts';
import type { Grade } from '../../src/grade/grade.ts';
import { findings } from '../support/axe.ts';
import { args, executablePath, skip, timeout } from '../support/browsers.ts';
import { temporaryFolder } from '../support/folder.ts';
import { brokenGrade, cardOf, carefulGrade, carelessGrade, hostileGrade } from './grades.ts';

const grades = { carelessGrade, carefulGrade, brokenGrade, hostileGrade };

const looks = [
  { colorScheme: 'light', width: 1280, height: 900 },
  { colorScheme: 'dark', width: 1280, height: 900 },
  { colorScheme: 'light', width: 390, height: 844 },
  { colorScheme: 'dark', width: 390, height: 844 },
] as const;

test('a card as a page is accessible and works offline', { skip, timeout }, async (t) => {
  const folder = temporaryFolder(t);
  const browser = await chromium.launch({ executablePath, args });
  t.after(() => browser.close());
  const complaints: string[] = [];
  const asked: string[] = [];

  const earlier = toData(cardOf(carefulGrade));

  /** Opens the page of a grade for a test, with all sections unfolded. */
  const open = async (
    t: TestContext,
    name: keyof typeof grades,
    look: (typeof looks)[number] = looks[0],
    isOpen = true,
  ) => {
    const file = join(folder, `${name}.html`);
    writeFileSync(file, toHtml(comparedWith(earlier, cardOf(grades[name] as Grade))));
    const { colorScheme, ...viewport } = look;
    const page = await browser.newPage({ viewport, colorScheme, bypassCSP: isOpen });
    t.after(() => page.close());
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(pathToFileURL(file).href);
    if (isOpen)
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
    return page;
  };

  const others = ['carefulGrade', 'brokenGrade', 'hostileGrade'] as const;
  for (const [name, look] of [
    ...looks.map((look) => ['carelessGrade', look] as const),
    ...others.map((name) => [name, looks[2]] as const),
  ]) {
    const shown = `${name}: ${look.colorScheme}, ${look.width} pixels`;
    await t.test(`axe finds no fault in the page, and it does not scroll sideways: ${shown}`, async (t) => {
      const page = await open(t, name, look);
      assert.deepEqual(await findings(page, ['html']), []);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), look.width);
    });
  }

  await t.test('a link at the top opens its target, and the worst problem is open', async (t) => {
    const page = await open(t, 'carelessGrade', looks[0], false);
    const problem = page.locator('details.problem');
    assert.equal(await problem.first().getAttribute('open'), '');
    assert.equal(await problem.last().getAttribute('open'), null);
    await problem.first().getByText('Make the key once for each pet').waitFor();
    const isOpen = () => page.locator('details.fault:has(> #unavailable)').getAttribute('open');
    assert.equal(await isOpen(), null);
    await page.getByRole('link', { name: 'unavailable: survived' }).click();
    await page.locator('#unavailable').getByRole('img').first().waitFor();
    assert.equal(await isOpen(), '');
  });

  await t.test('the requests of a mistake are marked, with their numbers', async (t) => {
    const page = await open(t, 'carelessGrade');
    const track = page.getByRole('region', { name: 'lost-answer, first use', exact: true }).locator('.track');
    assert.equal(await track.locator('.guilty').count(), 4);
    assert.deepEqual(await track.locator('.guilty-word').allTextContents(), [
      ...['#2 cut off', '#3 201', '#4 cut off', '#5 201'],
    ]);
    assert.equal(await page.locator('#unavailable .guilty').count(), 0);
  });

  await t.test('the diagram shows when each attempt started, and which waits were too short', async (t) => {
    const page = await open(t, 'carelessGrade');
    const track = page.locator('#rate-limited').getByRole('img', { name: /^GET \/v1\/pets\?limit=20: / });
    const label = (await track.getAttribute('aria-label')) as string;
    assert.match(label, /: 429, 429 after 0\.21 s, 429 after 0\.2 s,/);
    assert.equal(await track.locator('.mark.waits').count(), 4);
    assert.equal(await track.locator('.wait.too-soon').count(), 3);
    const marks = await track.locator('.mark').all();
    const boxes = await Promise.all(marks.map((mark) => mark.boundingBox()));
    const places = boxes.map((box) => (box as { x: number }).x);
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    const obeyed = page.locator('#unavailable .track').first();
    assert.equal(await obeyed.locator('.wait').count(), 1);
    assert.equal(await obeyed.locator('.too-soon').count(), 0);
  });

  await t.test('in print all sections are open', async (t) => {
    const page = await open(t, 'carelessGrade', looks[0], false);
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.locator('#unavailable').isVisible());
  });

  await t.test('it runs no code from program output, and loads nothing', async (t) => {
    const page = await open(t, 'hostileGrade', looks[0], false);
    assert.equal(await page.locator('script, img').count(), 0);
    assert.deepEqual(complaints, []);
    assert.ok(asked.every((url) => url.startsWith(pathToFileURL(folder).href)));
  });
});
