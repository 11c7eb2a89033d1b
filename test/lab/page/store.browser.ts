import assert from 'node:assert/strict';
import { findings } from '../../support/axe.ts';
import { browsers, browserTest as test } from '../../support/browsers.ts';
import { call } from '../../support/from-code.ts';
import { heldRequest, visitLab } from '../../support/lab-page.ts';
import {
  atEvents,
  card,
  has,
  openButton,
  openStore,
  panel,
  sentBy,
  streamOf,
  twice,
  visit,
} from '../../support/lab-store-tab.ts';
import { until } from '../../support/until.ts';

for (const browser of browsers)
  test(`the store shows all changes at once: ${browser.name}`, { skip: browser.skip }, async (t) => {
    const { store, open } = await visitLab(t, {}, browser.launch);
    const page = await open(undefined, { at: 'store' });
    const sent = sentBy(page);
    await page.getByText('counts as 5 requests').waitFor();
    assert.deepEqual(sent, [], 'nothing is asked before');
    const recording = await store.record();
    await openStore(page);
    assert.deepEqual(sent.toSorted(), [
      'GET /categories',
      'GET /inventory',
      'GET /pets',
      'GET /store/events/stream',
      'GET /store/orders',
    ]);
    const recorded = await recording.requests();
    assert.ok(recorded.length >= 4 && recorded.every(({ labPage }) => labPage), 'reports leave them out');
    assert.equal(await page.locator('lab-store article .drawing > svg').count(), 20);
    await has(page, 2, '2 in stock');
    await call(store, 'POST', '/store/orders', { body: { petId: 2, quantity: 2 } });
    await has(page, 2, 'none in stock');
    await card(page, 2).getByText('pending').waitFor();
    await card(page, 2).getByText('was available').waitFor();
    const orders = page.locator('lab-store .orders li');
    await orders.filter({ hasText: '2 × Rex' }).getByRole('button', { name: 'Fulfil' }).click();
    await card(page, 2).getByText('sold', { exact: true }).waitFor();
    await page.locator('lab-store .done').getByText('order 9 is complete').waitFor();
    await call(store, 'PATCH', '/pets/2', { body: { name: '<img src=x onerror=alert(1)>' } });
    await has(page, 2, '<img src=x onerror=alert(1)>');
    await call(store, 'POST', '/pets', { body: { name: 'Quak', categoryId: 7 } });
    await page.getByRole('heading', { name: 'Amphibians' }).waitFor();
    await call(store, 'DELETE', '/pets/21');
    await card(page, 21).waitFor({ state: 'detached' });
    assert.equal(sent.length, 6, 'the page has asked for nothing else but to fulfil an order');
  });

test('of two orders for the last unit only one succeeds, and both responses are shown', async (t) => {
  const { service, store, page } = await visit(t, {}, { tolerated: /^no randomness$/ });
  const sent = sentBy(page);
  const keys = new Set<string | undefined>();
  page.on('request', (request) => {
    if (request.method() === 'POST') keys.add(request.headers()['idempotency-key']);
  });
  // The button opens the store, too: two clicks from anywhere.
  await twice(page).click();
  await panel(page).getByText('Two orders for the last Cleo: only one succeeds').waitFor();
  assert.deepEqual((await panel(page).locator('.large').allTextContents()).toSorted(), ['201', '409']);
  const text = await panel(page).innerText();
  assert.match(text, /insufficient_stock[\s\S]*order 9|order 9[\s\S]*insufficient_stock/);
  const ids = text.match(/lab-page-\w{4}…/g);
  assert.equal(new Set(ids).size, 2);
  await panel(page).getByText('Pet 7 has too few units in stock: needed 1, available 0.').waitFor();
  await has(page, 7, 'none in stock');
  assert.equal(sent.filter((request) => request === 'POST /store/orders').length, 2);
  assert.equal(keys.size, 2);

  await t.test('after other responses the page does not claim that one order won', async () => {
    // If no pet has one left, the first one gets that stock.
    const { body: items } = await call(store, 'GET', '/inventory?limit=100');
    for (const { petId } of items.filter(({ quantity }: { quantity: number }) => quantity === 1))
      await call(store, 'PATCH', `/inventory/${petId}`, { body: { quantity: 5 } });
    const single = page.locator('lab-store').getByText('1 in stock', { exact: true });
    await single.first().waitFor({ state: 'detached' });
    await service.rehearse([{ fault: 'internal-error', operation: 'placeOrder', times: 2 }], {
      key: store.key,
    });
    await twice(page).click();
    await panel(page).getByText('this time the result is different').waitFor();
    await has(page, 1, '1 in stock');
    await panel(page).getByRole('button', { name: 'Close' }).click();
    await panel(page).waitFor({ state: 'detached' });
  });

  await t.test('after a browser error the button works again', async () => {
    const failed = page.waitForEvent('pageerror');
    // Within one task: the page's reading of the account would fail too, and disable the button.
    await twice(page).evaluate((button: { click(): void }) => {
      crypto.getRandomValues = () => {
        throw new Error('no randomness');
      };
      button.click();
      delete (crypto as Partial<Crypto>).getRandomValues;
    });
    await failed;
    await twice(page).click();
    await panel(page).locator('.large').first().waitFor();
  });
});

test('each action shows its response, also by keyboard', async (t) => {
  const { page } = await visit(t, {}, { reducedMotion: 'reduce' });
  await openButton(page).focus();
  await page.keyboard.press('Enter');
  await page.locator('lab-store h2:focus').waitFor();
  const more = card(page, 1).locator('summary');
  await more.focus();
  await page.keyboard.press('Enter');
  await card(page, 1).getByLabel('Units').fill('1000');
  await page.keyboard.press('Enter');
  const failure = card(page, 1).locator('.failure');
  await failure.waitFor();
  assert.match(
    await failure.innerText(),
    /^409 insufficient_stock\s+Pet 1 has too few units in stock: needed 1000, available 4\. \(request lab-page-\w{4}…\)$/,
  );
  await card(page, 1).getByLabel('Units').fill('4');
  await page.keyboard.press('Enter');
  await card(page, 1).getByText('201 order 9').waitFor();
  await failure.waitFor({ state: 'detached' });
  await has(page, 1, 'none in stock');
  assert.equal(
    await page.evaluate(`getComputedStyle(document.querySelector('article.changed')).animationName`),
    'none',
  );
  const cancel = page.getByRole('button', { name: 'Cancel order 9' });
  await cancel.focus();
  await page.keyboard.press('Enter');
  await cancel.waitFor({ state: 'detached' });
  await has(page, 1, '4 in stock');
  await page.locator('.order-panel h3:focus').waitFor();
  const order = page.getByRole('button', { name: 'Order one Iggy' });
  assert.ok(await order.isDisabled(), 'none is left');
  await page.locator('.done').getByText('order 9 is cancelled').waitFor();
  assert.match(await page.locator('.done').innerText(), /request lab-page-\w+/);
});

test('a response stays at a pet until the pet changes again', async (t) => {
  const { store, page } = await visit(t);
  await openStore(page);
  await card(page, 14).locator('summary').press('Enter');
  await card(page, 14).getByLabel('Stock').fill('7');
  await page.keyboard.press('Enter');
  await card(page, 14).getByText('200 7 in stock').waitFor();
  await call(store, 'PATCH', '/inventory/14', { body: { quantity: 3 } });
  await has(page, 14, '3 in stock');
  await card(page, 14).getByText('200 7 in stock').waitFor({ state: 'detached' });
  await page.locator('.done').getByText('7 in stock').waitFor();
});

test("the lists are read only after the page's own stream has begun", async (t) => {
  const { store, page } = await visit(t);
  const sent = sentBy(page);
  const stream = await heldRequest(page, '**/events/stream', () => openButton(page).click());
  await using _ = await streamOf(store);
  await page.getByRole('button', { name: 'Details' }).click();
  await page.locator('lab-limits dd').getByText('1', { exact: true }).waitFor();
  await page.getByText('Waiting for the stream of events').waitFor();
  await page.locator('lab-events').getByText('connecting').waitFor({ state: 'attached' });
  await page.waitForResponse('**/lab/account');
  assert.deepEqual(sent, ['GET /store/events/stream']);
  await call(store, 'POST', '/store/orders', { body: { petId: 2, quantity: 2 } });
  await stream.continue();
  await has(page, 2, 'none in stock');
  await page.locator('lab-store h2').getByText('live').waitFor();
});

test('a button fills an empty workspace with demo data', async (t) => {
  const { page } = await visit(t, { seed: false });
  await openStore(page);
  assert.ok(await twice(page).isDisabled());
  await page.getByRole('button', { name: 'Fill with demo data' }).click();
  await has(page, 1, '4 in stock');
  assert.ok(await twice(page).isEnabled());
});

test('the user confirms a reset, and then the lists are read again once', async (t) => {
  const { store, page } = await visit(t);
  await call(store, 'PATCH', '/pets/1', { body: { name: 'Renamed' } });
  const sent = sentBy(page);
  await openStore(page);
  await has(page, 1, 'Renamed');
  const begin = page.getByRole('button', { name: 'Reset …' });
  await begin.click();
  await page.getByText('This affects every key of this workspace.').waitFor();
  await page.getByRole('button', { name: 'Keep it' }).click();
  await page.locator('.reset:focus').waitFor();
  await page.locator('.confirmation').waitFor({ state: 'detached' });
  await begin.click();
  await page.getByRole('button', { name: 'Reset the workspace' }).click();
  await has(page, 1, 'Bella');
  await page.getByText('200 the workspace is reset').first().waitFor();
  assert.equal(sent.filter((request) => request === 'GET /pets').length, 2);
});

test('after a reset no pet and no order shows an earlier response', async (t) => {
  const { store, page } = await visit(t);
  const answers = page.locator('lab-store :is(article, .orders) :is(.answer, .failure)');
  const done = page.locator('.done');
  const act = async () => {
    await card(page, 1).getByRole('button', { name: 'Order one Bella' }).click();
    await card(page, 1).getByText('201 order 9').waitFor();
    await twice(page).click();
    await panel(page).getByText('Two orders for the last Cleo').waitFor();
  };
  await openStore(page);
  await act();

  // A late answer to a request before the reset counts as old, too.
  const order = card(page, 2).getByRole('button', { name: 'Order one Rex' });
  const late = await heldRequest(page, '**/v1/store/orders', () => order.click());
  const response = await late.fetch();
  await has(page, 2, '1 in stock');
  await call(store, 'POST', '/workspace/reset', { start: '/lab' });
  await panel(page).waitFor({ state: 'detached' });
  await late.fulfill({ response });
  await done.getByText('Order 1 of Rex').waitFor();
  assert.equal(await answers.count(), 0);
  assert.equal(await done.locator('li').count(), 4, 'what was answered stays in its list');

  // The page itself resets it, without an open stream.
  await atEvents(page, 'Close the stream');
  await page.getByRole('button', { name: 'Open it again' }).click();
  await has(page, 2, '2 in stock');
  await act();
  await atEvents(page, 'Close the stream');
  await page.getByRole('button', { name: 'Reset …' }).click();
  await page.route('**/v1/pets?*', (route) => route.abort());
  // A workspace can be reset once a second.
  await until(async () => {
    await page.evaluate("document.querySelector('lab-store .danger')?.click()");
    return page.locator('lab-store').getByText('200 the workspace is reset').first().isVisible();
  });
  await panel(page).waitFor({ state: 'detached' });
  assert.equal(await answers.count(), 0);
});

test('axe finds no fault in the store', async (t) => {
  const { store, page } = await visit(t, {}, { width: 390, height: 844, reducedMotion: 'reduce' });
  const make = async (path: string, body: object) => (await call(store, 'POST', path, { body })).body;
  await make('/pets', { name: '\u202Ex'.repeat(100), categoryId: 7 });
  const category = await make('/categories', { name: '\u200b'.repeat(100) });
  const pet = await make('/pets', { name: '\u200b'.repeat(100), categoryId: category.id });
  await make('/store/orders', { petId: pet.id });
  await openStore(page);
  for (const place of ['h3', 'article h4', '.orders li']) {
    const name = page.locator(`lab-store ${place} bdi`, { hasText: '\\u200b\\u200b' });
    assert.ok(((await name.boundingBox())?.height ?? 100) < 60, 'it takes two lines at most');
  }
  await call(store, 'PATCH', `/inventory/${pet.id}`, { body: { quantity: 2 } });
  await has(page, pet.id, '2 in stock');
  await card(page, pet.id).getByRole('button', { name: 'Order one' }).click();
  for (const place of ['h3', 'article h4', '.orders li', '.done li']) {
    const name = page.locator(`lab-store ${place} bdi`, { hasText: '\\u200b\\u200b' }).first();
    assert.equal(await name.getAttribute('title'), await name.textContent());
  }
  const clamps = `[...document.querySelectorAll('lab-store :is(h3, h4, .orders, .done) bdi')].map((name) => getComputedStyle(name).webkitLineClamp)`;
  assert.deepEqual(new Set((await page.evaluate(clamps)) as string[]), new Set(['2']), 'a cut is seen');
  await card(page, 1).locator('summary').click();
  await card(page, 1).getByLabel('Units').fill('100');
  await page.keyboard.press('Enter');
  await card(page, 1).locator('.failure').waitFor();
  await twice(page).click();
  await panel(page).waitFor();
  await page.getByRole('button', { name: 'Reset …' }).click();
  await page.locator('.confirmation').waitFor();
  assert.deepEqual(await findings(page, ['lab-store']), []);
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.deepEqual(await findings(page, ['lab-store']), []);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
});
