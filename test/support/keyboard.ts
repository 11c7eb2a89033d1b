import type { Page } from 'playwright-core';

/** More than a page of ours has controls. */
const maxSteps = 500;

/** Begins at the top of the page, with all that can be used now. */
const begin = `{
  const isUsable = (one) => one.tabIndex >= 0 && one.checkVisibility() && !one.matches(':disabled');
  const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]');
  globalThis.unreached = new Set([...all].filter(isUsable));
  globalThis.unmarked = [];
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
}`;

/** Takes note of what has the focus now. True when all was reached, or the page is left. */
const look = `(() => {
  const one = document.activeElement;
  if (!unreached.delete(one)) return one === document.body;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) unmarked.push(one.outerHTML.slice(0, 100));
  return unreached.size === 0;
})()`;

const told = `[
  ...unmarked.map((one) => 'no outline: ' + one),
  ...[...unreached].filter((one) => one.isConnected).map((one) => 'never reached: ' + one.outerHTML.slice(0, 100)),
]`;

/** Goes through a page by the Tab key. Says what never gets the focus, and what has it without showing it. */
export async function outOfReach(page: Page): Promise<string[]> {
  await page.evaluate(begin);
  for (let i = 0; i < maxSteps; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(look)) break;
  }
  return page.evaluate(told);
}
