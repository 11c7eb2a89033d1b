import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startPetstore } from '../../src/index.ts';
import { findings } from '../support/axe.ts';
import { browsers, skip, timeout } from '../support/browsers.ts';
import { temporaryFolder } from '../support/folder.ts';
import { outOfReach } from '../support/keyboard.ts';
import { stillClock, visitLab } from '../support/lab-page.ts';
import { StallingProxy } from '../support/stalling-proxy.ts';
import { until } from '../support/until.ts';

/** An unknown key. */
const unknownKey = `pet_${'x'.repeat(36)}`;

/** The headings say that their part is paused. */
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name: new RegExp(`^${RegExp.escape(name)}( paused)?$`) });
/** The parts of the page are drawn with the next frame. */
const drawn = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
/** Waits for a title, and for the frame that is drawn with it. */
const titled = async (page: Page, title: RegExp) => {
  await until(async () => title.test(await page.title()));
  await drawn(page);
};

/** Sends requests and ignores the answers. */
async function burst(baseUrl: string, key: string, count: number): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  await Promise.all(
    Array.from({ length: count }, async () => (await fetch(`${baseUrl}/pets?limit=1`, { headers })).text()),
  );
}

/** Hides the tab from its page, or shows it again. */
const setHidden = (page: Page, hidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

/** The width in pixels by which the page exceeds its window. */
const sideways = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

for (const { name, skip, launch } of browsers) {
  test(`the page tells how to get a key, follows it, and forgets it: ${name}`, {
    skip,
    timeout,
  }, async (t) => {
    const { store, open } = await visitLab(t, { ...stillClock, plan: 'free' }, launch);
    const { page, complaints } = await open(null);
    await heading(page, 'Whose limits, requests and faults?').waitFor();
    await titled(page, /^no key - /);
    assert.match(
      await page.locator('body').innerText(),
      new RegExp(`curl .*'${store.baseUrl}/pets\\?limit=2'`),
    );
    assert.equal(await heading(page, 'Limits').count(), 0);

    await page.getByLabel('API key').fill('pet_short');
    await page.keyboard.press('Enter');
    await page.getByText('This is not a key.').waitFor();
    await page.getByLabel('API key').fill(store.key);
    await page.keyboard.press('Enter');
    await heading(page, 'Limits').waitFor();
    await titled(page, /^60 of 60 left - /);
    await burst(store.baseUrl, store.key, 3);
    await titled(page, /^57 of 60 left - /);
    // 61 of the others are refused: one more than is allowed.
    await burst(store.baseUrl, store.key, 118);
    await titled(page, /^banned [01]:\d\d - /);
    await store.clock.advance('3 seconds');
    await titled(page, /^banned 0:5\d - /);

    const content = (await page.content()) + page.url();
    assert.ok(!content.includes(store.key) && !content.includes(store.key.slice(0, 12)));
    await page.getByRole('button', { name: 'Forget key' }).click();
    await heading(page, 'Whose limits, requests and faults?').waitFor();
    await titled(page, /^no key - /);
    assert.equal(await heading(page, 'Limits').count(), 0);
    assert.equal(await page.evaluate('sessionStorage.length + localStorage.length'), 0);
    assert.deepEqual(complaints, []);
  });

  test(`the page outlives a restart, a lab that is switched off, and its key: ${name}`, {
    skip,
    timeout,
  }, async (t) => {
    const dataDir = join(temporaryFolder(t), 'data');
    const { store, origin, open } = await visitLab(t, { dataDir, plan: 'free' }, launch);
    const { page, complaints } = await open();
    await heading(page, 'Limits').waitFor();
    assert.ok(!page.url().includes(store.key));
    const again = async (options: Parameters<typeof startPetstore>[0]) => {
      const next = await startPetstore({ port: Number(new URL(origin).port), ...options });
      t.after(() => next.stop());
      return next;
    };

    await store.stop();
    await page.getByText(/^Paused since \d\d:\d\d:\d\d, trying again\.$/).waitFor();
    await page.getByText('What is shown below is as of then.').waitFor();
    for (const name of [
      'Open the store',
      'Open the stream',
      'Show the webhooks',
      'Start recording',
      'Send 100 requests',
    ])
      assert.ok(await page.getByRole('button', { name }).isDisabled(), name);
    const faults = page.locator('lab-faults');
    assert.equal(await faults.locator(':is(button, [role=switch]):enabled').count(), 0);
    // Typed text is not lost.
    assert.equal(await faults.locator(':is(input:not([role=switch]), select):disabled').count(), 0);
    await titled(page, /^paused - /);
    assert.equal(await heading(page, 'Limits').count(), 1);

    const next = await again({ dataDir, plan: 'free' });
    await titled(page, /^60 of 60 left - /);
    assert.equal(await page.getByText('Paused since').count(), 0);

    await next.stop();
    const off = await again({ dataDir, lab: false });
    await heading(page, 'The lab is switched off').waitFor();
    assert.equal(await heading(page, 'Limits').count(), 0);
    await off.stop();
    const on = await again({ dataDir, plan: 'free' });
    // The page asks every ten seconds, and when the tab is visible again.
    await setHidden(page, false);
    await heading(page, 'Limits').waitFor();

    await on.stop();
    await again({});
    await heading(page, 'This key opens nothing').waitFor();
    await titled(page, /^unknown key - /);
    assert.equal(await heading(page, 'Limits').count(), 0);
    // Without a lab it is an unknown path, which the description lacks.
    const others = complaints.filter((text) => !text.startsWith('GET /lab/account -> 404'));
    assert.deepEqual(others, []);
  });
}

test('what was asked with a key does not appear under the next one', { skip, timeout }, async (t) => {
  const { store, open } = await visitLab(t, { plan: 'free' });
  const other = await store.addWorkspace('other', { plan: 'pro' });
  const { page, complaints } = await open(null);
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let held = 0;
  await page.route('**/lab/account', async (route) => {
    const isFirst = (await route.request().allHeaders()).authorization === `Bearer ${store.key}`;
    if (isFirst) {
      held++;
      await released;
    }
    await route.continue().catch(() => {});
  });
  await page.evaluate(`location.assign('#key=${store.key}')`);
  await page.getByText('Connecting …').waitFor();
  await page.evaluate(`{
    globalThis.titles = [];
    const note = () => titles.push(document.title);
    new MutationObserver(note).observe(document.head, { subtree: true, childList: true, characterData: true });
  }`);
  await page.evaluate(`location.assign('#key=${other.key}&limits')`);
  await titled(page, /^\d+ of [1-9]\d\d+ left - /);
  const next = page.waitForResponse('**/lab/account');
  release();
  await next;
  assert.equal(held, 1);
  const titles: string[] = await page.evaluate('titles');
  assert.deepEqual(
    titles.filter((title) => / of 60 /.test(title)),
    [],
  );
  assert.equal(new URL(page.url()).hash, '#limits');
  await page.getByText(`in place of ${store.key.slice(0, 8)}…`).waitFor();
  assert.deepEqual(complaints, []);
});

test('a hidden tab sends nothing, and asks at once when it is visible again', {
  skip,
  timeout,
}, async (t) => {
  const { store, open } = await visitLab(t, { plan: 'free' });
  const { page, complaints } = await open(null);
  await page.clock.install();
  await page.getByLabel('API key').fill(store.key);
  await page.keyboard.press('Enter');
  await titled(page, /^60 of 60 left - /);
  let asked = 0;
  page.on('request', () => asked++);
  await setHidden(page, true);
  await titled(page, /^paused - /);
  asked = 0;
  await page.clock.runFor(60_000);
  assert.equal(asked, 0);
  await setHidden(page, false);
  await titled(page, /^60 of 60 left - /);
  assert.ok(asked > 0);
  assert.deepEqual(complaints, []);
});

test('the navigation has the parts in their order, and marks the followed link until the user scrolls', {
  skip,
  timeout,
}, async (t) => {
  const { open } = await visitLab(t);
  const { page, complaints } = await open();
  await heading(page, 'Limits').waitFor();
  const links = page.locator('#parts a');
  const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  const parts: string[] = await page.evaluate(
    `[...document.querySelectorAll('.column > *')].map(({ id }) => '#' + id)`,
  );
  assert.deepEqual(parts, hrefs);
  const marked = () =>
    page.locator('#parts [aria-current]').evaluateAll((all) => all.map((link) => link.textContent));
  for (const name of (await links.allTextContents()).reverse()) {
    await page.getByRole('link', { name, exact: true }).click();
    await until(async () => (await marked()).join() === name);
    // Parts that come into view change nothing.
    await drawn(page);
    assert.deepEqual(await marked(), [name]);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator('lab-faults .group').first().waitFor();
  await until(async () => {
    // A scroll during a change of the page's size is lost.
    await page.mouse.wheel(0, 1_000);
    return !['', 'Limits'].includes((await marked()).join());
  });
  const tops: number[] = await page.evaluate(
    `[...document.querySelectorAll('.column > *')].map((part) => part.getBoundingClientRect().top)`,
  );
  assert.deepEqual(
    tops,
    tops.toSorted((a, b) => a - b),
  );
  assert.deepEqual(complaints, []);
});

test('the page says that a key asks the lab too often, and when it goes on', {
  skip,
  timeout,
}, async (t) => {
  const { store, origin, open } = await visitLab(t, {
    plan: 'free',
    clock: new Date('2026-06-01T12:00:57Z'),
  });
  const { page, complaints } = await open();
  await titled(page, /^60 of 60 left - /);
  const headers = { authorization: `Bearer ${store.key}` };
  const ask = async () => (await fetch(`${origin}/lab/account`, { headers })).status;
  while ((await Promise.all(Array.from({ length: 50 }, ask))).every((status) => status === 200));
  await page.getByText('This key asks the lab too often, as from many tabs.').waitFor();
  await page.getByText(/is as of \d\d:\d\d:\d\d\. It goes on at \d\d:\d\d:\d\d\./).waitFor();
  // The API is not slowed.
  assert.ok(await page.getByRole('button', { name: 'Send 100 requests' }).isEnabled());
  await titled(page, /^paused - /);
  assert.deepEqual(await findings(page, ['html']), []);
  await store.clock.advance('3 seconds');
  await titled(page, /^60 of 60 left - /);
  assert.equal(await page.locator('.connection').count(), 0);
  assert.deepEqual(complaints, []);
});

test('the page works for a service that is slow to answer', { skip, timeout }, async (t) => {
  const { store, origin, open } = await visitLab(t, { ...stillClock, plan: 'free' });
  const proxy = await StallingProxy.start(t, Number(new URL(origin).port));
  const { page, complaints } = await open(store.key, { through: `http://127.0.0.1:${proxy.port}` });
  await titled(page, /^60 of 60 left - /);
  proxy.delayMs = 400;
  await burst(store.baseUrl, store.key, 1);
  await titled(page, /^59 of 60 left - /);
  assert.equal(await page.getByText('Paused since').count(), 0);
  assert.deepEqual(complaints, []);
});

test('forced colors still show the window that binds, pressed buttons and the current part', {
  skip,
  timeout,
}, async (t) => {
  const { store, open } = await visitLab(t, { plan: 'free' });
  await store.record();
  await burst(store.baseUrl, store.key, 1);
  const { page, complaints } = await open(store.key, { colorScheme: 'dark', forcedColors: 'active' });
  await page.locator('.toggle').first().waitFor();
  await page.locator('#parts [aria-current]').waitFor();
  const looks = (selector: string, ...properties: string[]): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('${selector}')].map((one) => {
      const style = getComputedStyle(one);
      return ${JSON.stringify(properties)}.map((property) => style[property]).join();
    })`);
  const [text] = await looks('.lines', 'color');
  const marks = await looks('.lines mark', 'color');
  assert.deepEqual([...new Set(marks)], [text]);
  for (const [marked, others, ...properties] of [
    ['.window.binds', '.window:not(.binds)', 'borderStyle', 'outlineStyle'],
    ['#parts [aria-current]', '#parts :not([aria-current])', 'borderBottomStyle', 'textDecorationLine'],
    ['.toggle[aria-pressed=true]', '.toggle[aria-pressed=false]', 'backgroundColor'],
  ] as const) {
    const [look] = await looks(marked, ...properties);
    const its = await looks(others, ...properties);
    assert.ok(look && its.length > 0 && !its.includes(look), `${marked}: ${look}`);
  }
  assert.deepEqual(complaints, []);
});

/** The parts with a hole above them. */
const afterHoles = (page: Page): Promise<string[]> =>
  page.evaluate(`[...Map.groupBy(
    [...document.querySelectorAll('.column > *')].map((part) => ({ id: part.id, box: part.getBoundingClientRect() })),
    ({ box }) => box.left,
  ).values()].flatMap((parts) => parts.filter(({ box }, i) => i > 0 && box.top - parts[i - 1].box.bottom > 17).map(({ id }) => id))`);

for (const [scheme, width] of [
  ['light', 1440],
  ['dark', 390],
] as const) {
  test(`anybody can read and use the page in every state: ${scheme}, ${width} px`, {
    skip,
    timeout,
  }, async (t) => {
    const { store, open } = await visitLab(t, { plan: 'free' });
    const look = { colorScheme: scheme, width } as const;
    const check = async (page: Page, state: string) => {
      assert.deepEqual(await findings(page, ['html']), [], state);
      assert.equal(await sideways(page), 0, `${state}: too wide`);
      assert.deepEqual(await outOfReach(page), [], state);
    };
    const { page: none } = await open(null, look);
    await heading(none, 'Whose limits, requests and faults?').waitFor();
    await check(none, 'without a key');
    const { page: revoked } = await open(unknownKey, look);
    await heading(revoked, 'This key opens nothing').waitFor();
    await check(revoked, 'with an unknown key');
    await revoked.getByRole('button', { name: 'Ask again' }).press('Enter');
    await revoked.getByText('Connecting').waitFor({ state: 'detached' });
    await heading(revoked, 'This key opens nothing').waitFor();
    assert.equal(await revoked.evaluate("document.activeElement.closest('lab-connection') !== null"), true);
    const { page } = await open(store.key, look);
    await heading(page, 'Limits').waitFor();
    await check(page, 'live');
    for (const other of [1024, 1440, 1920]) {
      await page.setViewportSize({ width: other, height: 1000 });
      assert.equal(await sideways(page), 0, `${other} px`);
      assert.deepEqual(await afterHoles(page), [], `${other} px`);
    }
    await page.setViewportSize({ width, height: 1000 });
    await store.stop();
    await page.getByText('Paused since').waitFor();
    await check(page, 'paused');
  });
}
