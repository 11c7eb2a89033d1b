import type { Page } from 'playwright-core';
import { photograph } from './photograph.ts';

/** What the picture shows: a change with a body, its parameters and its sample. */
const shownOperation = 'createPet';

/** Photographs the reference in light and in dark, as WebP. */
export const photographReference = (address: string) =>
  photograph(address, { width: 1300, height: 760, scale: 1.4 }, showOperation);

async function showOperation(page: Page): Promise<void> {
  await page.locator(`#contents a[href$="/operations/${shownOperation}"]`).click();
  const article = page.locator(`article[data-operation="${shownOperation}"]`);
  await article.getByRole('link', { name: 'Try it' }).click();
  await article.getByRole('form', { name: 'Try it' }).waitFor();
  await page.evaluate('document.activeElement.blur()');
  // In the corner the mouse opens nothing and marks nothing.
  await page.mouse.move(0, 0);
}
