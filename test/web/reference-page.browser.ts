import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page, Request } from 'playwright-core';
import { operations } from '../../src/api/operations.ts';
import { skip, timeout } from '../support/browsers.ts';
import { guideNames } from '../support/guide-names.ts';
import { heading, openReference } from '../support/reference.ts';

/** The text of the page about its key. */
const bar = (page: Page) => page.locator('#key');

/** The history of the tab. */
async function historyOf(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  await session.detach();
  return entries.map(({ url }) => url);
}

/** Opens an operation from the sidebar and returns its section. */
async function goTo(page: Page, id: string): Promise<Locator> {
  const operation = operations.find((operation) => operation.id === id);
  assert.ok(operation, id);
  const { tag, method, path } = operation;
  const anchor = `tag/${tag.toLowerCase()}/${method}${path}`;
  await page.locator(`aside a[href$="#${anchor}"]`).click();
  const section = page.locator(`section[id$="/${anchor}"]`);
  await section.getByRole('heading', { name: operation.summary }).waitFor();
  return section;
}

const sendButton = (section: Locator) => section.getByRole('button', { name: 'Test Request' });

/** Waits until a section is scrolled to, just below the sticky header. */
async function reached(page: Page, section: Locator): Promise<void> {
  await page.waitForFunction(
    (element) => {
      const { top } = element.getBoundingClientRect();
      return top >= 0 && top < 200;
    },
    await section.elementHandle(),
  );
}

/** Sends the request of a section from its panel, which stays open. Returns the panel and the request. */
async function send(page: Page, section: Locator): Promise<{ dialog: Locator; sent: Request }> {
  await sendButton(section).click();
  const dialog = page.getByRole('dialog', { name: 'API Client' });
  const sent = page.waitForRequest((request) => new URL(request.url()).pathname.startsWith('/v1/'));
  await dialog.getByRole('button', { name: 'Send', exact: false }).first().click();
  return { dialog, sent: await sent };
}

async function close(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'API Client' }).waitFor({ state: 'hidden' });
}

test('the reference shows every operation and guide, sends real requests, and asks nobody else', {
  skip,
  timeout,
}, async (t) => {
  const { page, open, origin, demoKey, requests, complaints } = await openReference(t);

  await t.test(
    'a key behind # leaves the address and the history at once, and outlives a reload',
    async () => {
      const isClean = async () => {
        assert.doesNotMatch(page.url(), /key=|pet_/);
        assert.doesNotMatch((await historyOf(page)).join(), /key=|pet_/);
      };
      await isClean();
      await bar(page)
        .getByText(`API key ${demoKey.slice(0, 8)}…`)
        .waitFor();
      await page.reload();
      await heading(page).waitFor();
      await isClean();
      // Only the header has a field for the key.
      assert.equal(await page.locator('#reference input').filter({ visible: true }).count(), 0);
    },
  );

  await t.test('every guide can be read', async () => {
    for (const name of guideNames) {
      // Guides are above schemas, and a schema may have the same name.
      await page.locator('aside').getByRole('link', { name, exact: true }).first().click();
      await page.locator('main').getByRole('heading', { name, exact: true }).waitFor();
    }
    const plans = page.getByRole('table').filter({ hasText: 'Enterprise' });
    assert.match(await plans.innerText(), /Pro\s+300\s+10,000/);
  });

  await t.test(
    'every operation is there with its samples and marks, and can be sent unless it says not',
    async () => {
      for (const { id, hideTryItPanel, deprecated, stability } of operations) {
        const section = await goTo(page, id);
        await section.getByText('PETSTORE_API_KEY').first().waitFor();
        const buttons = await sendButton(section).filter({ visible: true }).count();
        assert.equal(buttons, hideTryItPanel ? 0 : 1, id);
        // An example of a parameter is a value.
        await section.getByText('X-Request-Id').first().waitFor();
        assert.doesNotMatch((await section.textContent()) as string, /undefined/, id);
        const isShown = (mark: string) => section.getByText(mark, { exact: true }).first().isVisible();
        assert.equal(await isShown('Deprecated'), deprecated !== undefined, id);
        assert.equal(await isShown('Sunset 2030-12-05'), deprecated !== undefined, id);
        assert.equal(await isShown('Beta'), stability === 'beta', id);
        assert.equal(await isShown('Experimental'), stability === 'experimental', id);
      }
    },
  );

  await t.test('a request is sent with the key of the tab, and the answer shows the limits', async () => {
    const { dialog, sent } = await send(page, await goTo(page, 'getCategory'));
    assert.equal(sent.url(), `${origin}/v1/categories/1`);
    assert.equal(sent.headers().authorization, `Bearer ${demoKey}`);
    await dialog.getByText('200 OK').waitFor();
    await dialog.getByText('"Dogs"').waitFor();
    await dialog.getByRole('button', { name: 'Response Headers' }).click();
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
      await dialog.getByText(name, { exact: false }).first().waitFor();
    }
    assert.match(await dialog.innerText(), /x-ratelimit-remaining\s+59\b/i);
    // A list in the panel would link to operations that have no panel.
    await page.keyboard.press('Control+b');
    assert.equal(await dialog.getByRole('link', { name: 'List orders' }).count(), 0);
    assert.equal(await dialog.getByText('List orders').count(), 0);
    assert.equal(await dialog.locator('.scalar-sidebar-toggle').filter({ visible: true }).count(), 0);
    // Only the header at the top has a field for the key.
    for (const name of ['Bearer Token', 'Token', 'Clear Value']) {
      assert.equal(await dialog.getByText(name, { exact: true }).filter({ visible: true }).count(), 0, name);
    }
    await close(page);
  });

  await t.test('a link cannot bring markup, nor another key without a word', async () => {
    const note = bar(page).getByRole('status');
    const other = `pet_${'Evil'.repeat(9)}`;
    for (const text of ['<img src=x onerror=alert(1)>', demoKey.slice(0, -1), `${demoKey}0`, '']) {
      await page.goto(`${origin}/reference#key=${text}`);
      await note.getByText('What came with the address is not a key.').waitFor();
      await page.waitForURL(`${origin}/reference`);
      await bar(page)
        .getByText(`API key ${demoKey.slice(0, 8)}…`)
        .waitFor();
    }
    assert.equal(await bar(page).locator('img').count(), 0);
    // Programs encode links, and people paste twice.
    const [one, two, three, four, five, six] = [...'ABCDEF'].map((letter) => `pet_${letter.repeat(36)}`);
    const links = [
      `key%3D${one}`,
      `%6bey=${two}`,
      `key=${three?.replace('_', '%5F')}`,
      `key=${four}&key=${one}`,
      `key=&${five}&x=${one}`,
      `key=%&key=${six}&key=%zz`,
    ];
    for (const [i, hash] of links.entries()) {
      await page.goto(`${origin}/reference#${hash}`);
      await bar(page)
        .getByText(`API key pet_${'ABCDEF'[i]?.repeat(4)}…`)
        .waitFor();
      assert.doesNotMatch(page.url() + (await historyOf(page)), /key|pet_/, hash);
    }
    await page.goto(`${origin}/reference#key=${demoKey}`);
    await bar(page)
      .getByText(`API key ${demoKey.slice(0, 8)}…`)
      .waitFor();
    await page.goto(`${origin}/reference#key=${other}&tag/store/GET/inventory`);
    await note.getByText(`It came with the address, in place of ${demoKey.slice(0, 8)}…`).waitFor();
    await bar(page).getByText('API key pet_Evil…').waitFor();
    assert.doesNotMatch(page.url() + (await historyOf(page)), /key=|pet_/);
    // The rest of the address is unchanged.
    const section = page.locator('section[id$="/tag/store/GET/inventory"]');
    await reached(page, section);
    await page.waitForURL(`${origin}/reference#tag/store/GET/inventory`);
    const { dialog, sent } = await send(page, section);
    assert.equal(sent.headers().authorization, `Bearer ${other}`);
    await dialog.getByText('401 Unauthorized').waitFor();
    await close(page);
  });

  await t.test('a tab without a key asks for one, and forgets it when told, by keyboard alone', async () => {
    const tab = await open(`${origin}/reference`);
    await heading(tab).waitFor();
    const field = tab.getByLabel('API key', { exact: true });
    const note = bar(tab).getByRole('status');
    await note.getByText('prints an address with a key').waitFor();
    await tab.keyboard.press('Tab');
    for (const text of ['', 'pet_short', `Bearer ${demoKey}`, '<b>pet_</b>']) {
      await tab.keyboard.insertText(text);
      await tab.keyboard.press('Enter');
      await note.getByText('This is not a key. A key is pet_ and 36 letters and digits.').waitFor();
      assert.equal(await field.getAttribute('aria-invalid'), 'true');
      assert.equal(await tab.evaluate('document.activeElement.id'), 'key-input');
    }
    await tab.keyboard.insertText(` ${demoKey} `);
    await tab.keyboard.press('Enter');
    await bar(tab)
      .getByText(`API key ${demoKey.slice(0, 8)}…`)
      .waitFor();
    const section = await goTo(tab, 'getCategory');
    const { dialog, sent } = await send(tab, section);
    assert.equal(sent.headers().authorization, `Bearer ${demoKey}`);
    await dialog.getByText('200 OK').waitFor();
    await close(tab);
    assert.doesNotMatch(JSON.stringify(await tab.context().storageState({ indexedDB: true })), /pet_/);
    await bar(tab).getByRole('button', { name: 'Forget key' }).press('Enter');
    await field.waitFor();
    assert.equal(await field.inputValue(), '');
    const { sent: keyless } = await send(tab, section);
    assert.doesNotMatch(JSON.stringify(await keyless.allHeaders()), /pet_/);
    assert.equal(await tab.evaluate('JSON.stringify(sessionStorage)'), '{}');
  });

  await t.test('on a phone nothing is wider than the screen, and a pet can be added', async () => {
    const phone = await open(`${origin}/reference#tag/pets/POST/pets`, { width: 390, height: 844 });
    const section = phone.locator('section[id$="/tag/pets/POST/pets"]');
    await reached(phone, section);
    assert.equal(await phone.evaluate('document.documentElement.scrollWidth'), 390);
    await phone.getByLabel('API key', { exact: true }).fill(demoKey);
    await phone.getByRole('button', { name: 'Use key' }).click();
    const { dialog, sent } = await send(phone, section);
    // Optional parameters are sent only if they are ticked.
    const { 'idempotency-key': key, 'x-request-id': id } = await sent.allHeaders();
    assert.deepEqual([key, id], [undefined, undefined]);
    assert.equal(await phone.evaluate('document.documentElement.scrollWidth'), 390);
    await dialog.getByText('201 Created').waitFor();
  });

  assert.deepEqual([...new Set(requests.map((request) => new URL(request.url()).origin))], [origin]);
  for (const request of requests) {
    const { authorization: _, ...headers } = await request.allHeaders();
    assert.doesNotMatch(JSON.stringify([request.url(), request.postData(), headers]), /pet_/);
  }
  // The test expects two refused requests.
  assert.deepEqual(
    complaints.filter((text) => !/status of 401/.test(text)),
    [],
  );
});
