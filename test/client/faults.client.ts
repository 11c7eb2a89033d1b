import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createPetstore } from '../../src/client/index.ts';
import type { Report } from '../../src/lab/checks/report.ts';
import { faults } from '../../src/lab/faults/list.ts';
import { takeTour } from '../support/client-tour.ts';
import { endRehearsal, performedOf, rehearse } from '../support/lab.ts';
import { startPetstore } from '../support/petstore.ts';

/** Quick ones of the faults that take their time. */
const parameters: Record<string, object> = {
  delay: { delayMs: 50 },
  slow: { bytesPerSecond: 20_000 },
  'near-limit': { remaining: 7 },
  'stream-silent': { streamSilenceMs: 50 },
};

/** Under these the client gives up an attempt by itself. So soon, since the service would be silent for 30 s. */
const silent = ['stall', 'no-answer'];
const silentAttemptMs = 250;

/** What no client can go on after: the list has no end, and the key is for one origin. */
const ends: Record<string, RegExp> = {
  'same-page': /leads to a page that was already read/,
  'moved-away': /and the key is not sent there/,
};

/** Lets the tour be taken under faults, each time in a workspace of its own; waits of the client pass at once. */
async function startTours(t: TestContext) {
  const store = await startPetstore(t);
  let skippedMs = 0;
  const now = () => Date.now() + skippedMs;
  Object.defineProperty(store, 'nowMs', { get: now });
  const sleep = async (ms: number, signal: AbortSignal) => {
    signal.throwIfAborted();
    skippedMs += ms;
    await new Promise(setImmediate);
  };
  // As the service tells the time, dates are meant.
  store.app.server.prependListener('request', (_request, response) => {
    response.setHeader('Date', new Date(now()).toUTCString());
  });
  const baseUrl = `${await store.listen()}/v1`;
  return async (name: string, planned: { fault: string; times?: number }[]) => {
    const { key } = await store.addWorkspace(name, true);
    const rehearsal = planned.length > 0 ? await rehearse(store, planned, { key }) : undefined;
    const { body: recording } = await store.send('POST', '/lab/recordings', { key, body: {} });
    const attemptTimeoutMs = silent.includes(name) ? silentAttemptMs : undefined;
    const options = { baseUrl, apiKey: key, clock: { now, sleep }, attemptTimeoutMs };
    const told = await takeTour(createPetstore(options));
    const { body } = await store.send('GET', `/lab/recordings/${recording.id}/report`, { key });
    const performed = rehearsal ? await performedOf(store, rehearsal.id, key) : [];
    if (rehearsal) await endRehearsal(store, rehearsal.id, key);
    return { told, report: body as Report, performed };
  };
}

/** What failed, with all that the report says about it. */
const failedOf = ({ checks }: Report) => checks.filter(({ result }) => result === 'failed');

/** What the other writer of `conflict` adds stays: to names that are not written anew, and one unit of stock. */
const withAnotherWriter = (told: string[]) =>
  told.map((line) =>
    line
      .replaceAll('Smaug the', 'Smaug (another writer) the')
      .replace('Dragons and', 'Dragons (another writer) and')
      .replace('inventory: 5', 'inventory: 6')
      .replace('left: 1', 'left: 2')
      .replace('events: 16', 'events: 25'),
  );

test('a program with the client prints the same under every fault, and fails no check', async (t) => {
  const take = await startTours(t);
  const { told: usual, report } = await take('usual', []);
  assert.deepEqual(failedOf(report), []);
  for (const { name } of faults) {
    await t.test(name, async () => {
      const end = ends[name];
      if (end) return assert.rejects(take(name, [{ fault: name }]), end);
      const { told, report, performed } = await take(name, [{ fault: name, ...parameters[name] }]);
      // Nothing that is deprecated is called.
      if (name !== 'sunset') assert.ok((performed[0] as number) > 0);
      assert.deepEqual(failedOf(report), []);
      // It shows what it reads, which is old.
      if (name === 'stale-read') assert.equal(told.length, usual.length);
      else assert.deepEqual(told, name === 'conflict' ? withAnotherWriter(usual) : usual);
    });
  }
});
