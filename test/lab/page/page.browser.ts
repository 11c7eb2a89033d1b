import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startPetstore } from '../../../src/index.ts';
import { findings } from '../../support/axe.ts';
import { browsers, launchDarkFirefox, browserTest as test } from '../../support/browsers.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { call } from '../../support/from-code.ts';
import { drawn, excessWidth, heldRequest, stillClock, visitLab } from '../../support/lab-page.ts';
import { StallingProxy } from '../../support/stalling-proxy.ts';
import { until } from '../../support/until.ts';
import { numbers } from '../../support/values.ts';

/** More than the number of controls on any page. */
const maxSteps = 500;

/** Starts at the top of the page, with all controls that are usable now. */
const begin = `{
  const isUsable = (one) => one.tabIndex >= 0 && one.checkVisibility() && !one.matches(':disabled');
  const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]');
  globalThis.unreached = new Set([...all].filter(isUsable));
  globalThis.unmarked = [];
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
}`;

/** Records the focused element. True when all were reached, or the page is left. */
const look = `(() => {
  const one = document.activeElement;
  if (!unreached.delete(one)) return one === document.body;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) unmarked.push(one.outerHTML.slice(0, 100));
  return unreached.size === 0;
})()`;

const report = `[
  ...unmarked.map((one) => 'no outline: ' + one),
  ...[...unreached].filter((one) => one.isConnected).map((one) => 'never reached: ' + one.outerHTML.slice(0, 100)),
]`;

/** Moves through a page by the Tab key. Reports controls that never get the focus, and those that do not show it. */
async function outOfReach(page: Page): Promise<string[]> {
  await page.evaluate(begin);
  for (let i = 0; i < maxSteps; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(look)) break;
  }
  return page.evaluate(report);
}

/** The headings say that their part is paused. */
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name: new RegExp(`^${RegExp.escape(name)}( paused)?$`) });
/** Waits for a title, and for the frame that is drawn with it. */
const titled = async (page: Page, title: RegExp) => {
  await until(async () => title.test(await page.title()));
  await drawn(page);
};

/** Sends requests at once. */
const burst = (store: Parameters<typeof call>[0], count: number) =>
  Promise.all(numbers(count).map(() => call(store, 'GET', '/pets?limit=1')));

/** Hides the tab from its page, or shows it again. */
const setHidden = (page: Page, hidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

for (const { name, skip, launch } of browsers) {
  test(`the page explains how to get a key, uses it, and forgets it: ${name}`, { skip }, async (t) => {
    const { store, open } = await visitLab(t, { ...stillClock, plan: 'free' }, launch);
    const page = await open(null);
    await heading(page, 'Enter an API key').waitFor();
    await titled(page, /^no key - /);
    assert.match(
      await page.locator('body').innerText(),
      new RegExp(`PETSTORE_BASE_URL='${store.baseUrl}'[\\s\\S]*curl .*/pets\\?limit=2`),
    );
    assert.equal(await heading(page, 'Limits').count(), 0);

    await page.getByLabel('API key').fill('pet_short');
    await page.keyboard.press('Enter');
    await page.getByText('This is not a key.').waitFor();
    await page.getByLabel('API key').fill(store.key);
    await page.keyboard.press('Enter');
    await heading(page, 'Limits').waitFor();
    await titled(page, /^60 of 60 left - /);
    await burst(store, 3);
    await titled(page, /^57 of 60 left - /);
    // 61 of the others are refused: one more than is allowed.
    await burst(store, 118);
    await titled(page, /^banned [01]:\d\d - /);
    await store.clock.advance('3 seconds');
    await titled(page, /^banned 0:5\d - /);

    const content = (await page.content()) + page.url();
    assert.ok(!content.includes(store.key) && !content.includes(store.key.slice(0, 12)));
    await page.getByRole('button', { name: 'Forget key' }).click();
    await heading(page, 'Enter an API key').waitFor();
    await titled(page, /^no key - /);
    assert.equal(await heading(page, 'Limits').count(), 0);
    assert.equal(await page.evaluate('sessionStorage.length + localStorage.length'), 0);
  });

  test(`the page survives a restart, a disabled lab, and the loss of its key: ${name}`, {
    skip,
  }, async (t) => {
    const dataDir = join(temporaryFolder(t), 'data');
    const { store, origin, open } = await visitLab(t, { dataDir, plan: 'free' }, launch);
    // Without a lab it is an unknown path, which the description lacks.
    const page = await open(store.key, { tolerated: /^GET \/lab\/account -> 404/ });
    await heading(page, 'Limits').waitFor();
    assert.ok(!page.url().includes(store.key));
    const again = async (options: Parameters<typeof startPetstore>[0]) => {
      const next = await startPetstore({ port: Number(new URL(origin).port), ...options });
      t.after(() => next.stop());
      return next;
    };

    await store.stop();
    await page.getByText(/^Paused since \d\d:\d\d:\d\d, trying again\.$/).waitFor();
    await page.getByText('The data below is from then.').waitFor();
    const sending = ['Open the store', 'Open the stream', 'Show the webhooks', 'Watch my client'];
    for (const name of [...sending, 'Send 100 requests'])
      assert.ok(await page.getByRole('button', { name, includeHidden: true }).isDisabled(), name);
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
    await heading(page, 'Unknown key').waitFor();
    await titled(page, /^unknown key - /);
    assert.equal(await heading(page, 'Limits').count(), 0);
  });
}

test('responses to one key do not appear under the next key', async (t) => {
  const { store, open } = await visitLab(t, { plan: 'free' });
  const other = await store.addWorkspace('other', { plan: 'pro' });
  const page = await open(null);
  const late = await heldRequest(page, '**/lab/account', () =>
    page.evaluate(`location.assign('#key=${store.key}')`),
  );
  assert.equal((await late.request().allHeaders()).authorization, `Bearer ${store.key}`);
  await page.getByText('Connecting …').waitFor();
  await page.evaluate(`{
    globalThis.titles = [];
    const note = () => titles.push(document.title);
    new MutationObserver(note).observe(document.head, { subtree: true, childList: true, characterData: true });
  }`);
  await page.evaluate(`location.assign('#key=${other.key}&store')`);
  await titled(page, /^\d+ of [1-9]\d\d+ left - /);
  const next = page.waitForResponse('**/lab/account');
  // The page may have given it up.
  await late.continue().catch(() => {});
  await next;
  const titles: string[] = await page.evaluate('titles');
  assert.doesNotMatch(titles.join(), / of 60 /);
  assert.equal(new URL(page.url()).hash, '#store');
  await page.getByRole('button', { name: 'Open the store' }).waitFor();
  await page.getByText(`(previous key: ${store.key.slice(0, 8)}…)`).waitFor();
});

test('a hidden tab sends nothing, and a visible one sends at once', async (t) => {
  const { store, open } = await visitLab(t, { plan: 'free' });
  const page = await open(null);
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
});

test('tabs and the drawer open by mouse, by keyboard and by the address', async (t) => {
  const { store, open } = await visitLab(t);
  const page = await open(store.key, { height: 900 });
  const tabs = page.getByRole('tab');
  await tabs.first().waitFor();
  const shown = () =>
    page.locator('[role=tabpanel]:not([hidden])').evaluateAll((all) => all.map(({ id }) => id));
  for (const tab of await tabs.all()) {
    await tab.click();
    assert.deepEqual(await shown(), [await tab.getAttribute('aria-controls')]);
    assert.equal(await tab.getAttribute('aria-selected'), 'true');
  }
  await page.keyboard.press('ArrowRight');
  assert.deepEqual(await shown(), ['requests'], 'after the last comes the first');
  await page.keyboard.press('ArrowRight');
  await page.locator('#tab-store:focus').waitFor();
  assert.equal(new URL(page.url()).hash, '#store');
  await page.keyboard.press('Home');
  assert.deepEqual(await shown(), ['requests']);
  await page.getByRole('link', { name: 'how a client is banned' }).press('Enter');
  await page.locator('#tab-ban-demo:focus').waitFor();

  const drawer = page.getByRole('button', { name: /^Faults/ });
  await drawer.press('Enter');
  const groups = page.locator('lab-faults .group > summary');
  await groups.first().waitFor();
  const ends = await groups.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom));
  assert.ok(Math.max(...ends) <= 900, 'every group is in view');
  await groups.first().focus();
  await page.keyboard.press('Escape');
  await drawer.and(page.locator(':focus')).waitFor();
  assert.equal(await page.locator('#faults').isVisible(), false);
  await page.evaluate("location.hash = 'faults'");
  await page.locator('#faults').waitFor();
});

test('the page says that a key sends too many lab requests, and when it continues', async (t) => {
  const { store, open } = await visitLab(t, { plan: 'free', clock: new Date('2026-06-01T12:00:57Z') });
  const page = await open();
  await titled(page, /^60 of 60 left - /);
  const ask = () => call(store, 'GET', '/account', { start: '/lab' });
  while ((await Promise.all(numbers(50).map(ask))).every(({ status }) => status === 200));
  await page.getByText('This key sends too many requests to the lab. Is it open in many tabs?').waitFor();
  await page.getByText(/is as of \d\d:\d\d:\d\d\. The page continues at \d\d:\d\d:\d\d\./).waitFor();
  // The API is not slowed.
  const send = page.getByRole('button', { name: 'Send 100 requests', includeHidden: true });
  assert.ok(await send.isEnabled());
  await titled(page, /^paused - /);
  assert.deepEqual(await findings(page, ['html']), []);
  await store.clock.advance('3 seconds');
  await titled(page, /^60 of 60 left - /);
  assert.equal(await page.locator('.connection').count(), 0);
});

test('the page works with a slow service', async (t) => {
  const { store, origin, open } = await visitLab(t, { ...stillClock, plan: 'free' });
  const proxy = await StallingProxy.start(t, Number(new URL(origin).port));
  const page = await open(store.key, { through: `http://127.0.0.1:${proxy.port}` });
  await titled(page, /^60 of 60 left - /);
  proxy.delayMs = 400;
  await burst(store, 1);
  await titled(page, /^59 of 60 left - /);
  assert.equal(await page.getByText('Paused since').count(), 0);
});

test('forced colors still show the window that applies, pressed buttons and the open tab', async (t) => {
  const { store, open } = await visitLab(t, { plan: 'free' });
  await store.record();
  await burst(store, 1);
  const page = await open(store.key, { colorScheme: 'dark', forcedColors: 'active' });
  await page.locator('.toggle').first().click();
  await page.locator('.window.applies').getByText('applies').waitFor();
  await page.getByRole('button', { name: 'Details' }).click();
  await page.locator('.lines').waitFor();
  const looks = (selector: string, ...properties: string[]): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('${selector}')].map((one) => {
      const style = getComputedStyle(one);
      return ${JSON.stringify(properties)}.map((property) => style[property]).join();
    })`);
  const [text] = await looks('.lines', 'color');
  const marks = await looks('.lines mark', 'color');
  assert.deepEqual([...new Set(marks)], [text]);
  for (const [marked, others, ...properties] of [
    ['[role=tab][aria-selected=true]', '[role=tab][aria-selected=false]', 'fontWeight'],
    ['.toggle[aria-pressed=true]', '.toggle[aria-pressed=false]', 'backgroundColor'],
  ] as const) {
    const [look] = await looks(marked, ...properties);
    const its = await looks(others, ...properties);
    assert.ok(look && its.length > 0 && !its.includes(look), `${marked}: ${look}`);
  }
});

const [chromium, firefox] = browsers;

for (const [{ name, skip, launch }, scheme, width] of [
  [chromium, 'light', 1440],
  [chromium, 'dark', 390],
  [firefox, 'light', 390],
  [{ ...firefox, launch: launchDarkFirefox }, 'dark', 1440],
] as const) {
  test(`the page is accessible in every state: ${name}, ${scheme}, ${width} px`, { skip }, async (t) => {
    const { store, open } = await visitLab(t, { plan: 'free' }, launch);
    const look = { colorScheme: scheme, width } as const;
    const check = async (page: Page, state: string) => {
      assert.deepEqual(await findings(page, ['html']), [], state);
      assert.equal(await excessWidth(page), 0, `${state}: too wide`);
      assert.deepEqual(await outOfReach(page), [], state);
    };
    const none = await open(null, look);
    await heading(none, 'Enter an API key').waitFor();
    assert.ok(await none.evaluate(`matchMedia('(prefers-color-scheme: ${scheme})').matches`));
    await check(none, 'without a key');
    const revoked = await open(`pet_${'x'.repeat(36)}`, look);
    await heading(revoked, 'Unknown key').waitFor();
    await check(revoked, 'with an unknown key');
    await revoked.getByRole('button', { name: 'Ask again' }).press('Enter');
    await revoked.getByText('Connecting').waitFor({ state: 'detached' });
    await heading(revoked, 'Unknown key').waitFor();
    assert.equal(await revoked.evaluate("document.activeElement.closest('lab-connection') !== null"), true);
    const page = await open(store.key, look);
    await heading(page, 'Limits').waitFor();
    await check(page, 'a new key');
    for (const tab of ['store', 'events', 'webhooks', 'ban-demo', 'order-demo']) {
      await page.evaluate(`location.hash = '${tab}'`);
      await page.locator(`#${tab} h2`).waitFor();
      await check(page, `an empty tab: ${tab}`);
    }
    await page.getByRole('button', { name: 'Order one pet' }).click();
    await page.getByText('The customer pays twice').waitFor();
    await check(page, 'a demo is over');
    await page.evaluate("location.hash = 'requests'");
    await page.locator('.line').nth(1).waitFor();
    await page.locator('lab-report').scrollIntoViewIfNeeded();
    await page.locator('lab-report .verdict').waitFor();
    await check(page, 'recording');
    await page.evaluate("location.hash = 'faults'");
    await page.locator('lab-faults .group > summary').first().click();
    await check(page, 'faults');
    for (const other of [1024, 1440, 1920]) {
      await page.setViewportSize({ width: other, height: 1000 });
      assert.equal(await excessWidth(page), 0, `${other} px`);
    }
    await page.setViewportSize({ width, height: 1000 });
    await store.stop();
    await page.getByText('Paused since').waitFor();
    await check(page, 'paused');
  });
}
