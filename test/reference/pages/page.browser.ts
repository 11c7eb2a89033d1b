import assert from 'node:assert/strict';
import type { Locator, Page, Request } from 'playwright-core';
import { accountsOperations } from '../../../src/accounts/operations.ts';
import { operations } from '../../../src/api/operations.ts';
import { labOperations } from '../../../src/lab/petstore/petstore-api.ts';
import { guideNames } from '../../../src/reference/description/guide-names.ts';
import { browserTest as test } from '../../support/browsers.ts';
import { heading, openReference } from './reference.ts';

/** The text of the page about its key. */
const bar = (page: Page) => page.locator('#key');

/** Waits until the page shows the begin of its key. */
const untilKey = (page: Page, key: string) =>
  bar(page)
    .getByText(`API key ${key.slice(0, 8)}…`)
    .waitFor();

/** The history of the tab. */
async function historyOf(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  await session.detach();
  return entries.map(({ url }) => url);
}

/** Opens an operation from the list at the side. */
async function goTo(page: Page, id: string): Promise<Locator> {
  await page.locator(`#contents a[href$="/operations/${id}"]`).click();
  const article = page.locator(`article[data-operation="${id}"]`);
  await article.waitFor();
  return article;
}

const tryLink = (article: Locator) => article.getByRole('link', { name: 'Try it' });

/** Opens the form of an operation. It survives a change of the key, and clicks in the list at the side. */
async function openForm(article: Locator): Promise<Locator> {
  await tryLink(article).click();
  const form = article.getByRole('form', { name: 'Try it' });
  await form.waitFor();
  return form;
}

/** Sends the request of a form. */
async function send(page: Page, form: Locator): Promise<Request> {
  const sent = page.waitForRequest((request) => new URL(request.url()).pathname.startsWith('/v1/'));
  await form.getByRole('button', { name: 'Send' }).click();
  return sent;
}

test('the reference shows every operation and guide, sends real requests, and loads only from its own service', async (t) => {
  const { page, open, origin, demoKey, requests, complaints } = await openReference(t);

  await t.test(
    'a key after # leaves the address and the history at once, and survives a reload',
    async () => {
      const isClean = async () => {
        assert.doesNotMatch(page.url(), /key=|pet_/);
        assert.doesNotMatch((await historyOf(page)).join(), /key=|pet_/);
      };
      await isClean();
      await untilKey(page, demoKey);
      await page.reload();
      await heading(page).waitFor();
      await isClean();
    },
  );

  await t.test('every guide can be read', async () => {
    for (const name of guideNames(true)) {
      await page.locator('#contents').getByRole('link', { name, exact: true }).first().click();
      await page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
      assert.equal(await page.title(), `${name} · Petstore`);
      if (name !== 'Rate limits') continue;
      const plans = page.getByRole('table').filter({ hasText: 'Enterprise' });
      assert.match(await plans.innerText(), /Pro\s+300\s+10,000/);
    }
  });

  await t.test(
    'every operation has its samples and marks, and can be sent unless marked otherwise',
    async () => {
      for (const operation of [...operations, ...accountsOperations, ...labOperations]) {
        const { id, summary, hideTryItPanel, deprecated, stability } = operation;
        const article = await goTo(page, id);
        assert.equal(await article.getByRole('heading', { level: 1 }).innerText(), summary);
        const languages = await article.locator('.samples summary').allInnerTexts();
        assert.deepEqual(languages, ['cURL', 'JavaScript', 'Python'], id);
        assert.equal(await tryLink(article).count(), hideTryItPanel ? 0 : 1, id);
        assert.deepEqual(await article.locator('.mark').allInnerTexts(), [
          ...(stability ? [stability] : []),
          ...(deprecated ? ['deprecated', `sunset ${deprecated.sunset}`] : []),
        ]);
      }
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
      const sample = page.locator('.samples details[open]');
      await sample.getByRole('button', { name: 'Copy' }).click();
      await sample.getByText('Copied').waitFor();
      const copied = await page.evaluate('navigator.clipboard.readText()');
      assert.equal(copied, await sample.locator('code').textContent());
      await page.goBack();
      await page.locator(`article[data-operation="${labOperations.at(-2)?.id}"]`).waitFor();
    },
  );

  await t.test('a request uses the key of the tab, and the response shows the limits', async () => {
    const form = await openForm(await goTo(page, 'getCategory'));
    const sent = await send(page, form);
    assert.equal(sent.url(), `${origin}/v1/categories/1`);
    assert.equal(sent.headers().authorization, `Bearer ${demoKey}`);
    await form.getByText('200 OK').waitFor();
    await form.getByText('"Dogs"').waitFor();
    await form.getByText('Header fields').click();
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
      await form.getByRole('cell', { name, exact: true }).waitFor();
    assert.match(await form.innerText(), /x-ratelimit-remaining\s+59\b/);
  });

  await t.test('a request about the account goes to its own path', async () => {
    const form = await openForm(await goTo(page, 'getOwnAccount'));
    const sent = page.waitForRequest(`${origin}/accounts/me`);
    await form.getByRole('button', { name: 'Send' }).click();
    assert.equal((await sent).headers().authorization, `Bearer ${demoKey}`);
    await form.getByText('200 OK').waitFor();
  });

  await t.test('all entered values are sent, and empty fields are not', async () => {
    const form = await openForm(await goTo(page, 'listPets'));
    await form.getByLabel('status (query)').selectOption('sold');
    await form.getByLabel('id (query)', { exact: true }).fill('1,2');
    const sent = await send(page, form);
    assert.equal(new URL(sent.url()).search, '?status=sold&id=1&id=2');
    await form.getByText('200 OK').waitFor();
  });

  await t.test('the events of a stream appear at once, until the reader stops it', async () => {
    const form = await openForm(await goTo(page, 'streamEvents'));
    await form.getByLabel('Last-Event-ID').fill('0');
    await send(page, form);
    await form.getByText(/^id: \d+$/m).waitFor();
    await form.getByRole('button', { name: 'Stop' }).click();
    await form.getByText('Stopped.').waitFor();
    await form.getByRole('button', { name: 'Send' }).waitFor();
  });

  await t.test('a link cannot insert markup, nor replace the key silently', async () => {
    const note = bar(page).getByRole('status');
    const other = `pet_${'Evil'.repeat(9)}`;
    for (const text of ['<img src=x onerror=alert(1)>', demoKey.slice(0, -1), `${demoKey}0`, '']) {
      await page.goto(`${origin}/reference#key=${text}`);
      await note.getByText('The address contains no valid key.').waitFor();
      await page.waitForURL(`${origin}/reference`);
      await untilKey(page, demoKey);
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
      await untilKey(page, `pet_${'ABCDEF'[i]?.repeat(4)}`);
      assert.doesNotMatch(page.url() + (await historyOf(page)), /key|pet_/, hash);
    }
    await page.goto(`${origin}/reference#key=${demoKey}`);
    await untilKey(page, demoKey);
    await page.goto(`${origin}/reference#key=${other}&operations/listInventory`);
    await note.getByText(`It came with the address (previous key: ${demoKey.slice(0, 8)}…)`).waitFor();
    await untilKey(page, other);
    assert.doesNotMatch(page.url() + (await historyOf(page)), /key=|pet_/);
    // The rest of the address is unchanged.
    assert.equal(page.url(), `${origin}/reference#operations/listInventory`);
    const form = await openForm(page.locator('article[data-operation="listInventory"]'));
    assert.equal((await send(page, form)).headers().authorization, `Bearer ${other}`);
    await form.getByText('401 Unauthorized').waitFor();
  });

  await t.test('an address opens only pages of the reference', async () => {
    for (const place of ['../v1/openapi.json', 'operations/../../changelog', 'lab', 'operations/%2e%2e']) {
      await page.goto(`${origin}/reference#${place}`);
      await page.getByText('This page could not be loaded: There is no such page.').waitFor();
    }
    // The form of older links.
    await page.goto(`${origin}/reference#tag/versioning`);
    await page.getByRole('heading', { name: 'Versioning', level: 1 }).waitFor();
  });

  await t.test('no address causes an error, in the reference and in the lab', async () => {
    const before = complaints.length;
    for (const [place, shown] of [
      ['foo', 'There is no such page.'],
      ['%E0%A4%A', 'There is no such page.'],
      ['"]', 'There is no such page.'],
      ['key=', 'Petstore API'],
      ['guides/errors/"]', 'idempotency_key_in_use'],
    ] as const) {
      const tab = await open(`${origin}/reference#${place}`);
      await tab.locator('main').getByText(shown).first().waitFor();
      await goTo(tab, 'listPets');
      await tab.goto(`${origin}/lab#key=${demoKey}&${place}`);
      await tab.getByRole('tab').first().waitFor();
    }
    assert.deepEqual(complaints.slice(before), []);
  });

  await t.test('a failed load is tried again when the reader asks', async () => {
    const tab = await open(`${origin}/reference`);
    for (const file of ['operations/listPets', 'openapi.json'])
      await tab.route(`**/${file}`, (route) => route.fulfill({ status: 503 }), { times: 1 });
    const link = tab.locator('#contents a[href$="/operations/listPets"]');
    await link.click();
    await tab.getByText('This page could not be loaded: The service responded with 503.').waitFor();
    await link.click();
    const article = tab.locator('article[data-operation="listPets"]');
    await tryLink(article).click();
    await article.getByText('The form could not be loaded: The service responded with 503.').waitFor();
    await openForm(article);
  });

  await t.test('a tab without a key asks for one, and can forget it, with the keyboard alone', async () => {
    const tab = await open(`${origin}/reference#operations/getCategory`);
    const field = tab.getByLabel('API key', { exact: true });
    const note = bar(tab).getByRole('status');
    await note.getByText('prints an address with a key').waitFor();
    const form = await openForm(tab.locator('article[data-operation="getCategory"]'));
    await field.focus();
    for (const text of ['', 'pet_short', `Bearer ${demoKey}`, '<b>pet_</b>']) {
      await tab.keyboard.insertText(text);
      await tab.keyboard.press('Enter');
      await note.getByText('This is not a key. A key is pet_ followed by 36 letters and digits.').waitFor();
      assert.equal(await field.getAttribute('aria-invalid'), 'true');
      assert.equal(await tab.evaluate('document.activeElement.id'), 'key-input');
    }
    await tab.keyboard.insertText(` ${demoKey} `);
    await tab.keyboard.press('Enter');
    await untilKey(tab, demoKey);
    assert.equal((await send(tab, form)).headers().authorization, `Bearer ${demoKey}`);
    await form.getByText('200 OK').waitFor();
    assert.doesNotMatch(JSON.stringify(await tab.context().storageState({ indexedDB: true })), /pet_/);
    await bar(tab).getByRole('button', { name: 'Forget key' }).press('Enter');
    await field.waitFor();
    assert.equal(await field.inputValue(), '');
    assert.doesNotMatch(JSON.stringify(await (await send(tab, form)).allHeaders()), /pet_/);
    await form.getByText('401 Unauthorized').waitFor();
    assert.equal(await tab.evaluate('JSON.stringify(sessionStorage)'), '{}');
  });

  await t.test(
    'on a phone a pet can be added, once for each Idempotency-Key, and the response is visible',
    async () => {
      const phone = await open(`${origin}/reference#operations/createPet`, { width: 390, height: 844 });
      await phone.getByLabel('API key', { exact: true }).fill(demoKey);
      await phone.getByRole('button', { name: 'Use key' }).click();
      const form = await openForm(phone.locator('article[data-operation="createPet"]'));
      const keys: (string | undefined)[] = [];
      for (const isReplayed of [false, true, false]) {
        const sent = await send(phone, form);
        // Optional parameters are sent only if they are filled in.
        const { 'idempotency-key': key, 'x-request-id': id } = await sent.allHeaders();
        assert.equal(id, undefined);
        keys.push(key);
        const answer = await sent.response();
        assert.equal(answer?.status(), 201);
        assert.equal((await answer?.allHeaders())?.['idempotency-replayed'], isReplayed ? 'true' : undefined);
        const line = form.getByText('201 Created');
        await line.waitFor();
        await form.getByText('"name": "Bella"').last().waitFor();
        await form.getByRole('button', { name: 'Send' }).waitFor();
        const box = await line.boundingBox();
        assert.ok(box && box.y >= 0 && box.y + box.height <= 844, JSON.stringify(box));
        if (isReplayed) await form.getByRole('button', { name: 'New key' }).click();
      }
      assert.match(keys[0] as string, /^[\da-f]{32}$/);
      assert.equal(keys[0], keys[1]);
      assert.notEqual(keys[1], keys[2]);
      assert.equal(await phone.evaluate('document.documentElement.scrollWidth'), 390);
    },
  );

  assert.deepEqual([...new Set(requests.map((request) => new URL(request.url()).origin))], [origin]);
  for (const request of requests) {
    const { authorization: _, ...headers } = await request.allHeaders();
    assert.doesNotMatch(JSON.stringify([request.url(), request.postData(), headers]), /pet_/);
  }
  // The test expects refused requests.
  assert.deepEqual(
    complaints.filter((text) => !/status of (401|503)/.test(text)),
    [],
  );
});
