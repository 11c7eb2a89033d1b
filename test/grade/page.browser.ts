import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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

  /** Opens the page of a grade, with all sections unfolded. */
  const open = async (name: keyof typeof grades, look: (typeof looks)[number] = looks[0], isOpen = true) => {
    const file = join(folder, `${name}.html`);
    writeFileSync(file, toHtml(comparedWith(earlier, cardOf(grades[name] as Grade))));
    const { colorScheme, ...viewport } = look;
    const page = await browser.newPage({ viewport, colorScheme, bypassCSP: isOpen });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(pathToFileURL(file).href);
    if (isOpen)
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
    return page;
  };

  for (const look of looks) {
    await t.test(
      `axe finds no fault in the page, and it does not scroll sideways: ${look.colorScheme}, ${look.width} pixels`,
      async () => {
        const page = await open('carelessGrade', look);
        assert.deepEqual(await findings(page, ['html']), []);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), look.width);
        await page.close();
      },
    );
  }

  for (const name of ['carefulGrade', 'brokenGrade', 'hostileGrade'] as const) {
    await t.test(`axe finds no fault in the page of ${name}, and it does not scroll sideways`, async () => {
      const page = await open(name, looks[2]);
      assert.deepEqual(await findings(page, ['html']), []);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), looks[2].width);
      await page.close();
    });
  }

  await t.test('a link at the top opens its target, and the worst problem is open', async () => {
    const page = await open('carelessGrade', looks[0], false);
    const problem = page.locator('details.problem');
    assert.equal(await problem.first().getAttribute('open'), '');
    assert.equal(await problem.last().getAttribute('open'), null);
    await problem.first().getByText('Make the key once for each pet').waitFor();
    const isOpen = () => page.locator('details.fault:has(> #unavailable)').getAttribute('open');
    assert.equal(await isOpen(), null);
    await page.getByRole('link', { name: 'unavailable: survived' }).click();
    await page.locator('#unavailable').getByRole('img').first().waitFor();
    assert.equal(await isOpen(), '');
    await page.close();
  });

  await t.test('the requests of a mistake are marked, with their numbers', async () => {
    const page = await open('carelessGrade');
    const track = page.getByRole('region', { name: 'lost-answer, first use', exact: true }).locator('.track');
    const marked = await track.locator('.guilty').evaluateAll((marks) => marks.length);
    assert.equal(marked, 4);
    assert.deepEqual(await track.locator('.guilty-word').allTextContents(), [
      ...['#2 cut off', '#3 201', '#4 cut off', '#5 201'],
    ]);
    assert.equal(await page.locator('#unavailable .guilty').count(), 0);
    await page.close();
  });

  await t.test(
    'the diagram of attempts shows when each started, and which waits were too short',
    async () => {
      const page = await open('carelessGrade');
      const track = page.locator('#rate-limited').getByRole('img', { name: /^GET \/v1\/pets\?limit=20: / });
      assert.match(
        (await track.getAttribute('aria-label')) as string,
        /: 429, 429 after 0\.21 s, 429 after 0\.2 s,/,
      );
      assert.equal(await track.locator('.mark.waits').count(), 4);
      assert.equal(await track.locator('.wait.too-soon').count(), 3);
      const boxes = await track
        .locator('.mark')
        .evaluateAll((marks) =>
          marks.map(
            (mark) =>
              (mark as unknown as { getBoundingClientRect(): { x: number } }).getBoundingClientRect().x,
          ),
        );
      assert.deepEqual(
        boxes,
        boxes.toSorted((a, b) => a - b),
      );
      const obeyed = page.locator('#unavailable .track').first();
      assert.deepEqual(
        [await obeyed.locator('.wait').count(), await obeyed.locator('.too-soon').count()],
        [1, 0],
      );
      await page.close();
    },
  );

  await t.test('in print all sections are open', async () => {
    const page = await open('carelessGrade', looks[0], false);
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.locator('#unavailable').isVisible());
    await page.close();
  });

  await t.test('it runs no code from program output, and loads nothing', async () => {
    const page = await open('hostileGrade', looks[0], false);
    assert.equal(await page.locator('script, img').count(), 0);
    await page.close();
    assert.deepEqual(complaints, []);
    assert.ok(asked.every((url) => url.startsWith(pathToFileURL(folder).href)));
  });
});
