import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The findings of axe in parts of a page, as rule and element. */
export async function findings(page: Page, parts: string[]): Promise<string[]> {
  await page.evaluate(axeSource);
  const found: { id: string; nodes: { target: string[] }[] }[] = await page.evaluate(
    async (include) => {
      // @ts-expect-error: the test has loaded it into the page
      return (await globalThis.axe.run({ include }, { resultTypes: ['violations'] })).violations;
    },
    parts.map((part) => [part]),
  );
  return found.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
}
