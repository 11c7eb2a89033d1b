import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { browsers } from './browsers.ts';
import { type StoreSetup, startPetstore } from './petstore.ts';

const phone = { width: 360, height: 640 };

const started = new Map<object, Promise<Browser>>();
after(async () => {
  for (const browser of started.values()) await (await browser).close();
});

/** A store, and a function that opens a path on a phone. The test fails for each complaint of a page, and each URL with a code or a key. */
export async function startPages(
  t: TestContext,
  setup: StoreSetup = {},
  { launch } = browsers[0] as (typeof browsers)[number],
) {
  const store = await startPetstore(t, setup);
  const origin = await store.listen();
  const browser = started.get(launch) ?? launch();
  started.set(launch, browser);
  const open = async (path: string): Promise<Page> => {
    const context = await (await browser).newContext({ viewport: phone });
    const complaints: string[] = [];
    t.after(async () => {
      await context.close();
      assert.deepEqual(complaints, []);
    });
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (/inv_|pet_/.test(request.url().replace(/#.*/, ''))) complaints.push(request.url());
    });
    await page.goto(origin + path);
    return page;
  };
  return { store, origin, open };
}
