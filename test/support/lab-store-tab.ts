import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { type LabVisit, type Look, sharedLab, stillClock } from './lab-page.ts';

type WorkspaceOptions = Parameters<LabVisit['store']['addWorkspace']>[1];

export const openButton = (page: Page) => page.getByRole('button', { name: 'Open the store' });
export const card = (page: Page, id: number) => page.locator(`li[data-pet="${id}"] article`);
export const panel = (page: Page) => page.locator('lab-store .pair');
export const twice = (page: Page) => page.getByRole('button', { name: 'Two orders at once' });

/** The requests to the API that a page sends, as method and path. */
export function sentBy(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/v1/')) sent.push(`${request.method()} ${pathname.slice('/v1'.length)}`);
  });
  return sent;
}

/** A stream of events of another program. */
export async function streamOf({ baseUrl, key }: { baseUrl: string; key: string }): Promise<AsyncDisposable> {
  const headers = { authorization: `Bearer ${key}` };
  // Without a reference, the response is collected and its stream ends.
  const response = await fetch(`${baseUrl}/store/events/stream`, { headers });
  return { [Symbol.asyncDispose]: async () => response.body?.cancel() };
}

export async function openStore(page: Page): Promise<void> {
  await openButton(page).click();
  await page.locator('lab-store .open-store').waitFor();
}

/** Presses a button of the tab Events, and comes back. */
export async function atEvents(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByRole('button', { name }).click();
  await page.getByRole('tab', { name: 'Store' }).click();
}

export const has = (page: Page, id: number, text: string) =>
  card(page, id).getByText(text, { exact: true }).waitFor();

const lab = sharedLab(stillClock);
let visits = 0;

/** Opens the page with the key of a new workspace, which is one of `service`. */
export async function visit(t: TestContext, options: WorkspaceOptions = {}, look: Look = {}) {
  const { store: service, open } = await lab();
  const access = await service.addWorkspace(`visit-${++visits}`, options);
  const page = await open(access.key, { at: 'store', ...look }, t);
  return { service, store: { ...access, baseUrl: service.baseUrl }, page };
}
