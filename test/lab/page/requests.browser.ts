import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Locator, Page, Response } from 'playwright-core';
import { labPageHeader } from '../../../src/lab/lab-page-token.ts';
import { findings } from '../../support/axe.ts';
import { browsers, browserTest as test } from '../../support/browsers.ts';
import { call } from '../../support/from-code.ts';
import { drawn, heldRequest, type LabVisit, type Look, visitLab } from '../../support/lab-page.ts';
import { numbers } from '../../support/values.ts';

const run = promisify(execFile);

const rows = (page: Page) => page.locator('lab-requests .list .line');
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
/** The focused element. */
const focused = (page: Page) => page.locator(':focus').innerText();

/** Presses it several times within one frame. */
const pressAtOnce = (button: Locator, times: number) =>
  button.evaluate((element, times) => {
    for (let i = 0; i < times; i++) element.click();
  }, times);

/** The visible texts of the time line, and those that overlap another one. */
const textsOfLine = (page: Page): Promise<{ shown: string[]; crossed: string[] }> =>
  page.evaluate(`(() => {
    const seen = [...document.querySelectorAll('.lane code, .time-line text, .waited span')]
      .map((text) => ({ text, box: text.getBoundingClientRect() }))
      .filter(({ text, box }) => {
        const end = text.closest('foreignObject')?.getBoundingClientRect().bottom ?? Infinity;
        return box.width > 0 && box.top < end - 1;
      });
    const meets = (a, b) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
    const words = (some) => some.map(({ text }) => text.textContent);
    const crossed = seen.filter((one) => seen.some((other) => other !== one && meets(one.box, other.box)));
    return { shown: words(seen), crossed: words(crossed) };
  })()`);

/** The header with which the page marks its requests. */
async function asPage({ origin }: LabVisit): Promise<Record<string, string>> {
  const page = await (await fetch(`${origin}/lab`)).text();
  return { [labPageHeader]: /name="lab-page-token" content="(.+?)"/.exec(page)?.[1] as string };
}

/** Opens the page, and waits for its rows. */
async function openWithRows(lab: LabVisit, look?: Look) {
  const page = await lab.open(lab.store.key, look);
  await rows(page).first().waitFor();
  return page;
}

for (const { name, skip, launch } of browsers) {
  test(`requests of a client appear at once, and can be opened, in ${name}`, { skip }, async (t) => {
    const lab = await visitLab(t, {}, launch);
    const page = await lab.open();
    await button(page, 'Watch my client').click();
    await page.getByText('Waiting for the first request.').waitFor();
    await page.locator('lab-requests h2:focus').waitFor();
    const shown = await page.locator('lab-requests pre').innerText();
    assert.ok(!shown.includes(lab.store.key.slice(0, 9)), shown);
    if (name === 'Chromium') await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    else await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await button(page, 'Copy with the key').click();
    await page.getByText(/Copied\.|does not let this page copy/).waitFor();
    const line =
      name === 'Chromium'
        ? String(await page.evaluate('navigator.clipboard.readText()'))
        : await page.locator('.to-copy').inputValue();
    assert.equal(line.replaceAll(lab.store.key, `${lab.store.key.slice(0, 8)}…`), shown);
    await run('/bin/sh', ['-c', line.replace(/pet_\w+…/, lab.store.key)]);
    await page.getByText('/v1/pets?limit=2').last().waitFor();
    const body = '{"petId":10000000000000003,"quantity":1}';
    await call(lab.store, 'POST', '/store/orders', { body, headers: { 'x-mine': 'quiet' } });
    await rows(page).filter({ hasText: '/v1/store/orders' }).click();
    const details = page.getByRole('region', { name: 'Request 2' });
    assert.match(await details.innerText(), /x-mine: \(not kept\)[\s\S]*"petId": 10000000000000003,/);
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.dataset.id'), '2');
    await button(page, 'Stop recording').click();
    await page.getByText('■ Ended').waitFor();
    assert.match(await page.locator('lab-requests').innerText(), /“my client”, since [\d:]+: 2 requests/);
  });
}

test('filters select requests, requests of the page are hidden, and hostile text stays text', async (t) => {
  const lab = await visitLab(t);
  await lab.store.record({ name: '<b>me</b>' });
  await call(lab.store, 'GET', '/pets/999999');
  await call(lab.store, 'GET', '/categories');
  await call(lab.store, 'GET', '/pets?limit=2', { headers: { 'x-request-id': 'lab-page-1' } });
  const hostile = `<img src=x onerror="throw 1">\u202e${'a'.repeat(2_000)}`;
  await call(lab.store, 'POST', '/pets', { body: { name: hostile, categoryId: 1 } });
  await call(lab.store, 'GET', `/${encodeURI(hostile)}`);
  await call(lab.store, 'GET', '/categories', { headers: await asPage(lab) });
  const page = await openWithRows(lab, { width: 390, height: 844, colorScheme: 'dark' });
  assert.equal(await rows(page).count(), 5);
  assert.match(await page.locator('lab-requests').innerText(), /: 6 requests; 1 of them sent by this page/);
  await page.locator('lab-report').scrollIntoViewIfNeeded();
  await page.locator('lab-report').getByText('Up to request #5.').waitFor();
  assert.equal(await page.locator('lab-requests :is(img, dd b)').count(), 0);
  await pressAtOnce(rows(page).nth(1), 2);
  await rows(page).nth(1).click();
  assert.ok((await page.locator('.details').innerText()).includes('<img src=x onerror='));
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
  assert.deepEqual(await findings(page, ['lab-requests', 'lab-report']), []);
  await button(page, '4xx 3').click();
  await page.locator('lab-requests').getByText('3 requests', { exact: true }).waitFor();
  await button(page, 'Deprecated 1').click();
  await page.locator('lab-requests').getByText('1 request', { exact: true }).waitFor();
  await button(page, '4xx 3').click();
  await button(page, 'Deprecated 1').click();
  await pressAtOnce(button(page, 'This page 1'), 2);
  await button(page, 'This page 1').click();
  await page.getByLabel('Part of the path').fill('Categories');
  await page.locator('lab-requests').getByText('2 requests', { exact: true }).waitFor();
  await page.getByLabel('Part of the path').fill('#3');
  await page.locator('lab-requests').getByText('1 request', { exact: true }).waitFor();
  assert.match(await rows(page).innerText(), /#3\s[\s\S]*limit=2/);
  await page.getByLabel('Part of the path').fill('nothing');
  await page.getByText('No stored request matches.').waitFor();
});

test('new rows wait while the user reads, and the page shows a text that it cannot copy', async (t) => {
  const lab = await visitLab(t);
  const recording = await lab.store.record();
  await call(lab.store, 'PUT', '/inventory/1', { body: { quantity: 3 }, headers: { 'if-match': '*' } });
  const page = await openWithRows(lab);
  await rows(page).first().focus();
  await page.keyboard.press('Enter');
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  await button(page, 'Copy as cURL').click();
  const line = await page.locator('textarea.to-copy').inputValue();
  assert.equal(await page.evaluate('getSelection().toString()'), line);
  await run('/bin/sh', ['-c', line], { env: { ...process.env, PETSTORE_API_KEY: lab.store.key } });
  await call(lab.store, 'GET', '/categories');
  await button(page, '2 new').waitFor();
  assert.equal(await rows(page).count(), 1);
  await button(page, '2 new').click();
  await rows(page).nth(2).waitFor();
  const [, again, first] = await rows(page).allInnerTexts();
  const withoutTimes = (text = '') => text.replaceAll(/#\d|\d+:[\d:.]+|[\d.]+ m?s|gap|\s/g, '');
  assert.equal(withoutTimes(again), withoutTimes(first));
  // Nothing moves during a press, nor while a row is open.
  await rows(page).first().hover();
  await page.mouse.down();
  const isOf4 = async (answer: Response) => /"id":"4"/.test(await answer.text().catch(() => ''));
  const read = page.waitForResponse(isOf4);
  await call(lab.store, 'GET', '/pets/1');
  await read;
  await drawn(page);
  await page.mouse.up();
  await page.getByRole('region', { name: 'Request 3' }).waitFor();
  await button(page, '1 new').waitFor();
  assert.equal(await rows(page).first().getAttribute('data-id'), '3');
  await lab.store.record({ name: 'another' });
  await page.getByText('“another”, since').waitFor();
  await page.getByText('Waiting for the first request.').waitFor();
  assert.equal(await rows(page).count(), 0);
  await call(lab.store, 'GET', '/tags', { headers: await asPage(lab) });
  await button(page, 'This page 1').waitFor();
  assert.equal(await page.locator('lab-requests .list').count(), 0);
  await button(page, 'This page 1').click();
  await rows(page).filter({ hasText: '/v1/tags' }).waitFor();
  const recordings = page.getByLabel('Recording', { exact: true });
  const reading = await heldRequest(page, `**/recordings/${recording.id}/requests?*`, () =>
    recordings.selectOption(recording.id),
  );
  await page.getByText('■ Ended').waitFor();
  assert.equal(await page.getByText('No request was recorded.').count(), 0);
  await reading.continue();
  await rows(page).nth(2).waitFor();
  assert.equal(await button(page, 'Record again').count(), 0);
  assert.deepEqual(await findings(page, ['lab-requests']), []);
  const path = page.getByLabel('Part of the path');
  await path.fill('pets');
  await lab.store.record({ name: 'a third' });
  await page.getByText('“a third”, since').waitFor();
  assert.equal(await recordings.locator('option').count(), 3);
  await call(lab.store, 'GET', '/categories');
  await call(lab.store, 'GET', '/pets/1');
  await rows(page).first().waitFor();
  assert.equal(await path.inputValue(), 'pets');
  assert.equal(await rows(page).count(), 1);
});

test('a report card links to the rows, the timeline shows early retries, and another key sees neither', async (t) => {
  const lab = await visitLab(t);
  const { store } = lab;
  await store.record();
  await store.rehearse([{ fault: 'rate-limited', operation: 'listCategories', retryAfterSeconds: 3 }]);
  for (const [passedMs, status] of [
    [0, 429],
    [1_000, 429],
    [3_000, 200],
  ] as const) {
    await store.clock.advance(passedMs);
    assert.equal((await call(store, 'GET', '/categories')).status, status);
  }
  const page = await openWithRows(lab);
  await page.locator('lab-report').scrollIntoViewIfNeeded();
  await page.locator('lab-report .checks .failed', { hasText: 'retry-after.obeyed' }).waitFor();
  assert.match(await page.locator('lab-report').innerText(), /✕ Failed\s+A required check failed/);
  assert.match(await page.locator('lab-report').innerText(), /Faults that affected .*: rate-limited \(2\)/);
  assert.deepEqual(await findings(page, ['lab-requests', 'lab-report']), []);
  const { shown, crossed } = await textsOfLine(page);
  assert.match(shown.join(), /, Retry-After 2\ss/);
  assert.deepEqual(crossed, []);
  await page.setViewportSize({ width: 390, height: 1000 });
  assert.deepEqual((await textsOfLine(page)).crossed, []);
  await page.evaluate("document.styleSheets[0].insertRule('html { font-size: 200% }')");
  assert.deepEqual((await textsOfLine(page)).crossed, []);
  await page.evaluate('document.styleSheets[0].deleteRule(0)');
  await page.setViewportSize({ width: 1440, height: 1000 });
  await page.locator('lab-report .failed').getByRole('button', { name: 'Show request 2' }).click();
  const details = page.getByRole('region', { name: 'Request 2' });
  assert.match(await details.innerText(), /\d\ss after attempt #1, Retry-After 3\ss too soon/);
  const gaps = await page.locator('.line .gap').allInnerTexts();
  assert.match(
    gaps.join('|'),
    /^[^|]* s, Retry-After 2\ss\|\s*gap\s+1[\d.]*\ss, Retry-After 3\ss\s+too soon\|$/,
  );
  assert.equal(await page.locator('.attempt .too-soon').count(), 1);
  assert.equal(await page.evaluate('document.activeElement.dataset.id'), '2');
  const titles = await page.locator('.wait.too-soon title').allTextContents();
  assert.match(titles.join(), /Retry-After 3 s: too soon/);
  assert.match(
    String(await page.locator('.lane [role=img]').getAttribute('aria-label')),
    /^#1 GET \/v1\/categories: 429, 429 after 1[\d.]* s, 200 after [\d.]+ s$/,
  );
  for (const width of [1440, 1920]) {
    await page.setViewportSize({ width, height: 1000 });
    const room = await rows(page).first().locator('.path').boundingBox();
    assert.ok(room && room.width > 176, `the path has ${room?.width} px at ${width}`);
  }
  await page.locator('.attempt .mark.fine').click();
  await page.getByRole('region', { name: 'Request 3' }).waitFor();
  const other = await store.addWorkspace('other');
  await page.evaluate(`location.hash = 'key=${other.key}'`);
  await page.getByText('Point your client here').waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /categories|retry-after/);
});

test('the page keeps the newest of thousands of requests, renders a hundred, and reads older ones on demand', async (t) => {
  const lab = await visitLab(t);
  await lab.store.record();
  for (let i = 0; i < 6; i++) await call(lab.store, 'GET', '/categories');
  await call(lab.store, 'GET', '/pets/1');
  for (let i = 0; i < 22; i++)
    await Promise.all(numbers(50).map((n) => call(lab.store, 'GET', `/categories?limit=${(n % 9) + 1}`)));
  const page = await openWithRows(lab);
  await page.getByText('1 to 100 of 1,000 requests').waitFor();
  assert.equal(await rows(page).count(), 100);
  assert.equal(await rows(page).first().getAttribute('data-id'), '1107');
  assert.ok((await page.locator('.attempt').count()) <= 200);
  const below = `document.documentElement.scrollHeight - document.querySelector('main').getBoundingClientRect().bottom - scrollY`;
  assert.ok(Math.abs(await page.evaluate(below)) < 1, 'the page ends with its last part');
  await button(page, 'Older').click();
  await page.getByText('101 to 200 of 1,000 requests').waitFor();
  assert.equal(await rows(page).first().getAttribute('data-id'), '1007');
  await pressAtOnce(button(page, 'Older'), 20);
  await page.getByText(/^901 to /).waitFor();
  await pressAtOnce(button(page, 'Newer'), 20);
  await page.getByText('1 to 100 of 1,000 requests').waitFor();
  assert.equal(await focused(page), 'Older');
  const deprecated = page.locator('lab-report li').filter({ hasText: 'deprecated.not-called' });
  const evidence = deprecated.getByRole('button', { name: 'Show request 7', exact: true });
  // The page has to read it. If the user opens something else, that stays open.
  const old = /requests\?after=6&/;
  const late = await heldRequest(page, old, () => evidence.click());
  await rows(page).first().click();
  const answered = page.waitForResponse(old);
  await late.continue();
  await answered;
  await drawn(page);
  await page.getByRole('region', { name: 'Request 1107' }).waitFor();
  await evidence.click();
  await page.getByText('An earlier request:').waitFor();
  await page.getByRole('region', { name: 'Request 7' }).waitFor();
  const saved = page.waitForEvent('download');
  await button(page, 'HAR').click();
  const { log } = JSON.parse(await readFile(await (await saved).path(), 'utf8'));
  assert.deepEqual([log.entries.length, log.comment], [1_107, undefined]);
  assert.equal(await focused(page), 'HAR');
  await heldRequest(page, old, () => evidence.click());
  const other = await lab.store.addWorkspace('other');
  await page.evaluate(`location.hash = 'key=${other.key}'`);
  await page.getByText('Point your client here').waitFor();
  assert.equal(await page.locator('lab-requests .failure').count(), 0);
});
