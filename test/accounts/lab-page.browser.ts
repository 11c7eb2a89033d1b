import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startPages } from '../support/account-pages.ts';
import { newMember } from '../support/accounts.ts';
import { findings } from '../support/axe.ts';
import { browserTest as test } from '../support/browsers.ts';
import { drawn, excessWidth, heldRequest } from '../support/lab-page.ts';
import type { Petstore } from '../support/petstore.ts';
import { until } from '../support/until.ts';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
const showing = (page: Page, text: string | RegExp) => page.locator('header').getByText(text).waitFor();
const statusOf = async (store: Petstore, key: string) => (await store.call('GET', '/pets', { key })).status;

/** The key that the page has. */
const keyIn = (page: Page) => page.evaluate("sessionStorage.getItem('petstore-key')") as Promise<string>;

test('the header shows the plan, and changes it where the invite allows that', async (t) => {
  const { store, open } = await startPages(t);
  const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
  const page = await open(`/lab#key=${key}`);
  await showing(page, /^Plan Free$/);
  await press(page, 'Change plan');
  await drawn(page);
  assert.equal(await excessWidth(page), 0);
  assert.deepEqual(await findings(page, ['header']), []);
  assert.equal(await page.getByRole('button', { name: /a minute/ }).count(), 1);
  await press(page, 'Pro: 300 requests a minute, 10,000 a day');
  await showing(page, /^Plan Pro$/);
  await page.getByText('300 of 300 left').first().waitFor();
  assert.equal((await store.call('GET', '/pets', { key })).headers['x-ratelimit-limit'], '300');
});

test('a key whose plan nobody opened cannot change it, and an operator keeps the workspace', async (t) => {
  const { store, open } = await startPages(t);
  const { key } = await store.addKey('free');
  const page = await open(`/lab#key=${key}`);
  await page.getByRole('button', { name: 'New secret' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /Change plan|Delete/ }).count(), 0);
});

test('a new secret replaces the old one in the page, also if the first response is lost', async (t) => {
  const { store, open } = await startPages(t);
  const { key } = await newMember(store);
  const page = await open(`/lab#key=${key}`);
  await press(page, 'New secret');
  const lost = await heldRequest(page, '**/accounts/me/key', () => press(page, 'Make a new secret'));
  await lost.fetch();
  await lost.abort();
  await page.getByRole('alert').waitFor();
  await page.reload();
  await press(page, 'New secret');
  await press(page, 'Make a new secret');
  await showing(page, 'This is the new secret.');
  const renewed = await keyIn(page);
  assert.notEqual(renewed, key);
  assert.ok(!(await page.content()).includes(renewed));
  assert.deepEqual([await statusOf(store, renewed), await statusOf(store, key)], [200, 200]);
  await press(page, 'End it now');
  await until(async () => (await statusOf(store, key)) === 401);
  assert.equal(await statusOf(store, renewed), 200);
});

test('a person deletes the workspace after a question, and the page forgets the key', async (t) => {
  const { store, open } = await startPages(t);
  const { key, workspace } = await newMember(store);
  const page = await open(`/lab#key=${key}`);
  await press(page, 'Delete …');
  await showing(page, `“${workspace}”`);
  await press(page, 'Cancel');
  assert.equal(await statusOf(store, key), 200);
  await press(page, 'Delete …');
  await press(page, 'Delete the workspace');
  await page.getByRole('heading', { name: 'Enter an API key' }).waitFor();
  assert.equal(await page.evaluate('sessionStorage.length'), 0);
  assert.equal(await statusOf(store, key), 401);
});

test('a refused change says why, and leaves the plan', async (t) => {
  const { store, open } = await startPages(t);
  const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
  const page = await open(`/lab#key=${key}`);
  await press(page, 'Change plan');
  for (let i = 0; i < 5; i++)
    for (const plan of ['pro', 'free'])
      await store.send('POST', '/accounts/me/plan', { key, body: { plan } });
  await press(page, /^Pro/);
  const alert = page.getByRole('alert');
  await until(async () => /10 times in this hour/.test(await alert.innerText()));
  await showing(page, /^Plan Free$/);
});
