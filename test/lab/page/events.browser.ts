import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { findings } from '../../support/axe.ts';
import { browsers, browserTest as test } from '../../support/browsers.ts';
import { call } from '../../support/from-code.ts';
import {
  excessWidth,
  heldRequest,
  type LabVisit,
  type Look,
  stillClock,
  visitLab,
} from '../../support/lab-page.ts';
import { serve } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';
import { numbers } from '../../support/values.ts';

const partOf = (page: Page, part = 'events') => page.locator(`lab-${part}`);
const rows = (page: Page) => partOf(page).locator('.events > details');

/** Opens the stream, and waits until the service says that it is open. */
async function openStream(page: Page): Promise<void> {
  await partOf(page).getByRole('button', { name: 'Open the stream' }).click();
  await partOf(page).getByText('live', { exact: true }).waitFor();
}

/** The page at the tab of events, with an open stream. */
async function openEvents(t: TestContext, look: Look = {}, options?: Parameters<typeof visitLab>[1]) {
  const { store, open } = await visitLab(t, options);
  const page = await open(undefined, { at: 'events', ...look });
  await openStream(page);
  return { store, open, page };
}

/** The page at the tab of webhooks, which shows one for each URL. */
async function openWebhooks(t: TestContext, ...urls: string[]) {
  const { store, open } = await visitLab(t);
  for (const url of urls) await call(store, 'POST', '/store/webhooks', { body: { url } });
  const page = await open(undefined, { at: 'webhooks' });
  const part = partOf(page, 'webhooks');
  await part.getByRole('button', { name: 'Show the webhooks' }).click();
  return { store, page, part, reload: part.getByRole('button', { name: /^Reload(?! deliveries)/ }) };
}

const rename = (store: LabVisit['store'], id: number, name: string) =>
  call(store, 'PATCH', `/pets/${id}`, { body: { name } });

for (const { name, skip, launch } of browsers)
  test(`the page shows events at once, with their changes, in ${name}`, { skip }, async (t) => {
    const { store, open } = await visitLab(t, {}, launch);
    const page = await open(undefined, { at: 'events' });
    await partOf(page).getByText('This counts as 1 request.').waitFor();
    await openStream(page);
    const { body: pet } = await call(store, 'POST', '/pets', { body: { name: 'Smaug', categoryId: 1 } });
    const headers = { 'x-request-id': 'client-1' };
    await call(store, 'POST', '/store/orders', { body: { petId: pet.id }, headers });
    const sold = rows(page).filter({ hasText: `pet ${pet.id} Smaug: status available → pending` });
    await sold.waitFor();
    assert.deepEqual(await rows(page).locator('.badge').allInnerTexts(), [
      'pet.updated',
      'inventory.updated',
      'order.placed',
      'pet.created',
    ]);
    assert.match(await sold.innerText(), /by client-1/);

    await sold.locator('summary').click();
    assert.equal(await sold.locator('del').innerText(), 'available');
    assert.equal(await sold.locator('ins').innerText(), 'pending');
    assert.match(await sold.innerText(), /Unchanged: id \d+, name Smaug, categoryId 1/);

    // Rows do not move while the user reads. A button counts the new ones.
    await rename(store, pet.id, 'Golden');
    await partOf(page).getByRole('button', { name: 'Show 1 new event' }).waitFor();
    assert.equal(await rows(page).count(), 4);
    await sold.locator('summary:focus').waitFor();
    await partOf(page).getByRole('button', { name: 'Show 1 new event' }).press('Enter');
    await rows(page).nth(4).waitFor();
    assert.match(await rows(page).first().innerText(), /name Smaug → Golden/);

    await partOf(page).getByLabel('Type').selectOption('order.placed');
    await until(async () => (await rows(page).count()) === 1);
    assert.match(await rows(page).innerText(), new RegExp(`1 of pet ${pet.id}`));

    // A stream opened again has the events since it was closed.
    await partOf(page).getByLabel('Type').selectOption('');
    await partOf(page).getByRole('button', { name: 'Close the stream' }).click();
    await rename(store, pet.id, 'Smaug');
    await partOf(page).getByRole('button', { name: 'Open the stream again' }).click();
    await rows(page).filter({ hasText: 'name Golden → Smaug' }).waitFor();
  });

test('hostile text in events stays text, also on narrow screens with text of twice the size', async (t) => {
  const { store, page } = await openEvents(t, { width: 390, colorScheme: 'dark' });
  const name = `<img src=x onerror=alert(1)> \u202egnp.exe ${'x'.repeat(150)}`;
  await call(store, 'POST', '/pets', { body: { name, categoryId: 1 } });
  await rows(page).first().locator('summary').click();
  await rows(page).first().locator('ins').first().waitFor();
  const text = await rows(page).first().innerText();
  assert.ok(text.includes('<img src=x onerror=alert(1)> \\u202egnp.exe xxx'));
  assert.ok(!text.includes('\u202e'));
  assert.ok(text.includes('x'.repeat(150)));
  const lines = `[...document.querySelectorAll('.event th bdi')].map((field) => field.getClientRects().length)`;
  assert.deepEqual([...new Set(await page.evaluate<number[]>(lines))], [1]);
  assert.equal(await excessWidth(page), 0);
  assert.deepEqual(await findings(page, ['lab-events']), []);
  await page.evaluate("document.styleSheets[0].insertRule('html { font-size: 200% }')");
  assert.equal(await excessWidth(page), 0);
});

test('the page keeps and renders the newest of many events', async (t) => {
  const { store, page } = await openEvents(t);
  for (let sent = 0; sent < 600; sent += 20)
    await Promise.all(numbers(20, sent).map((n) => rename(store, (n % 10) + 1, `pet ${n}`)));
  await rows(page).locator('.event-id').getByText('600', { exact: true }).waitFor();
  await partOf(page).getByText('Showing the newest 100 of 500 events.').waitFor();
  assert.equal(await rows(page).count(), 100);
});

test('a stream that is closed before its first event misses none', async (t) => {
  const { store, open, page } = await openEvents(t);
  await partOf(page).getByRole('button', { name: 'Close the stream' }).click();
  await rename(store, 2, 'Smaug');
  // The page says why the stream is closed, until it is open again.
  await page.route('**/events/stream*', (route) => route.fulfill({ status: 502 }), { times: 1 });
  await partOf(page).getByRole('button', { name: 'Open the stream' }).click();
  await partOf(page).getByText('The stream is waiting and will continue by itself: ').waitFor();
  await rows(page).filter({ hasText: 'Smaug' }).waitFor();
  await partOf(page).locator('.note').waitFor({ state: 'detached' });

  // Without a place, events between two streams are unknown.
  const other = await open(undefined, { at: 'events' });
  await other.route('**/events/stream*', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: 'retry: 1\n\n' }),
  );
  await partOf(other).getByRole('button', { name: 'Open the stream' }).click();
  await partOf(other).getByText('The stream has ended: The connection broke').waitFor();
});

test('the page says when the stream of a banned key continues, and its buttons are disabled until then', async (t) => {
  const { store, page } = await openEvents(t, {}, { ...stillClock, plan: 'free' });
  await rename(store, 1, 'Smaug');
  await rows(page).first().waitFor();
  for (let sent = 0; sent < 130; sent += 10)
    await Promise.all(numbers(10).map(() => call(store, 'GET', '/pets?limit=1')));
  const note = partOf(page).getByText('This key is banned: the stream');
  await note.waitFor();
  await partOf(page).getByText('paused', { exact: true }).waitFor();
  assert.match(await note.innerText(), /continues by itself after \d\d:\d\d:\d\d\./);
  assert.equal(await rows(page).count(), 1);
  await partOf(page).getByRole('button', { name: 'Close the stream' }).click();
  await partOf(page)
    .getByText(/This key is banned: the stream can be opened at \d\d:\d\d:\d\d\./)
    .waitFor();
  assert.ok(await partOf(page).getByRole('button', { name: 'Open the stream again' }).isDisabled());
  await page.getByRole('tab', { name: 'Webhooks' }).click();
  const webhooks = partOf(page, 'webhooks');
  const show = webhooks.getByRole('button', { name: 'Show the webhooks' });
  assert.ok(await show.isDisabled());
  await webhooks.getByText('This key is banned: this tab cannot send requests until').waitFor();
  await store.clock.advance('2 minutes');
  await show.click();
  await webhooks.getByText('There is no webhook yet.').waitFor();
});

test('another key does not see events of the key before', async (t) => {
  const { store, page } = await openEvents(t);
  const { key } = await store.addWorkspace('other');
  await rename(store, 1, 'Smaug');
  await rows(page).first().waitFor();
  await page.evaluate(`location.hash = 'key=${key}'`);
  await partOf(page).getByRole('button', { name: 'Open the stream' }).waitFor();
  assert.equal(await rows(page).count(), 0);
  await openStream(page);
  await rename(store, 1, 'Golden');
  await partOf(page).getByText('No event yet.').waitFor();
});

for (const { name, skip, launch } of browsers)
  test(`a webhook is added, tested, viewed and removed, in ${name}`, { skip }, async (t) => {
    let status = 500;
    const port = await serve(t, (_request, response) => response.writeHead(status).end());
    const { open } = await visitLab(t, {}, launch);
    const page = await open(undefined, { at: 'webhooks', width: 390 });
    const part = partOf(page, 'webhooks');
    await part.getByRole('button', { name: 'Show the webhooks 1 request' }).click();
    await part.getByText('There is no webhook yet.').waitFor();

    await part.getByRole('button', { name: 'Add a webhook' }).click();
    await part.getByLabel('URL').fill('http://shop.example/');
    await part.getByRole('button', { name: 'Add it 1 request' }).click();
    assert.match(await part.getByRole('alert').innerText(), /url must be .*\(request lab-page-/);
    await part.getByLabel('URL').fill(`http://127.0.0.1:${port}/events`);
    await part.getByLabel('pet.created').check();
    await part.getByRole('button', { name: 'Add it 1 request' }).click();
    const secret = part.locator('.secret');
    assert.match(await secret.locator('code').innerText(), /^whsec_/);
    assert.match(await secret.innerText(), /not shown again/);
    assert.deepEqual(await findings(page, ['lab-webhooks']), []);
    await secret.getByRole('button', { name: 'Copy' }).press('Enter');
    await secret.getByText(/Copied|The text is selected/).waitFor();
    await secret.getByRole('button', { name: 'I have saved it' }).press('Enter');
    await secret.waitFor({ state: 'detached' });
    assert.equal(await excessWidth(page), 0);

    await part.getByRole('button', { name: 'Ping 2 requests' }).click();
    await part.getByText(/1 attempt: The receiver returned 500, in \d+ ms; next at \d\d:/).waitFor();
    status = 204;
    await part.getByRole('button', { name: 'Send again 2 requests' }).click();
    await part.getByText('delivered').waitFor();
    await part.getByText(/2 attempts: The receiver returned 204/).waitFor();
    await part.getByText(/Read at \d\d:\d\d:\d\d\./).waitFor();

    await part.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await part.locator('.keep:focus').waitFor();
    await page.keyboard.press('Enter');
    await part.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
    await part.getByRole('button', { name: 'Yes, remove it 1 request' }).click();
    await part.getByText('There is no webhook yet.').waitFor();
  });

test('the page says whether there are more webhooks and deliveries, and when a refusal ends', async (t) => {
  const port = await serve(t, (_request, response) => response.writeHead(204).end());
  const url = `http://127.0.0.1:${port}/`;
  const { store, part, reload } = await openWebhooks(t, url, url, url);
  for (let sent = 0; sent < 3; sent++) await call(store, 'POST', '/store/webhooks/1/ping');
  const list = part.getByRole('region', { name: 'webhook 1' });
  await list.getByRole('button', { name: 'Show deliveries' }).click();
  await list.locator('.deliveries > li').nth(2).waitFor();
  // The row moves to the top, and the focus with it.
  await list.getByRole('button', { name: 'Send again' }).nth(2).press('Enter');
  await list.locator('.deliveries > li').first().locator('button:focus').waitFor();
  assert.equal(await part.getByText('more').count(), 0);
  // The page reads the list a moment later. The faults must not touch that.
  await list.locator('button[aria-disabled=true]').waitFor({ state: 'detached' });

  await store.rehearse([{ fault: 'small-pages' }]);
  await reload.click();
  await part.getByText('There are more webhooks than these.').waitFor();
  await list.getByRole('button', { name: 'Reload deliveries' }).click();
  await list.getByText('These are the newest 2. There are more.').waitFor();

  await store.rehearse([{ fault: 'rate-limited', retryAfterSeconds: 30 }]);
  await reload.click();
  const failure = part.getByRole('alert');
  await failure.getByText(/You can retry at \d\d:\d\d:\d\d\.$/).waitFor();
  await reload.click();
  await failure.getByText(/It was not sent: .* before \d\d:\d\d:\d\d\.$/).waitFor();
});

test('a typed webhook is kept during an outage, and sent afterwards', async (t) => {
  const { page, part, reload } = await openWebhooks(t);
  await part.getByRole('button', { name: 'Add a webhook' }).click();
  const account = '**/lab/account';
  const url = part.getByLabel('URL');
  await url.pressSequentially('http://127.0.0.1');
  await page.route(account, (route) => route.abort());
  await page.getByText(/^Paused since/).waitFor();
  await page.keyboard.type(':1/events');
  await page.keyboard.press('Enter');
  assert.equal(await url.inputValue(), 'http://127.0.0.1:1/events');
  assert.ok(await part.getByRole('button', { name: 'Add it' }).isDisabled());
  await page.unroute(account);
  await page.getByText(/^Paused since/).waitFor({ state: 'detached' });
  assert.equal(await part.locator('.webhook').count(), 0);
  await page.keyboard.press('Enter');
  await part.locator('.webhook').waitFor();
  await reload.focus();
  await page.route(account, (route) => route.abort());
  await part.locator('h2:focus').waitFor();
});

test('each secret of a webhook stays until the user hides it, also while the service is away', async (t) => {
  const { page, part } = await openWebhooks(t);
  const secrets = part.locator('.secret');
  for (const id of [1, 2]) {
    await part.getByRole('button', { name: 'Add a webhook' }).click();
    await part.getByLabel('URL').fill(`http://127.0.0.1:1/${id}`);
    await page.keyboard.press('Enter');
    await secrets.getByText(`The secret of webhook ${id}.`).waitFor();
  }
  const texts = await secrets.locator('code').allInnerTexts();
  assert.equal(new Set(texts).size, 2);
  await page.route('**/lab/account', (route) => route.abort());
  await page.getByText(/^Paused since/).waitFor();
  const first = part.getByRole('region', { name: 'secret of webhook 1' });
  await first.getByRole('button', { name: 'Copy' }).click();
  await first.getByText(/Copied|The text is selected/).waitFor();
  await first.getByRole('button', { name: 'I have saved it' }).click();
  await first.waitFor({ state: 'detached' });
  assert.deepEqual(await secrets.locator('code').allInnerTexts(), [texts[1]]);
  assert.equal(await secrets.getByText(/Copied|The text is selected/).count(), 0);
});

test('a late, older list does not bring a removed webhook back', async (t) => {
  const { page, part, reload } = await openWebhooks(t, 'http://127.0.0.1:1/1', 'http://127.0.0.1:1/2');
  const first = part.getByRole('region', { name: 'webhook 1' });
  await first.waitFor();
  const late = await heldRequest(page, /\/webhooks(\?|$)/, () => reload.click());
  const response = await late.fetch();
  await first.getByRole('button', { name: 'Remove' }).click();
  await first.getByRole('button', { name: 'Yes, remove it' }).click();
  await first.waitFor({ state: 'detached' });
  await late.fulfill({ response });
  await part.locator('button:not([aria-disabled=true])', { hasText: 'Reload' }).waitFor();
  assert.equal(await part.locator('.webhook').count(), 1);
});

test('a late, older list does not remove a delivery', async (t) => {
  const { page, part } = await openWebhooks(t, 'http://127.0.0.1:1/');
  await part.getByRole('button', { name: 'Show deliveries' }).click();
  await part.getByText('Nothing was sent to it yet.').waitFor();
  const idle = (name: string) => part.locator('button[aria-disabled=false]', { hasText: name });
  const late = await heldRequest(page, /\/deliveries\?/, () => idle('Reload deliveries').click());
  const response = await late.fetch();
  await idle('Ping').click();
  await part.locator('.deliveries > li').waitFor();
  // The page shows the list from after the delivery.
  await idle('Ping').waitFor();
  await late.fulfill({ response });
  await idle('Reload deliveries').waitFor();
  assert.equal(await part.locator('.deliveries > li').count(), 1);
});

test('the page shows that a receiver disabled its webhook, until the webhook is enabled', async (t) => {
  let status = 410;
  const port = await serve(t, (_request, response) => response.writeHead(status).end());
  const { store, part } = await openWebhooks(t, `http://127.0.0.1:${port}/`);
  await part.getByRole('button', { name: 'Ping' }).click();
  await part.getByText('disabled: its receiver returned 410').waitFor();
  await part.getByRole('button', { name: 'Send again' }).click();
  await part.getByRole('alert').waitFor();
  // The service now sends the events since then.
  status = 204;
  await part.getByRole('button', { name: 'Enable' }).click();
  await part.getByText('enabled', { exact: true }).waitFor();
  assert.equal(await part.getByRole('alert').count(), 0);

  // Another program can disable it, too.
  await call(store, 'PATCH', '/store/webhooks/1', { body: { enabled: false } });
  await part.getByRole('button', { name: 'Ping' }).click();
  await part.getByText('disabled by a request').waitFor();
  await part.getByRole('button', { name: 'Enable' }).waitFor();
});
