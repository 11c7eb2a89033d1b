import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { chromium, type Page, type Request } from 'playwright-core';
import { args, executablePath } from '../../support/browsers.ts';
import { startService } from '../../support/service.ts';
import { temporaryStorage } from '../../support/storage.ts';

/** Long, since browsers are slow on a busy machine. */
const stepTimeoutMs = 60_000;

interface Look {
  width: number;
  height: number;
  colorScheme?: 'light' | 'dark';
}

export interface Visit {
  /** The tab of a user who followed the address that the start prints. */
  page: Page;
  /** Opens another tab, at an address and of a size in pixels, which is watched like the first. */
  open(address: string, look?: Look): Promise<Page>;
  origin: string;
  demoKey: string;
  /** All requests of the tabs. */
  requests: Request[];
  /** The console messages. */
  complaints: string[];
}

/** Opens the reference of a freshly started demo, in one browser that keeps the storage of pages. */
export async function openReference(t: TestContext): Promise<Visit> {
  const dataDir = join(await temporaryStorage(t), 'data');
  const service = await startService(t, dataDir);
  const browser = await chromium.launch({ executablePath, args });
  t.after(() => browser.close());
  const context = await browser.newContext();
  context.setDefaultTimeout(stepTimeoutMs);
  const requests: Request[] = [];
  const complaints: string[] = [];
  context.on('request', (request) => requests.push(request));
  const open: Visit['open'] = async (address, look = { width: 1400, height: 1000 }) => {
    const page = await context.newPage();
    await page.setViewportSize(look);
    await page.emulateMedia({ colorScheme: look.colorScheme ?? null });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(address);
    return page;
  };
  const printed = /^ *(http:\S+\/reference)$/m.exec(service.output())?.[1];
  assert.ok(printed, service.output());
  const demoKey = readFileSync(join(dataDir, 'demo.key'), 'utf8').trim();
  const page = await open(`${printed}#key=${demoKey}`);
  await heading(page).waitFor();
  return { page, open, origin: new URL(printed).origin, demoKey, requests, complaints };
}

/** The heading of the start page. */
export const heading = (page: Page) => page.getByRole('heading', { name: 'Petstore API', level: 1 });
