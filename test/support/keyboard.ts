import type { Page } from 'playwright-core';

/** More than the number of controls on any page. */
const maxSteps = 500;

/** Starts at the top of the page, with all controls that are usable now. */
const begin = `{
  const isUsable = (one) => one.tabIndex >= 0 && one.checkVisibility() && !one.matches(':disabled');
  const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]');
  globalThis.unreached = new Set([...all].filter(isUsable));
  globalThis.unmarked = [];
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
}`;

/** Records the focused element. True when all were reached, or the page is left. */
const look = `(() => {
  const one = document.activeElement;
  if (!unreached.delete(one)) return one === document.body;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) unmarked.push(one.outerHTML.slice(0, 100));
  return unreached.size === 0;
})()`;

const report = `[
  ...unmarked.map((one) => 'no outline: ' + one),
  ...[...unreached].filter((one) => one.isConnected).map((one) => 'never reached: ' + one.outerHTML.slice(0, 100)),
]`;

/** Moves through a page by the Tab key. Reports controls that never get the focus, and those that do not show it. */
export async function outOfReach(page: Page): Promise<string[]> {
  await page.evaluate(begin);
  for (let i = 0; i < maxSteps; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(look)) break;
  }
  return page.evaluate(report);
}
