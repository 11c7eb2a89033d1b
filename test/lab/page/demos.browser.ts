import assert from 'node:assert/strict';
import { findings } from '../../support/axe.ts';
import { browsers, browserTest as test } from '../../support/browsers.ts';
import { excessWidth, visitLab } from '../../support/lab-page.ts';

for (const { name, skip, launch } of browsers)
  test(`the page shows a careless client, and how a lost response doubles an order: ${name}`, {
    skip,
  }, async (t) => {
    const { store, open } = await visitLab(t, {}, launch);
    const page = await open();
    await page.getByRole('button', { name: 'Try it without a client' }).click();
    const verdict = page.locator('lab-report');
    await verdict.getByText('Up to request #8.').waitFor();
    const failed = verdict.locator('.checks > .failed', { hasText: 'required' });
    assert.deepEqual(await failed.locator('.row code').allInnerTexts(), ['retry-after.obeyed']);
    assert.deepEqual(await page.locator('.lane code').allInnerTexts(), [
      '#1 GET /v1/pets?limit=2',
      '#3 GET /v1/categories',
      '#6 GET /v1/inventory/1',
      '#7 POST /v1/store/orders',
    ]);
    assert.equal(await page.locator('.wait.too-soon').count(), 1);
    // Its faults are over.
    await page.locator('lab-fault-count .badge').waitFor({ state: 'detached' });

    await page.getByRole('tab', { name: 'Demo: lost response' }).click();
    const demo = page.locator('lab-order-demo');
    await demo.getByRole('button', { name: 'Order one pet' }).click();
    await demo.getByText(/2 orders\.\s+The customer pays twice/).waitFor();
    await demo.getByRole('button', { name: 'Fix it, and order again' }).click();
    await demo.getByText(/1 order\.\s+The store knows the key/).waitFor();
    assert.deepEqual(await demo.locator('.large').allInnerTexts(), ['504', '201', '504', '201']);
    const keys = await demo.locator('.both code').allInnerTexts();
    assert.equal(new Set(keys.slice(0, 2)).size, 2);
    assert.equal(new Set(keys.slice(2)).size, 1);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.deepEqual(await findings(page, ['html']), []);
    assert.equal(await excessWidth(page), 0);
    await demo.getByRole('button', { name: 'Show this request' }).nth(1).click();
    const details = page.getByRole('region', { name: 'Request 15' });
    await details.getByText('idempotency-replayed: true').waitFor();

    // Nothing is sent in a workspace without stock.
    const empty = await store.addWorkspace('empty', { seed: false });
    await page.evaluate(`location.hash = 'key=${empty.key}&order-demo'`);
    await demo.locator('.both').first().waitFor({ state: 'detached' });
    await demo.getByRole('button', { name: 'Order one pet' }).click();
    await demo.getByText('No pet has 2 or more in stock. Fill').waitFor();
  });
