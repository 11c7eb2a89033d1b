import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { endInvite, findInvite } from '../../src/accounts/invites.ts';
import { startPages } from '../support/account-pages.ts';
import { newInvite } from '../support/accounts.ts';
import { findings } from '../support/axe.ts';
import { browsers, browserTest as test } from '../support/browsers.ts';
import { drawn, excessWidth, heldRequest } from '../support/lab-page.ts';
import { until } from '../support/until.ts';

async function join(page: Page, name: string): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Get my key' }).click();
}

const inLab = (page: Page) => page.getByRole('heading', { name: 'Limits' }).waitFor();

for (const browser of browsers)
  test(`the link of an invite leads to the lab with a key of one's own, on a phone: ${browser.name}`, {
    skip: browser.skip,
  }, async (t) => {
    const { store, open } = await startPages(t, {}, browser);
    const { id, code } = await newInvite(store);
    const page = await open(`/join#code=${code}`);
    await page.getByRole('button').waitFor();
    assert.equal(await page.getByLabel('Invite code').isVisible(), false);
    assert.equal(await excessWidth(page), 0);
    assert.deepEqual(await findings(page, ['main']), []);
    await page.keyboard.type('Ada <b>');
    await page.keyboard.press('Enter');
    await inLab(page);
    await drawn(page);
    assert.equal(await excessWidth(page), 0);
    assert.match(page.url(), /\/lab$/);
    await page.goBack();
    assert.doesNotMatch(page.url(), /join/);
    assert.equal((await findInvite(store.db.read, id))?.used, 1);
  });

test('a wrong, ended or used-up code gets one sentence, and the person can enter another', async (t) => {
  const { store, open } = await startPages(t);
  const good = await newInvite(store);
  const ended = await newInvite(store);
  await store.db.write((sql) => endInvite(sql, ended.id, store.nowMs));
  const usedUp = await newInvite(store, { uses: 1 });
  await inLab(await joined(await open(`/join#code=${usedUp.code}`)));
  const page = await open('/join');
  for (const [code, message] of [
    ['inv_0000000000000000', /^This invite is unknown, has ended or has expired:/],
    [ended.code, /^This invite is unknown, has ended or has expired:/],
    [usedUp.code, /^All 1 use of this invite are taken:/],
    ['inv_short', /^This invite is unknown/],
  ] as const) {
    // The same tab, so only the part after # changes.
    await page.goto(`${new URL(page.url()).origin}/join#code=${code}`);
    await join(page, 'Ada');
    await until(async () => message.test(await page.getByRole('alert').innerText()));
  }
  await page.getByLabel('Invite code').fill(` ${good.code} `);
  await page.getByRole('button', { name: 'Get my key' }).click();
  await inLab(page);
});

async function joined(page: Page): Promise<Page> {
  await join(page, 'Ada');
  return page;
}

test('a response that is lost, even with a reload after it, takes no second use', async (t) => {
  const { store, open } = await startPages(t);
  const { id, code } = await newInvite(store);
  const page = await open(`/join#code=${code}`);
  const lost = await heldRequest(page, '**/accounts', () => join(page, 'Ada'));
  await lost.fetch();
  await page.reload();
  const again = await heldRequest(page, '**/accounts', () => join(page, 'Ada'));
  // The client tries again by itself.
  await again.abort();
  await inLab(page);
  assert.equal((await findInvite(store.db.read, id))?.used, 1);
  // Somebody else at the same tab gets another key.
  await page.goto(`${new URL(page.url()).origin}/join#code=${code}`);
  await inLab(await joined(page));
  assert.equal((await findInvite(store.db.read, id))?.used, 2);
});

test('without a lab the page shows the key and the reference', async (t) => {
  const { store, open } = await startPages(t, { lab: false });
  const { code } = await newInvite(store);
  const page = await joined(await open(`/join#code=${code}`));
  await page.getByRole('heading', { name: 'This is your key' }).waitFor();
  const key = await page.getByLabel('API key').inputValue();
  assert.equal((await store.call('GET', '/pets', { key })).status, 200);
  await page.getByRole('link', { name: 'Open the reference' }).click();
  await page.getByText(`API key ${key.slice(0, 8)}…`).waitFor();
  assert.ok(!page.url().includes(key));
});

test('without a code the page asks for one, unless anybody may sign up', async (t) => {
  const closed = await startPages(t);
  const asking = await closed.open('/join');
  await asking.getByLabel('Invite code').waitFor();
  const { open } = await startPages(t, { accounts: { signUp: true } });
  const page = await open('/join');
  await page.getByRole('button').waitFor();
  assert.equal(await page.getByLabel('Invite code').isVisible(), false);
  await inLab(await joined(page));
});
