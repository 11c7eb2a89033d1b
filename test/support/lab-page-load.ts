import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { visitLab } from './lab-page.ts';
import { until } from './until.ts';

/** The page keeps this many requests. Then it must not grow further. */
const keptRequests = 1_000;
const workers = 20;
/** Ids without pets. They mark requests whose rows the test looks for. */
const firstMark = 900_000;
const markEvery = 250;
/** Long, since the machine may be busy and the page has hundreds of rows to read. */
const patienceMs = 90_000;

/** Measures late frames, long tasks, and when marked rows appear. */
const watch = `{
  globalThis.seen = {};
  globalThis.longestTask = 0;
  globalThis.latestFrame = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTask = Math.max(longestTask, duration);
  }).observe({ type: 'longtask' });
  let last = performance.now();
  const frame = (now) => {
    latestFrame = Math.max(latestFrame, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const note = () => {
    const text = document.querySelector('lab-requests').textContent;
    for (const [mark] of text.matchAll(/(?<=pets\\/)9\\d{5}/g)) seen[mark] ??= Date.now();
  };
  new MutationObserver(note).observe(document.querySelector('lab-requests'), { subtree: true, childList: true, characterData: true });
}`;

async function measure(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  await devtools.detach();
  const nodes = Number(await page.evaluate("document.querySelectorAll('*').length"));
  return { heapKb: Math.round(usedSize / 1_024), nodes };
}

/** Sends requests while the page records them: `perSecond`, or as fast as possible. */
export async function loadPage(t: TestContext, requests: number, perSecond?: number) {
  const { store, open } = await visitLab(t);
  const headers = { authorization: `Bearer ${store.key}` };
  await store.record();
  const page = await open();
  await page.evaluate(watch);
  const answeredAt = new Map<number, number>();
  const ask = async (petId: number) => {
    await (await fetch(`${store.baseUrl}/pets/${petId}`, { headers })).text();
    if (petId >= firstMark) answeredAt.set(petId, Date.now());
  };
  const seen = () => page.evaluate<Record<string, number>>('seen');
  const send = async (count: number, mark: number) => {
    const beginMs = performance.now();
    let next = 0;
    const work = async () => {
      for (let i = next++; i < count; i = next++) {
        if (perSecond) await sleep(Math.max(0, beginMs + (i * 1_000) / perSecond - performance.now()));
        await ask(perSecond && i % markEvery === 0 ? mark + i : (i % 20) + 1);
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
    const last = mark + count;
    await ask(last);
    await until(async () => last in (await seen()), patienceMs);
  };
  await send(keptRequests, firstMark);
  const before = await measure(page);
  await page.evaluate('longestTask = latestFrame = 0');
  await send(requests, firstMark + keptRequests + 1);
  const [longestTaskMs, latestFrameMs] = await page.evaluate<[number, number]>('[longestTask, latestFrame]');
  const after = await measure(page);
  const shownAt = await seen();
  return {
    ...{ heapBeforeKb: before.heapKb, heapAfterKb: after.heapKb },
    ...{ nodesBefore: before.nodes, nodesAfter: after.nodes },
    ...{ longestTaskMs: Math.round(longestTaskMs), latestFrameMs: Math.round(latestFrameMs) },
    /** The time from an answer to its marked row. */
    rowsAfterMs: [...answeredAt].map(([mark, at]) => (shownAt[mark] ?? Number.POSITIVE_INFINITY) - at),
  };
}

/** The page must not grow. Its speed depends on the machine, so only the proof checks that. */
export function assertNoGrowth(result: Awaited<ReturnType<typeof loadPage>>): void {
  const { heapBeforeKb, heapAfterKb, nodesBefore, nodesAfter } = result;
  const text = JSON.stringify(result);
  assert.ok(heapAfterKb < heapBeforeKb + 4_096, `the heap grows: ${text}`);
  assert.ok(nodesAfter < nodesBefore * 1.5, `the page grows: ${text}`);
}
