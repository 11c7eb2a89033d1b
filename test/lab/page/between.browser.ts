import assert from 'node:assert/strict';
import { browserTest as test } from '../../support/browsers.ts';
import { call } from '../../support/from-code.ts';
import { drawn, heldRequest, visitLab } from '../../support/lab-page.ts';
import { openStore } from '../../support/lab-store-tab.ts';

test('responses of a proxy do not change what the page shows of the key, and the page continues', async (t) => {
  const { open } = await visitLab(t);
  const page = await open();
  const limits = page.locator('lab-limits h2');
  await limits.waitFor();
  const account = '**/lab/account';
  const plain = { status: 200, contentType: 'text/plain' };
  for (const answer of [
    { status: 404, contentType: 'text/html', body: '<h1>No such page</h1>' },
    { status: 401, contentType: 'text/html', body: '<h1>Log in</h1>' },
    { status: 503, headers: { 'retry-after': '86400' }, body: '' },
    { ...plain, body: '{}' },
    { ...plain, body: '{"at":"2026","ban":{},"minute":{"reset":1e20},"day":{}}' },
  ]) {
    await page.route(account, (route) => route.fulfill(answer));
    await page.getByText(/^Paused since/).waitFor();
    assert.equal(await limits.count(), 1, 'what was shown stays');
    await page
      .getByText(/The page continues at|trying again/)
      .first()
      .waitFor();
    await page.unroute(account);
    // A tab that is visible again asks at once, whatever Retry-After says.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText(/^Paused since/).waitFor({ state: 'detached' });
  }
});

test('a fault in a response to the page is named, and an empty first page is not shown as an empty store', async (t) => {
  const { store, open } = await visitLab(t);
  const page = await open();
  await using _ = await store.rehearse([
    { fault: 'empty-page', operation: 'listPets' },
    { fault: 'empty-page', operation: 'listInventory' },
    { fault: 'empty-page', operation: 'listOrders' },
    { fault: 'internal-error', operation: 'placeOrder' },
    { fault: 'lost-answer', operation: 'placeOrder', after: 1 },
  ]);
  await page.getByRole('tab', { name: 'Store' }).click();
  await openStore(page);
  assert.equal(await page.locator('lab-store article').count(), 20);
  assert.equal(await page.locator('lab-store').getByText('stock unknown').count(), 0);
  assert.ok((await page.locator('lab-store').getByText('none in stock').count()) < 20);
  const order = page
    .locator('lab-store article:has-text("in stock")')
    .getByRole('button', { name: /^Order/ })
    .first();
  for (const text of [/The fault internal-error is on\./, /The request may have taken effect\./]) {
    await order.click();
    await page.getByText(text).first().waitFor();
  }
});

test('after somebody removes the recording, the page shows the next one', async (t) => {
  const { store, open } = await visitLab(t);
  const recording = await store.record();
  const page = await open();
  await page.getByRole('button', { name: 'Stop recording' }).waitFor();
  const { status } = await call(store, 'DELETE', `/recordings/${recording.id}`, { start: '/lab' });
  assert.equal(status, 204);
  await page.getByRole('button', { name: 'Watch my client' }).click();
  await page.getByRole('button', { name: 'Stop recording' }).waitFor();
});

test('many clicks start one recording', async (t) => {
  const { store, open } = await visitLab(t);
  const page = await open();
  await page.getByRole('button', { name: 'Watch my client' }).waitFor();
  await page.evaluate(`(function press() {
    const button = document.querySelector('lab-requests .choices button');
    button?.click();
    if (button) setTimeout(press, 1);
  })()`);
  await page.getByRole('button', { name: 'Stop recording' }).waitFor();
  assert.equal((await call(store, 'GET', '/recordings', { start: '/lab' })).body.length, 1);
});

test('a recording that begins and ends between two readings of the account is shown', async (t) => {
  const { store, open } = await visitLab(t);
  const page = await open();
  const recordBetween = async (name: string) => {
    // The page reads the next page after this one.
    const reading = await heldRequest(page, '**/lab/account');
    const recording = await store.record({ name });
    await call(store, 'GET', '/categories');
    await recording.end();
    await reading.continue();
  };
  const shown = page.locator('lab-requests');
  await shown.getByText('Point your client here').waitFor();
  await recordBetween('a short one');
  await shown.getByText('“a short one”, since').waitFor();
  await shown.locator('.list .line').filter({ hasText: '/v1/categories' }).waitFor();
  await recordBetween('the next');
  await shown.getByText('“the next”, since').waitFor();
  await page.getByLabel('Recording', { exact: true }).selectOption({ index: 1 });
  await shown.getByText('“a short one”, since').waitFor();
  // The chosen recording stays until there is a new one.
  await page.waitForResponse('**/lab/recordings');
  await drawn(page);
  await shown.getByText('“a short one”, since').waitFor();
});

test('a failed report card shows its failure only at its own recording', async (t) => {
  const { store, open } = await visitLab(t);
  const judged = await store.record({ name: 'judged' });
  await call(store, 'GET', '/categories');
  const empty = await store.record({ name: 'empty' });
  const page = await open();
  const recordings = page.getByLabel('Recording', { exact: true });
  const failure = page.locator('lab-report .failure');
  const report = `**/recordings/${judged.id}/report`;
  const showEmpty = async () => {
    await recordings.selectOption(empty.id);
    await page.getByText('There are none yet.').waitFor();
  };
  await page.route(report, (route) => route.fulfill({ status: 500 }));
  await recordings.selectOption(judged.id);
  await page.locator('lab-report').scrollIntoViewIfNeeded();
  await failure.waitFor();
  await showEmpty();
  await failure.waitFor({ state: 'detached' });
  await page.unroute(report);
  const late = await heldRequest(page, report, () => recordings.selectOption(judged.id));
  await showEmpty();
  const answered = page.waitForResponse(report);
  await late.fulfill({ status: 500 });
  await (await answered).finished();
  await drawn(page);
  assert.equal(await failure.count(), 0);
});

test('a request that began before others and ends after them becomes the attempt before theirs', async (t) => {
  const { store, open } = await visitLab(t);
  await store.record();
  await store.rehearse([{ fault: 'delay', operation: 'getPet', delayMs: 30_000, times: 1 }]);
  const page = await open(store.key, { at: 'faults' });
  const ask = (signal?: AbortSignal) =>
    fetch(`${store.baseUrl}/pets/1`, {
      headers: { authorization: `Bearer ${store.key}` },
      ...(signal && { signal }),
    });
  // The client left, so its request has ended.
  const leaving = new AbortController();
  const held = assert.rejects(ask(leaving.signal));
  await page.locator('lab-faults').getByText('1 performed').waitFor();
  await (await ask()).text();
  const second = page.locator('.line[data-id="1"]');
  await second.waitFor();
  assert.doesNotMatch(await second.innerText(), /gap/);
  leaving.abort();
  await held;
  await page.locator('.line[data-id="2"]').waitFor();
  await page.locator('.line[data-id="1"]', { hasText: /gap\s*0\sms/ }).waitFor();
});
