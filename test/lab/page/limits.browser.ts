import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Account } from '../../../src/lab/account/schema.ts';
import { findings } from '../../support/axe.ts';
import { browsers, browserTest as test } from '../../support/browsers.ts';
import { call } from '../../support/from-code.ts';
import { type LabVisit, sharedLab, visitLab } from '../../support/lab-page.ts';
import { times } from '../../support/limits.ts';

const noon = { clock: new Date('2026-06-01T12:00:17Z') };
/** The bar and its details, and the demo that sends bursts. */
const part = (page: Page) => page.locator('lab-limits, lab-ban-demo');
const demo = { at: 'ban-demo' };
/** Opens the content below the bar. */
const openDetails = (page: Page) => page.getByRole('button', { name: /Details|Why banned/ }).click();
const button = (page: Page, name: string) => part(page).getByRole('button', { name });
const sendButton = (page: Page) => button(page, 'Send 100 requests');

/** Waits until the part shows a text. */
const shows = (page: Page, text: string | RegExp) => part(page).getByText(text).first().waitFor();

/** Waits until a picture has a label: a window, or the strip of a burst. */
const draws = (page: Page, name: string) => part(page).getByRole('img', { name, exact: true }).waitFor();

let workspaces = 0;
/** A key of the plan free, in its own workspace, after a number of requests. */
async function addFree({ store }: LabVisit, sent = 0): Promise<string> {
  const { key } = await store.addWorkspace(`free-${++workspaces}`, { plan: 'free', seed: false });
  await times(sent, () => call(store, 'GET', '/pets?limit=1', { key }));
  return key;
}

/** Changes the account, such as to a state that only several instances have. */
const rewriteAccount = (page: Page, change: (account: Account) => void) =>
  page.route('**/lab/account', async (route) => {
    const response = await route.fetch();
    const account = (await response.json()) as Account;
    change(account);
    await route.fulfill({ response, body: `${JSON.stringify(account)}\n` });
  });

for (const { name, skip, launch } of browsers)
  test(`in ${name}: 100 requests exceed the limit, 100 more cause a ban, and the page explains both until the end`, {
    skip,
  }, async (t) => {
    const visit = await visitLab(t, noon, launch);
    const page = await visit.open(await addFree(visit), demo);
    await draws(page, '60 of 60 left in this minute');
    await draws(page, '1,000 of 1,000 left in this day');
    // It is in view together with the bar.
    const { y = 0, height = 0 } = (await sendButton(page).boundingBox()) ?? {};
    assert.ok(y > 0 && y + height < 1_000, `${y}`);
    await shows(page, 'Now 60 would be admitted and 40 refused with 429, each a strike: 40 of 60.');
    await shows(
      page,
      '0 of 60. Each request that gets 429 is a strike. More than 60 in a minute start a ban of 1 minute.',
    );

    await sendButton(page).click();
    await shows(page, 'Done: 100 of 100 got a response, 60 of them admitted.');
    await draws(page, '2xx admitted: 60, 429 limited: 40, 403 banned: 0');
    assert.equal(await page.locator('.strip .limited').count(), 40);
    await shows(page, /was the first that was refused: 429 with\s+Retry-After: 43/);
    await draws(page, '0 of 60 left in this minute');
    await draws(page, '940 of 1,000 left in this day');
    await shows(page, '40 of 60');
    await page.locator('.window.used-up').first().waitFor();

    await sendButton(page).click();
    await shows(page, 'This key is banned');
    await draws(page, '2xx admitted: 0, 429 limited: 20, 403 banned: 80');
    await shows(page, /was the first during the ban: 403 with\s+Retry-After: 60/);
    assert.match(await page.locator('lab-ban-demo').getByRole('timer').innerText(), /^(1:00|0:5\d)$/);
    await shows(page, /Why:\s+60 requests of that minute got 429, the maximum before a ban/);
    await shows(page, /What to do:\s+Wait until the ban ends/);
    await part(page).getByRole('link', { name: 'Rate limits' }).waitFor();
    await shows(page, /12:01:17 UTC/);
    await shows(page, /The next ban would last\s+2 minutes\./);
    await draws(page, '0 of 60 left in this minute, during the ban');
    await draws(page, '940 of 1,000 left in this day, during the ban');
    assert.equal(await part(page).getByText('applies', { exact: true }).count(), 0);
    await shows(page, /request lab-page-demo-\w+-\d+-\w+, sent by a demo on this page\./);
    await openDetails(page);
    await shows(page, 'Strikes start again from 0 after the ban.');
    assert.match(await page.locator('.limits').innerText(), /Banned for [01]:\d\d/);

    await visit.store.clock.advance('1 minute');
    await part(page).getByRole('timer').first().waitFor({ state: 'detached' });
    await draws(page, '60 of 60 left in this minute');
    await draws(page, '940 of 1,000 left in this day');
    await shows(page, /start a ban of 2 minutes\./);
  });

test('a page counts down by the clock of the service, and uses up no limits', async (t) => {
  const visit = await visitLab(t);
  const page = await visit.open(await addFree(visit));
  // The day hardly ends during the test.
  const reset = page.locator('lab-limits .reset').last();
  const left = async () => {
    const parts = (await reset.innerText()).replace('resets in ', '').split(':');
    return parts.reduce((sum, text) => 60 * sum + Number(text), 0);
  };
  const leftAtFirst = await left();
  const dayEnds = (seconds: number) => seconds > leftAtFirst;
  for (let before = leftAtFirst, steps = 0; steps < 3; ) {
    const now = await left();
    if (now === before) continue;
    assert.ok(now < before || dayEnds(now), `${now} after ${before}`);
    before = now;
    steps++;
  }
  await visit.store.clock.advance('1 hour');
  for (;;) {
    const now = await left();
    if (now <= leftAtFirst - 3_600 || dayEnds(now)) break;
  }
  await draws(page, '1,000 of 1,000 left in this day');
});

const atNoon = sharedLab(noon);

test('the page shows the header fields of a response, marks those that apply, and copies all', async (t) => {
  const visit = await atNoon();
  const page = await visit.open(await addFree(visit, 3), {}, t);
  await draws(page, '57 of 60 left in this minute');
  await openDetails(page);
  await page.locator('lab-limits .lines').waitFor();
  const lines = await page.locator('lab-limits .lines li').allInnerTexts();
  assert.ok(lines.includes('X-RateLimit-Remaining: 57'), lines.join('\n'));
  assert.ok(lines.includes('RateLimit: "minute";r=57;t=43,"day";r=997;t=43183'), lines.join('\n'));
  const marked = await page.locator('lab-limits .lines mark').allInnerTexts();
  assert.ok(marked.includes('"minute";r=57;t=43,') && !marked.join().includes('"day"'), marked.join());
  await shows(page, /No Retry-After: a request would be admitted\./);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.clock.install();
  const inClipboard = () => page.evaluate('navigator.clipboard.readText()');
  await button(page, 'Copy').click();
  await shows(page, 'Copied.');
  assert.equal(await inClipboard(), lines.join('\n'));
  // A second copy shows the message for the whole time again.
  await page.clock.runFor(4_000);
  await button(page, 'Copy').click();
  await inClipboard();
  await page.clock.runFor(2_000);
  await shows(page, 'Copied.');
  await page.clock.runFor(4_000);
  await part(page).getByText('Copied.').waitFor({ state: 'detached' });
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  await button(page, 'Copy').click();
  await shows(page, /The text is selected/);
  const selected = String(await page.evaluate('String(getSelection())'));
  for (const line of lines) assert.ok(selected.includes(line), selected);
});

test('a ban names its cause as text, and opens that request if it was recorded', async (t) => {
  const visit = await atNoon();
  const key = await addFree(visit, 120);
  const ask = (path: string, id: string) =>
    call(visit.store, 'GET', path, { key, headers: { 'x-request-id': id } });
  assert.equal((await ask('/orders', 'began-it')).status, 403);
  const page = await visit.open(key, {}, t);
  await openDetails(page);
  await shows(page, /Started by\s+GET \/v1\/orders at 12:00:\d\d UTC,\s+request began-it\./);
  const path = `/v1/<img src=x onerror=alert(1)>\u202e${'y'.repeat(10_000)}`;
  const at = '2026-06-01T12:00:17.000Z';
  let by: Account['ban']['by'] = { requestId: 'own', method: 'GET', path, at };
  await rewriteAccount(page, (account) => {
    account.ban.by = by as NonNullable<typeof by>;
    if (!by) delete account.ban.by;
  });
  const recording = await visit.store.record({ key });
  await ask('/pets', 'own');
  await shows(page, /GET \/v1\/<img src=x onerror=alert\(1\)>/);
  assert.equal(await page.locator('lab-limits img').count(), 0);
  await button(page, 'Show this request').click();
  await page.getByRole('region', { name: 'Request 1' }).waitFor();
  await recording.end();
  by = { ...by, requestId: 'of another client' };
  await button(page, 'Start recording').waitFor();
  by = undefined;
  await shows(page, /Started by\s+an unknown request\./);
  await button(page, 'Start recording').dblclick();
  await shows(page, /A recording is active/);
  assert.equal(await page.locator(':focus').innerText(), 'Limits');
  assert.equal((await call(visit.store, 'GET', '/recordings', { key, start: '/lab' })).body.length, 2);
});

test('while a rehearsal is active, the page says that responses may differ from the limits', async (t) => {
  const visit = await atNoon();
  const key = await addFree(visit, 1);
  const page = await visit.open(key, demo, t);
  await openDetails(page);
  await shows(page, /No Retry-After: a request would be admitted\./);
  assert.equal(await page.getByText('These are the real limits').count(), 0);
  const rehearsal = await visit.store.rehearse([{ fault: 'near-limit', remaining: 2 }], { key });
  await shows(page, /A rehearsal is active: responses may differ\. These are the real limits\./);
  await shows(page, /a request would be admitted, unless a fault is active\./);
  await shows(page, /41 refused with 429.* \(Unless a fault is active\.\)/);
  await part(page).getByRole('link', { name: 'A rehearsal is active' }).click();
  await page.locator('lab-faults').waitFor();
  await rehearsal.end();
  await page.getByText('These are the real limits').waitFor({ state: 'detached' });
});

test('a burst can be stopped, and another key sees nothing of it', async (t) => {
  const visit = await atNoon();
  const page = await visit.open(await addFree(visit), demo, t);
  let [sent, mayAnswer] = [0, 15];
  const bursts = new Set<string>();
  await page.route('**/v1/pets?limit=1', async (route) => {
    bursts.add(String(route.request().headers()['x-request-id']));
    if (++sent <= mayAnswer) await route.continue();
  });
  await sendButton(page).scrollIntoViewIfNeeded();
  const before = await sendButton(page).boundingBox();
  await sendButton(page).click();
  await draws(page, '2xx admitted: 15, 429 limited: 0, 403 banned: 0');
  await draws(page, '45 of 60 left in this minute');
  await shows(page, 'Now 60 would be admitted and 40 refused with 429');
  assert.equal((await button(page, 'Stop').boundingBox())?.y, before?.y);
  await button(page, 'Stop').focus();
  await page.keyboard.press('Enter');
  await shows(page, 'Stopped: 15 of 100 got a response, 15 of them admitted.');
  await draws(page, '45 of 60 left in this minute');
  assert.ok(sent <= 25, `${sent} were sent, ten at a time`);
  mayAnswer = sent + 1;
  await page.keyboard.press('Enter');
  await draws(page, '2xx admitted: 1, 429 limited: 0, 403 banned: 0');
  assert.equal(bursts.size, sent, 'each request has its own id');
  for (const id of bursts) assert.match(id, /^lab-page-demo-/);
  await page.getByRole('button', { name: 'Forget key' }).click();
  await page.locator('lab-limits:not(:has(*))').waitFor({ state: 'attached' });
  await page.getByLabel('API key').fill(await addFree(visit));
  await page.getByRole('button', { name: 'Use key' }).click();
  await draws(page, '60 of 60 left in this minute');
  assert.equal(await page.locator('lab-ban-demo .strip').count(), 0);
});

test('the page says that a key with a million requests a minute is never refused', async (t) => {
  const visit = await atNoon();
  const page = await visit.open(undefined, demo, t);
  await shows(
    page,
    'With 1,000,000 left, nothing would be refused. Use a key with a smaller plan to see refusals.',
  );
  await sendButton(page).click();
  await draws(page, '2xx admitted: 100, 429 limited: 0, 403 banned: 0');
  await draws(page, '999,900 of 1,000,000 left in this minute');
});

test('the page says whether instances share limits, and which limits apply when a server is down', async (t) => {
  const visit = await atNoon();
  const page = await visit.open(undefined, demo, t);
  await openDetails(page);
  await shows(page, 'by this instance alone');
  const ground = () =>
    page.evaluate(`getComputedStyle(document.querySelector('lab-ban-demo .primary')).backgroundColor`);
  const inviting = await ground();
  let sharing: Account['sharing'] = 'on';
  await rewriteAccount(page, (account) => {
    account.sharing = sharing;
  });
  await shows(page, 'together by all instances');
  sharing = 'away';
  await shows(page, /Until it is back, each instance\s+counts\s+separately/);
  await page.unroute('**/lab/account');
  await page.route('**/lab/account', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }));
  await shows(page, 'as of 12:00:17');
  await shows(page, 'The service does not respond.');
  assert.ok(await sendButton(page).isDisabled());
  assert.notEqual(await ground(), inviting);
  await page.unroute('**/lab/account');
  await page.locator('lab-ban-demo button.primary:enabled').waitFor();
});

test('axe finds no serious fault, and nothing scrolls sideways on a phone', async (t) => {
  const visit = await atNoon();
  for (const [sent, text, colorScheme] of [
    [97, '37 of 60', 'light'],
    [121, 'This key is banned', 'dark'],
  ] as const) {
    const key = await addFree(visit, sent);
    const page = await visit.open(key, { ...demo, width: 390, height: 844, colorScheme }, t);
    await openDetails(page);
    await shows(page, text);
    await sendButton(page).click();
    await shows(page, /^\s*Done: 100 of 100 got a response/);
    assert.deepEqual(await findings(page, ['lab-limits', 'lab-ban-demo']), [], text);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
  }
});
