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
  /** The origin of a proxy in front of the store. */
  through?: string;
  /** The tab that is open, or `faults` for the drawer. Default: the requests. */
  at?: string;
}

/** The lab's page in a new tab. */
export interface Visit {
  page: Page;
  /** Console messages, errors, requests to other origins, and responses outside the description. */
  complaints: string[];
}

/** A store with a lab, and a browser that opens its page. */
export interface LabVisit {
  store: Awaited<ReturnType<typeof startPetstore>>;
  origin: string;
  /** Opens the page with the first key, another one, or none. Compares every answer with the description. */
  open(key?: string | null, look?: Look): Promise<Visit>;
}

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
    { width = 1440, height = 1000, through = origin, at = '', ...media } = {},
  ) => {
    const context = await browser.newContext({ viewport: { width, height }, ...media });
    t.after(() => context.close());
    context.setDefaultTimeout(stepTimeoutMs);
    const page = await context.newPage();
    const complaints: string[] = [];
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
      void assertDescribed(response).catch((error) => complaints.push(error.message));
    });
    await page.goto(`${through}/lab${key === null ? '' : `#key=${key}&${at}`}`);
    return { page, complaints };
  };
  return { store, origin, open };
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
