import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { photograph } from './photograph.ts';

/** What a client of the picture does, in its order. It meets a limit, a failure, and a pet that is not there. */
const requests: [method: string, path: string, body?: object][] = [
  ['GET', '/pets?limit=2'],
  ['GET', '/pets?limit=2'],
  ['GET', '/categories'],
  ['GET', '/pets/999'],
  ['POST', '/pets', { name: 'Fluffy', categoryId: 1 }],
  ['POST', '/pets', { name: 'Fluffy', categoryId: 1 }],
  ['POST', '/store/orders', { petId: 2, quantity: 1 }],
  ['GET', '/inventory'],
];
const faults = [
  { fault: 'rate-limited', operation: 'createPet', retryAfterSeconds: 2 },
  { fault: 'internal-error', operation: 'listPets' },
];
/** Between two requests: after a refusal the client waits, as it was told. */
const [pauseMs, waitMs] = [700, 2_100];

/** Photographs the page of the lab in light and in dark, as WebP, with what a small client did just before. */
export async function photographLab(origin: string, key: string): Promise<[string, Buffer][]> {
  await beClient(origin, key);
  return photograph(`${origin}/lab#key=${key}`, { width: 1_680, height: 960, scale: 1 }, show);
}

async function beClient(origin: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    await answer.text();
    return answer.status;
  };
  await ask('POST', '/lab/recordings', { name: 'my client' });
  await ask('POST', '/lab/rehearsals', { faults });
  for (const [method, path, body] of requests)
    await sleep((await ask(method, `/v1${path}`, body)) === 429 ? waitMs : pauseMs);
}

async function show(page: Page): Promise<void> {
  await page.locator('lab-requests .line', { hasText: '/v1/inventory' }).waitFor();
  await page.locator('lab-report .verdict').waitFor();
  await page.waitForTimeout(1_500);
  await page.mouse.move(0, 0);
}

/** Photographs the demo of a lost response, after both orders: the mistake and the fix. */
export const photographOrders = (origin: string, key: string) =>
  photograph(
    `${origin}/lab#key=${key}`,
    { width: 1_400, height: 900, scale: 1, part: 'lab-order-demo .two' },
    async (page) => {
      await page.getByText('Demo: lost response').first().click();
      for (const button of ['Order one pet', 'Fix it, and order again'])
        await page.getByRole('button', { name: button }).click();
      await page.getByText('1 order.').waitFor();
      await page.mouse.move(0, 0);
    },
  );
