import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { chromium, firefox, type LaunchOptions } from 'playwright-core';

/** The browser of most tests. */
export const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const firefoxPath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

/** Why tests in a browser are skipped; undefined if they run. */
const skipWithout = (path: string, variable: string) =>
  !existsSync(path) && !process.env.CI && `no browser at ${path}; ${variable} can name one`;

export const skip = skipWithout(executablePath, 'CHROMIUM');
export const timeout = 300_000;

/** Keeps the browser from looking up names by itself. */
export const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The browsers that test the pages. Firefox is that of the system, by WebDriver BiDi. */
export const browsers = [
  {
    name: 'Chromium',
    skip,
    launch: (options: LaunchOptions = {}) => chromium.launch({ executablePath, args, ...options }),
  },
  {
    name: 'Firefox',
    skip: skipWithout(firefoxPath, 'FIREFOX'),
    launch: (options: LaunchOptions = {}) =>
      firefox.launch({ channel: 'moz-firefox', executablePath: firefoxPath, ...options }),
  },
] as const;

/** Firefox with a dark theme. It ignores the theme of a context. */
export const launchDarkFirefox = () =>
  browsers[1].launch({ firefoxUserPrefs: { 'layout.css.prefers-color-scheme.content-override': 0 } });

type Work = (t: TestContext) => Promise<void>;

/** A test in Chromium. In another browser, `options` has its `skip`. */
export function browserTest(name: string, ...rest: [Work] | [options: { skip: typeof skip }, Work]): void {
  const [options, work] = rest.length === 2 ? rest : [{ skip }, rest[0]];
  test(name, { timeout, ...options }, work);
}
