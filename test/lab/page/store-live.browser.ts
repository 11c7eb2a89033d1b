import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { browserTest as test } from '../../support/browsers.ts';
import { call } from '../../support/from-code.ts';
import { atEvents, card, has, openButton, openStore, sentBy, visit } from '../../support/lab-store-tab.ts';

test('the page reads the first hundred pets of a larger workspace', async (t) => {
  const { store, page } = await visit(t);
  for (let left = 90; left > 0; left--)
    await call(store, 'POST', '/pets', { body: { name: `Dragon ${left}`, categoryId: 6 } });
  const sent = sentBy(page);
  await openStore(page);
  await page.getByText('These are the first 100 pets. There are more').waitFor();
  assert.equal(await page.locator('lab-store article').count(), 100);
  assert.equal(sent.length, 5);
  await call(store, 'POST', '/pets', { body: { name: 'One more', categoryId: 6 } });
  await call(store, 'PATCH', '/pets/1', { body: { name: 'After it' } });
  await has(page, 1, 'After it');
  assert.equal(await page.locator('lab-store article').count(), 100);
  await page.locator('lab-store').getByLabel('Category').selectOption('Reptiles');
  await page.getByText('82 shown').waitFor();
  await page.locator('lab-store').getByLabel('Name').fill('DRAGON 9');
  await page.getByText('1 shown').waitFor();
});

test('a mark stays for its full time after the last change, even if the values are equal', async (t) => {
  const { store, page } = await visit(t);
  await page.clock.install();
  await openStore(page);
  const mark = card(page, 1).getByText('changed', { exact: true });
  const rename = async (id: number, name: string) => {
    await call(store, 'PATCH', `/pets/${id}`, { body: { name } });
    await has(page, id, name);
  };
  await rename(1, 'Once');
  await mark.waitFor();
  await page.clock.fastForward(4_000);
  await rename(1, 'Twice');
  await page.clock.fastForward(2_000);
  // This is drawn after the mark would have gone.
  await rename(2, 'Another');
  assert.equal(await mark.count(), 1);
  await page.clock.fastForward(4_000);
  await mark.waitFor({ state: 'detached' });
});

test('no event is missed while the lists are read', async (t) => {
  const { store, page } = await visit(t);
  await page.route('**/v1/pets?*', async (route) => {
    const response = await route.fetch();
    await call(store, 'PATCH', '/pets/1', { body: { name: 'Meanwhile' } });
    await page.locator('lab-events .events').getByText('Meanwhile').first().waitFor({ state: 'attached' });
    await route.fulfill({ response });
  });
  await openStore(page);
  await has(page, 1, 'Meanwhile');
});

test('with a limited or banned key the store stays visible, and says when it continues', async (t) => {
  const { service, store, page } = await visit(t, { quota: { perMinute: 12, perDay: 1_000 } });
  await openStore(page);
  const ask = () => call(store, 'GET', '/pets/1');
  const says = (text: string | RegExp) => page.locator('lab-store').getByText(text).waitFor();
  while ((await ask()).status === 200);
  await says('This key has used all requests of the minute: this tab cannot send requests until');
  const order = page.getByRole('button', { name: 'Order one Bella' });
  assert.ok(await order.isDisabled());
  while ((await ask()).status === 429);
  await says(
    /This key is banned: this tab cannot send requests until \d\d:\d\d:\d\d\. The data stays visible\./,
  );
  await page.locator('lab-store h2').getByText('paused').waitFor();
  await page.locator('lab-events').getByText('paused', { exact: true }).waitFor({ state: 'attached' });
  assert.equal(await page.locator('lab-store article').count(), 20);
  await service.clock.advance('2 minutes');
  await page.locator('lab-store .note').waitFor({ state: 'detached' });
  assert.ok(await order.isEnabled());
  await order.click();
  await card(page, 1).getByText('201 order 9').waitFor();

  // While the service is away, every heading says so, and nothing else. Typed text is not lost.
  await page.locator('lab-store h2').getByText('live').waitFor();
  const name = page.locator('lab-store').getByLabel('Name');
  await name.press('b');
  await page.route('**/lab/account', (route) => route.abort());
  await page.getByText('Paused since').waitFor();
  await page.locator('lab-store h2 .badge').waitFor({ state: 'detached' });
  await page.keyboard.type('ella');
  await page.getByText('1 shown').waitFor();
  assert.equal(await name.inputValue(), 'bella');
  await name.fill('');
  await page.locator('lab-store').getByLabel('Category').selectOption('Dogs');
  await page.getByText('5 shown').waitFor();
  assert.ok(await order.isDisabled());
});

test('the page says that the stream ended, and opens it again; another key sees nothing of it', async (t) => {
  const { service, store, page } = await visit(t, {}, { tolerated: /\/v1\/store\/events\/stream/ });
  const { key } = await service.addWorkspace('other', { seed: false });
  const json = { code: 'not_found', message: 'A proxy forgot it.', status: 404 };
  await page.route('**/events/stream', (route) => route.fulfill({ status: 404, json }), { times: 1 });
  await openStore(page);
  await page
    .getByText('The stream of events has ended: A proxy forgot it. The data may be outdated.')
    .waitFor();
  await page.locator('h2').getByText('not up to date').waitFor();
  await call(store, 'PATCH', '/pets/1', { body: { name: 'Missed' } });
  await page.getByRole('button', { name: 'Open it again' }).click();
  await has(page, 1, 'Missed');
  await page.locator('h2').getByText('live').waitFor();
  await page.evaluate(`location.hash = 'key=${key}'`);
  await openButton(page).waitFor();
  await page.locator('lab-store').getByText('Missed').waitFor({ state: 'detached' });
  await openStore(page);
  await page.getByText('There is no pet in this workspace.').waitFor();
});

for (const [how, reopen] of [
  ['from the store', (page: Page) => page.getByRole('button', { name: 'Open it again' }).click()],
  ['from the tab of events', (page: Page) => atEvents(page, /^Open the stream/)],
] as const)
  test(`when large-ids begins or ends, the lists are outdated until the stream is opened again ${how}`, async (t) => {
    const { service, store, page } = await visit(t);
    await openStore(page);
    const outdated = async (why: string) => {
      await page.getByText(`The fault large-ids has ${why}, so all ids have changed.`).first().waitFor();
      await reopen(page);
    };
    const live = page.locator('lab-store h2').getByText('live');
    const rehearsal = await service.rehearse([{ fault: 'large-ids' }], { key: store.key });
    await outdated('started');
    await card(page, 1).waitFor({ state: 'detached' });
    await live.waitFor();
    await page.getByRole('button', { name: 'Order one Bella' }).click();
    await page.locator('lab-store article').getByText('3 in stock', { exact: true }).first().waitFor();
    await rehearsal.end();
    await outdated('ended');
    await has(page, 1, '3 in stock');
    await live.waitFor();
    await card(page, 1).getByRole('button', { name: 'Order one Bella' }).click();
    await card(page, 1).getByText('201 order 10').waitFor();
  });

test('a stream that continues from its position has the missed events', async (t) => {
  const { store, page } = await visit(t);
  const sent = sentBy(page);
  await openStore(page);
  await atEvents(page, 'Close the stream');
  await page.getByText('The stream of events has ended. The data may be outdated.').waitFor();
  await call(store, 'PATCH', '/pets/1', { body: { name: 'Missed' } });
  await atEvents(page, /^Open the stream/);
  await has(page, 1, 'Missed');
  await page.locator('lab-store h2').getByText('live').waitFor();
  assert.equal(await page.locator('lab-store .note').count(), 0);
  assert.equal(sent.length, 6, 'no list is read again');
});

test('after a reset, the lists are read when the stream is connected', async (t) => {
  const { store, page } = await visit(t);
  await page.clock.install();
  const sent = sentBy(page);
  await call(store, 'PATCH', '/pets/1', { body: { name: 'Renamed' } });
  await openStore(page);
  await has(page, 1, 'Renamed');
  await call(store, 'POST', '/workspace/reset', { start: '/lab' });
  await page.getByText('The workspace was reset.').waitFor();
  await atEvents(page, 'Close the stream');
  await page.clock.fastForward(20_000);
  // This is drawn after the mark would have gone.
  const name = page.locator('lab-store').getByRole('searchbox');
  await name.fill('renamed');
  await page.getByText('1 shown').waitFor();
  assert.equal(sent.length, 5, 'nothing is asked that nobody wants');
  await name.fill('');
  await atEvents(page, /^Open the stream/);
  await has(page, 1, 'Bella');
  await page.locator('lab-store h2').getByText('live').waitFor();
});
