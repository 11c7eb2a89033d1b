import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { Browser, Page, Response, Route } from 'playwright-core';
import { startPetstore } from '../../src/index.ts';
import { browsers } from './browsers.ts';
import { assertAsDescribed } from './description.ts';

type StoreOptions = Parameters<typeof startPetstore>[0];

export interface Look {
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
  reducedMotion?: 'reduce';
  forcedColors?: 'active';
  /** The origin of a proxy in front of the store. */
  through?: string;
  /** The tab that is open, or `faults` for the drawer. Default: the requests. */
  at?: string;
  /** Complaints that the test expects. */
  tolerated?: RegExp;
}

export type LabVisit = Awaited<ReturnType<typeof visitLab>>;

/** A test, or a file of tests. */
type After = { after(work: () => Promise<void>): void };
type Launch = () => Promise<Browser>;

/** The started browsers. A start takes a second. */
const started = new Map<Launch, Promise<Browser>>();
after(async () => {
  for (const browser of started.values()) await (await browser).close();
});

function running(launch: Launch): Promise<Browser> {
  const browser = started.get(launch) ?? launch();
  started.set(launch, browser);
  return browser;
}

/** Long, since the machine may be busy. */
const stepTimeoutMs = 90_000;

/** The clock is stopped, so that no minute of the limits ends. */
export const stillClock = { clock: 'manual' } as const;

/** Starts a store and a browser, Chromium by default. */
export async function visitLab(t: After, options: StoreOptions = {}, launch: Launch = browsers[0].launch) {
  const store = await startPetstore(options);
  const ends: (() => Promise<void>)[] = [];
  t.after(async () => {
    try {
      for (const end of ends) await end();
    } finally {
      await store.stop();
    }
  });
  const browser = await running(launch);
  const { origin } = new URL(store.baseUrl);
  /**
   * Opens the page in a new tab, with the first key, another one, or none. The tab is closed after the test `owner`, which fails for each
   * console message, each error, each request to another origin, and each response outside the description.
   */
  const open = async (
    key: string | null = store.key,
    { width = 1440, height = 1000, through = origin, at = '', tolerated = /^$/, ...media }: Look = {},
    owner?: After,
  ) => {
    const context = await browser.newContext({ viewport: { width, height }, ...media });
    const complaints: string[] = [];
    const end = async () => {
      const found = complaints.filter((text) => !tolerated.test(text));
      await context.close();
      assert.deepEqual(found, []);
    };
    if (owner) owner.after(end);
    else ends.push(end);
    context.setDefaultTimeout(stepTimeoutMs);
    const page = await context.newPage();
    page.on('console', (message) => {
      // Browsers report each status of 400 and above.
      const isRefusal = /Failed to load resource|status of \d+/.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !isRefusal) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (![origin, through].includes(new URL(request.url()).origin)) complaints.push(request.url());
    });
    page.on('response', (response) => {
      void assertDescribed(response).catch((error) => {
        if (!page.isClosed()) complaints.push(error.message);
      });
    });
    await page.goto(`${through}/lab${key === null ? '' : `#key=${key}&${at}`}`);
    return page;
  };
  return { store, origin, open };
}

/** The next request of the page to `url`, which `act` causes. It waits until the test continues or answers it. */
export async function heldRequest(
  page: Page,
  url: string | RegExp,
  act?: () => Promise<unknown>,
): Promise<Route> {
  const asked = Promise.withResolvers<Route>();
  await page.route(url, asked.resolve, { times: 1 });
  await act?.();
  return asked.promise;
}

/** Waits until the page has drawn its state. */
export const drawn = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

/** The width in pixels by which the page exceeds its window. */
export const excessWidth = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** One store for all tests of a file, started by the first of them. */
export function sharedLab(options: StoreOptions): () => Promise<LabVisit> {
  let visit: Promise<LabVisit> | undefined;
  const ends: (() => Promise<void>)[] = [];
  after(async () => {
    for (const end of ends) await end();
  });
  return () => {
    visit ??= visitLab({ after: (end) => void ends.push(end) }, options);
    return visit;
  };
}

async function assertDescribed(response: Response): Promise<void> {
  const { pathname, search } = new URL(response.url());
  const headers = await response.allHeaders();
  const isJson = headers['content-type']?.startsWith('application/json');
  if (!isJson || !/^\/(v1|lab)\//.test(pathname)) return;
  // Browsers keep no body of an aborted request.
  if (await response.finished()) return;
  const text = await response.text();
  assertAsDescribed(response.request().method(), pathname + search, {
    status: response.status(),
    headers,
    text,
  });
}
