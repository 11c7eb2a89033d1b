import { after, type TestContext } from 'node:test';
import type { Browser, Page, Response } from 'playwright-core';
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
  /** Where the page is found, if something stands between it and the store. */
  through?: string;
}

/** A page of the lab in a tab of its own. */
export interface Visit {
  page: Page;
  /** What the console shows, what fails, and what is asked of others than the store. */
  complaints: string[];
}

/** A store with a lab, and a browser that opens its page. */
export interface LabVisit {
  store: Awaited<ReturnType<typeof startPetstore>>;
  /** Where the store is. */
  origin: string;
  /** Opens the page with a key, the first by default, or without one. Every answer of the store is held against its description. */
  open(key?: string | null, look?: Look): Promise<Visit>;
}

type Launch = () => Promise<Browser>;

/** The browsers of a file of tests, which take a second each to start. */
const started = new Map<Launch, Promise<Browser>>();
after(async () => {
  for (const browser of started.values()) await (await browser).close();
});

function running(launch: Launch): Promise<Browser> {
  const browser = started.get(launch) ?? launch();
  started.set(launch, browser);
  return browser;
}

/** Much, since a test's machine may be busy. */
const stepTimeoutMs = 90_000;

/** For what counts on the limits of one minute: time stands still, so that none ends meanwhile. */
export const stillClock = { clock: 'manual' } as const;

/** Starts a store whose clock goes with the real one, and a browser, the first by default. */
export async function visitLab(
  t: TestContext,
  options: StoreOptions = {},
  launch: Launch = browsers[0].launch,
): Promise<LabVisit> {
  const store = await startPetstore(options);
  t.after(() => store.stop());
  const browser = await running(launch);
  const { origin } = new URL(store.baseUrl);
  const open: LabVisit['open'] = async (
    key = store.key,
    { width = 1440, height = 1000, through = origin, ...media } = {},
  ) => {
    const context = await browser.newContext({ viewport: { width, height }, ...media });
    t.after(() => context.close());
    context.setDefaultTimeout(stepTimeoutMs);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      // Browsers say so of each answer of refusal.
      const isRefusal = /Failed to load resource|status of \d+/.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !isRefusal) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (![origin, through].includes(new URL(request.url()).origin)) complaints.push(request.url());
    });
    page.on('response', (response) => {
      void assertDescribed(response).catch((error) => complaints.push(error.message));
    });
    await page.goto(`${through}/lab${key === null ? '' : `#key=${key}`}`);
    return { page, complaints };
  };
  return { store, origin, open };
}

async function assertDescribed(response: Response): Promise<void> {
  const { pathname, search } = new URL(response.url());
  const headers = await response.allHeaders();
  const isJson = headers['content-type']?.startsWith('application/json');
  if (!isJson || !/^\/(v1|lab)\//.test(pathname)) return;
  // Of an answer that the page gave up, browsers keep nothing.
  if (await response.finished()) return;
  const text = await response.text();
  assertAsDescribed(response.request().method(), pathname + search, {
    status: response.status(),
    headers,
    text,
  });
}
