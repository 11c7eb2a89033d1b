import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { LabTypes } from '../../../src/client/index.ts';
import { faults } from '../../../src/lab/faults/list.ts';
import { findings } from '../../support/axe.ts';
import { browsers, browserTest as test } from '../../support/browsers.ts';
import { call } from '../../support/from-code.ts';
import { excessWidth, heldRequest, type LabVisit, visitLab } from '../../support/lab-page.ts';
import { until } from '../../support/until.ts';

/** How many faults a group has. */
const inGroup = (title: string) => faults.filter(({ group }) => group === title).length;
const partOf = (page: Page) => page.locator('lab-faults');
const switchOf = (page: Page, name: string) => partOf(page).getByRole('switch', { name, exact: true });
/** The groups of faults, by their titles. */
const groupOf = (page: Page, title: string) =>
  partOf(page).locator('.group', { has: page.getByRole('heading', { name: title }) });
/** Unfolds all groups by clicks. */
const unfold = async (page: Page) => {
  const folded = partOf(page).locator('.group:not([open]) > summary');
  await folded.first().waitFor();
  while (await folded.count()) await folded.first().click();
};
/** The row of a fault in the catalogue. */
const faultOf = (page: Page, name: string) =>
  partOf(page).locator('.faults > li', { has: page.getByRole('switch', { name, exact: true }) });
/** The faults that are listed as performed, each on a line. */
const performed = (page: Page) => partOf(page).locator('.performed > li');
const shows = (page: Page, text: string | RegExp) => partOf(page).getByText(text).first().waitFor();

/** A store, and its page with the open drawer of faults. */
async function openFaults(t: TestContext, launch?: Parameters<typeof visitLab>[2]) {
  const { store, open } = await visitLab(t, {}, launch);
  return { store, page: await open(undefined, { at: 'faults' }) };
}

/** The status of a request. */
const ask = async (store: LabVisit['store'], path = '/pets') => (await call(store, 'GET', path)).status;

/** Types a new value. */
async function enter(input: Locator, text: string): Promise<void> {
  await input.press('Control+a');
  await input.pressSequentially(text);
}

/** Waits until these switches are on, and no others. */
async function areOn(page: Page, names: string[]): Promise<void> {
  const on = partOf(page).locator('.switch:has(:checked)');
  await until(async () => (await on.allInnerTexts()).sort().join() === names.sort().join());
}

for (const { name, skip, launch } of browsers)
  test(`a fault is switched on, performed, changed and switched off, in ${name}`, { skip }, async (t) => {
    const { store, page } = await openFaults(t, launch);

    // A group without active faults is folded, and unfolds by the keyboard.
    const failures = groupOf(page, 'Failures and refusals');
    const count = inGroup('Failures and refusals');
    await failures.getByText(`${count} faults`).waitFor();
    assert.equal(await partOf(page).getByRole('switch').count(), 0);
    await failures.locator('> summary').press('Enter');
    await page.keyboard.press('Tab');
    await switchOf(page, 'unavailable').and(page.locator(':focus')).press('Space');
    await failures.getByText(`1 of ${count} on`).waitFor();
    await shows(page, 'Active');
    assert.equal(await ask(store), 503);
    await performed(page).getByText('1 performed').waitFor();

    // A second fault keeps the first one. The rehearsal starts again.
    await groupOf(page, 'Late responses, other writers').locator('> summary').click();
    await faultOf(page, 'delay').locator('summary').click();
    await enter(faultOf(page, 'delay').getByLabel('delayMs'), '5');
    await faultOf(page, 'delay').getByLabel('operation').selectOption('getPet');
    await switchOf(page, 'delay').check();
    await performed(page).nth(1).waitFor();
    assert.match((await performed(page).allInnerTexts()).join(), /0 performed.*getPet · delayMs 5/s);

    const change = faultOf(page, 'delay').getByLabel('delayMs');
    await enter(change, '0');
    await faultOf(page, 'delay').getByRole('button', { name: 'Apply' }).click();
    assert.match(
      await faultOf(page, 'delay').getByRole('alert').innerText(),
      /faults\[1\].delayMs must .*\(request /,
    );
    await enter(change, '7');
    await faultOf(page, 'delay').getByRole('button', { name: 'Apply' }).click();
    await shows(page, 'getPet · delayMs 7');
    assert.equal(await partOf(page).getByRole('alert').count(), 0);

    await switchOf(page, 'unavailable').uncheck();
    await switchOf(page, 'unavailable').and(page.locator(':focus')).waitFor();
    await until(async () => (await performed(page).count()) === 1);
    assert.equal(await ask(store), 200);
    await switchOf(page, 'delay').uncheck();
    await shows(page, 'The last rehearsal');
    assert.equal(await performed(page).count(), 1);
  });

test('the switches follow and keep a rehearsal that a command starts, and show its end', async (t) => {
  const { store, page } = await openFaults(t);
  await shows(page, 'No fault is on.');
  const minutes = partOf(page).getByLabel(/Next rehearsal:\s+minutes/);
  assert.equal(await minutes.inputValue(), '10');

  const begun = await store.rehearse([
    { fault: 'near-limit', remaining: 3 },
    { fault: 'internal-error', operation: 'listPets', times: 2 },
    { fault: 'internal-error', operation: 'getPet' },
  ]);
  await areOn(page, ['near-limit', 'internal-error']);
  assert.equal(await performed(page).count(), 3);
  assert.equal(await ask(store), 500);
  await performed(page).filter({ hasText: 'listPets' }).getByText('1 performed, 1 left').waitFor();
  assert.equal(await begun.performed('internal-error'), 1);

  assert.deepEqual(await partOf(page).locator('.group[open] h3').allInnerTexts(), [
    `Limits and bans 1 of ${inGroup('Limits and bans')} on`,
    `Failures and refusals 1 of ${inGroup('Failures and refusals')} on`,
  ]);

  // The other faults stay: both entries of one fault, and the parameter with the name `remaining`.
  await unfold(page);
  await switchOf(page, 'small-pages').check();
  await areOn(page, ['near-limit', 'internal-error', 'small-pages']);
  await performed(page).nth(3).waitFor();
  const lines = (await performed(page).allInnerTexts()).join('\n');
  assert.match(lines, /every operation · remaining 3/);
  assert.match(lines, /listPets · times 2/);
  assert.match(lines, /getPet · times 1/);

  const usedUp = faultOf(page, 'internal-error').getByText('used up');
  assert.equal(await usedUp.count(), 0);
  for (const path of ['/pets', '/pets', '/pets/1']) assert.equal(await ask(store, path), 500);
  await usedUp.waitFor();
  await store.clock.advance('9 minutes');
  await partOf(page)
    .locator('.left')
    .filter({ hasText: /^0:\d\d$/ })
    .waitFor();
  await store.clock.advance('2 minutes');
  await shows(page, 'The last rehearsal');
  await areOn(page, []);
  assert.equal(await usedUp.count(), 0);
  await partOf(page).locator('.rehearsal summary').click();
  await performed(page).filter({ hasText: 'listPets' }).getByText('2 performed').waitFor();
});

test('every fault is in a group, says what it does, and accepts its parameters', async (t) => {
  const { store, page } = await openFaults(t);
  await unfold(page);
  const catalogue: LabTypes.Fault[] = (await call(store, 'GET', '/faults', { start: '/lab' })).body;
  assert.equal(await partOf(page).getByRole('switch').count(), catalogue.length);
  for (const { name, level, goodClient, operations, takesOperation, parameters } of catalogue) {
    const fault = faultOf(page, name);
    await fault.locator('summary').click();
    assert.equal(await fault.getByText('required', { exact: true }).count(), level === 'required' ? 1 : 0);
    assert.ok((await fault.innerText()).includes(goodClient.replaceAll('`', '')), name);
    // The name of a switch may contain that of a parameter.
    const fields = fault.locator('select, input:not([role="switch"])');
    for (const { name, default: usual, values } of parameters)
      assert.equal(await fault.getByLabel(name).and(fields).inputValue(), String(values?.[0] ?? usual));
    const choices = await fault.getByLabel('operation').locator('option').count();
    assert.equal(choices, takesOperation && operations.length > 1 ? operations.length + 1 : 0, name);
  }
  const grouped = await partOf(page).evaluate((part) =>
    [...part.querySelectorAll('.group')].map((group) => [
      group.querySelector('h3')?.textContent?.trim().replaceAll(/\s+/g, ' '),
      [...group.querySelectorAll('.switch')].map((label) => label.textContent?.trim()),
    ]),
  );
  assert.deepEqual(
    grouped,
    [...Map.groupBy(catalogue, ({ group }) => group)].map(([group, faults]) => [
      `${group} ${faults.length} faults`,
      faults.map(({ name }) => name),
    ]),
  );
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    assert.equal(await excessWidth(page), 0);
    assert.deepEqual(await findings(page, ['lab-faults']), []);
    const minutes = partOf(page).locator('.minutes');
    const [whole, input] = [await minutes.boundingBox(), await minutes.locator('input').boundingBox()];
    assert.equal(whole?.height, input?.height, 'its words are on one line');
  }
});

test('a parameter with named values is chosen from a list', async (t) => {
  const { store, page } = await openFaults(t);
  await unfold(page);
  const fault = faultOf(page, 'retry-after-odd');
  await fault.locator('summary').click();
  const shape = fault.getByLabel('shape');
  assert.deepEqual(await shape.locator('option').allInnerTexts(), [
    ...['none', 'zero', 'past', 'malformed', 'ten-days', 'thirty-days'],
  ]);
  await shape.selectOption('ten-days');
  await switchOf(page, 'retry-after-odd').check();
  await shows(page, 'every operation · shape ten-days · times 1');
  const { status, headers } = await call(store, 'GET', '/pets');
  assert.deepEqual([status, headers['retry-after']], [503, '864000']);
  assert.equal(await shape.inputValue(), 'ten-days');
});

test('quick changes of several switches all count, and another key sees none of them', async (t) => {
  const { store, page } = await openFaults(t);
  const { key: other } = await store.addWorkspace('other');
  await groupOf(page, 'Values').waitFor();
  const names = ['new-fields', 'small-pages', 'new-status'];
  await page.evaluate(
    `for (const label of document.querySelectorAll('lab-faults .switch'))
      if ('${names}'.split(',').includes(label.textContent.trim())) label.querySelector('input').click();`,
  );
  await areOn(page, names);
  await performed(page).nth(2).waitFor();

  await page.evaluate(`location.hash = 'key=${other}'`);
  await shows(page, 'No fault is on.');
  await areOn(page, []);
  assert.equal(await performed(page).count(), 0);
});

test('input survives until the next frame, a change of another switch, and a missing response', async (t) => {
  const { store, page } = await openFaults(t);
  await unfold(page);
  for (const name of ['delay', 'near-limit']) await faultOf(page, name).locator('summary').click();
  const remaining = faultOf(page, 'near-limit').getByLabel('remaining');
  await remaining.fill('7');
  // Both within one frame.
  await page.evaluate(`{
    const fault = [...document.querySelectorAll('.faults > li')].find((li) => li.querySelector('.switch').textContent.trim() === 'delay');
    const enter = (selector, value, type) => {
      const input = fault.querySelector(selector);
      input.value = value;
      input.dispatchEvent(new Event(type, { bubbles: true }));
    };
    enter('input[type=number]', '5', 'input');
    enter('select', 'getPet', 'change');
  }`);
  await switchOf(page, 'delay').check();
  await shows(page, 'getPet · delayMs 5');
  assert.equal(await remaining.inputValue(), '7');

  const delayMs = faultOf(page, 'delay').getByLabel('delayMs');
  await delayMs.fill('6');
  await page.route('**/lab/rehearsals', async (route) => {
    if (route.request().method() === 'POST') await delayMs.fill('8');
    await route.continue();
  });
  await faultOf(page, 'delay').getByRole('button', { name: 'Apply' }).click();
  await shows(page, 'getPet · delayMs 6');
  assert.equal(await delayMs.inputValue(), '8');
  await page.unrouteAll({ behavior: 'wait' });
  await faultOf(page, 'delay').getByRole('button', { name: 'Apply' }).press('Enter');
  await shows(page, 'getPet · delayMs 8');
  await switchOf(page, 'delay').and(page.locator(':focus')).waitFor();

  // The page shows what a command starts, and keeps the inputs of the other faults.
  await delayMs.fill('9');
  await store.rehearse([{ fault: 'near-limit', remaining: 3 }]);
  await areOn(page, ['near-limit']);
  assert.equal(await remaining.inputValue(), '3');
  assert.equal(await delayMs.inputValue(), '9');
});

test('a switch changes the newest rehearsal, even if a command just started it', async (t) => {
  const { store, page } = await openFaults(t);
  await unfold(page);
  const reading = await heldRequest(page, '**/lab/account');
  // The page has not read this yet.
  await store.rehearse([{ fault: 'small-pages', operation: 'listPets' }]);
  await switchOf(page, 'new-fields').check();
  await areOn(page, ['small-pages', 'new-fields']);
  await performed(page).filter({ hasText: 'listPets' }).waitFor();
  await reading.continue();
  await store.rehearse([{ fault: 'new-status' }]);
  await areOn(page, ['new-status']);
  await partOf(page).getByRole('button', { name: 'End the rehearsal' }).press('Enter');
  await shows(page, 'The last rehearsal');
  await partOf(page).locator('h2:focus').waitFor();
});

test('a reset of the store removes the rehearsals, and the page shows the next one', async (t) => {
  const { store, page } = await openFaults(t);
  await groupOf(page, 'Values').waitFor();
  await store.clock.advance('1 hour');
  await store.rehearse([{ fault: 'new-fields' }]);
  await areOn(page, ['new-fields']);
  await store.reset();
  await shows(page, 'No fault is on.');
  assert.equal(await performed(page).count(), 0);
  // The clock went back, too.
  await store.rehearse([{ fault: 'new-status' }]);
  await areOn(page, ['new-status']);
  await switchOf(page, 'new-status').uncheck();
  await shows(page, 'The last rehearsal');
  assert.equal(await partOf(page).getByRole('alert').count(), 0);
});

test('the page does not start a rehearsal with a fraction of minutes, and says what is allowed', async (t) => {
  const { page } = await openFaults(t);
  await unfold(page);
  const minutes = partOf(page).getByLabel(/Next rehearsal:\s+minutes/);
  for (const entered of ['0', '0.5', '1441']) {
    await minutes.fill(entered);
    await switchOf(page, 'small-pages').click();
    await shows(page, 'Enter whole minutes from 1 to 1440.');
    await until(async () => !(await switchOf(page, 'small-pages').isChecked()));
  }
  await minutes.fill('1440');
  await switchOf(page, 'small-pages').check();
  await areOn(page, ['small-pages']);
  await partOf(page).getByText('Enter whole minutes').waitFor({ state: 'detached' });
});
