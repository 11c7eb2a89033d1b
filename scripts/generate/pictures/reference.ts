import type { Page } from 'playwright-core';
import { photograph } from './photograph.ts';

/** What the picture shows: a change with a body, its parameters and its sample. */
const shownOperation = 'tag/pets/POST/pets';

/** Photographs the reference in light and in dark, as WebP. */
export const photographReference = (address: string) =>
  photograph(address, { width: 1200, height: 700, scale: 1.5 }, showOperation);

async function showOperation(page: Page): Promise<void> {
  await page.locator(`aside a[href$="#${shownOperation}"]`).click();
  await page.locator(`section[id$="/${shownOperation}"]`).getByRole('heading').first().waitFor();
  await page.waitForLoadState('networkidle');
  // The page scrolls to the operation, and may add to what stands above it meanwhile.
  await page.waitForTimeout(2_000);
  // In the corner the mouse opens nothing and marks nothing.
  await page.mouse.move(0, 0);
  await page.evaluate('scrollBy(0, 50)');
  await page.waitForTimeout(500);
}
