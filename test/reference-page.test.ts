import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chromium, type Locator, type Page } from 'playwright-core';
import { operations } from '../src/operations.ts';
import { startService } from './support/service.ts';
import { temporaryStorage } from './support/storage.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const skip =
  !existsSync(executablePath) && !process.env.CI && `no browser at ${executablePath}; CHROMIUM can name one`;
const timeout = 300_000;
/** Generous, since the page is long and browsers are slow where much else runs. */
const stepTimeoutMs = 60_000;

/** Keeps the browser from looking anything up by itself. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

interface Visit {
  page: Page;
  /** Opens another page, at an address and of a size in pixels, that is watched like the first. */
  open(address: string, viewport: { width: number; height: number }): Promise<Page>;
  origin: string;
  demoKey: string;
  /** Every address that the page asked for. */
  requests: string[];
  /** What the console shows, but for what Scalar says of its version. */
  complaints: string[];
}

/** Opens the reference of a demonstration that has just been started. */
async function openReference(t: TestContext): Promise<Visit> {
  const dataDir = join(await temporaryStorage(t), 'data');
  const service = await startService(t, dataDir);
  const browser = await chromium.launch({ executablePath, args });
  t.after(() => browser.close());
  const origin = service.origin.replace('127.0.0.1', 'localhost');
  const requests: string[] = [];
  const complaints: string[] = [];
  const open: Visit['open'] = async (address, viewport) => {
    const page = await browser.newPage({ viewport });
    page.setDefaultTimeout(stepTimeoutMs);
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => message.type() !== 'info' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(address);
    return page;
  };
  const page = await open(`${origin}/reference`, { width: 1400, height: 1000 });
  await page.getByRole('heading', { name: 'Petstore', level: 1 }).waitFor();
  const demoKey = readFileSync(join(dataDir, 'demo.key'), 'utf8').trim();
  return { page, open, origin, demoKey, requests, complaints };
}

/** Goes to an operation as a reader does, by the list at the side, and answers its part of the page. */
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

test('the reference shows every operation and guide, sends real requests, and asks nobody else', {
  skip,
  timeout,
}, async (t) => {
  const { page, open, origin, demoKey, requests, complaints } = await openReference(t);

  await t.test('every guide can be read', async () => {
    for (const name of [
      'Getting started',
      'Authentication',
      'Rate limits',
      'Errors',
      'Events',
      'Versioning',
    ]) {
      await page.locator('aside').getByRole('link', { name, exact: true }).click();
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
        const isShown = (mark: string) => section.getByText(mark, { exact: true }).first().isVisible();
        assert.equal(await isShown('Deprecated'), deprecated !== undefined, id);
        assert.equal(await isShown('Sunset 2030-12-05'), deprecated !== undefined, id);
        assert.equal(await isShown('Beta'), stability === 'beta', id);
        assert.equal(await isShown('Experimental'), stability === 'experimental', id);
      }
    },
  );

  await t.test('a request is sent with the demonstration key, and the answer shows the limits', async () => {
    const sent = page.waitForRequest(`${origin}/v1/categories/1`);
    await sendButton(await goTo(page, 'getCategory')).click();
    const dialog = page.getByRole('dialog', { name: 'API Client' });
    await dialog.getByRole('button', { name: 'Send', exact: false }).first().click();
    assert.equal((await sent).headers().authorization, `Bearer ${demoKey}`);
    await dialog.getByText('200 OK').waitFor();
    await dialog.getByText('"Dogs"').waitFor();
    await dialog.getByRole('button', { name: 'Response Headers' }).click();
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
      await dialog.getByText(name, { exact: false }).first().waitFor();
    }
    assert.match(await dialog.innerText(), /x-ratelimit-remaining\s+59\b/i);
    // A list in the panel would lead to the operations that offer no way to send.
    await page.keyboard.press('Control+b');
    assert.equal(await dialog.getByRole('link', { name: 'List orders' }).count(), 0);
    assert.equal(await dialog.getByText('List orders').count(), 0);
    assert.equal(await dialog.locator('.scalar-sidebar-toggle').filter({ visible: true }).count(), 0);
    await page.keyboard.press('Escape');
  });

  await t.test('on a phone nothing is wider than the screen, and a pet can be added', async () => {
    await page.close();
    const phone = await open(`${origin}/reference#tag/pets/POST/pets`, { width: 390, height: 844 });
    const section = phone.locator('section[id$="/tag/pets/POST/pets"]');
    await sendButton(section).click();
    const dialog = phone.getByRole('dialog', { name: 'API Client' });
    assert.equal(await phone.evaluate('document.documentElement.scrollWidth'), 390);
    await dialog.getByRole('button', { name: 'Send', exact: false }).first().click();
    await dialog.getByText('201 Created').waitFor();
  });

  assert.deepEqual([...new Set(requests.map((url) => new URL(url).origin))], [origin]);
  assert.deepEqual(complaints, []);
});
