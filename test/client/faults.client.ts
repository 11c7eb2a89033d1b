import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createPetstore } from '../../src/client/index.ts';
import type { Report } from '../../src/lab/checks/report-schema.ts';
import { faults } from '../../src/lab/faults/list.ts';
import { takeTour } from '../support/client-tour.ts';
import { endRehearsal, performedOf, rehearse } from '../support/lab.ts';
import { startPetstore } from '../support/petstore.ts';
import { startRecording } from '../support/recordings.ts';

/** Quick parameters for slow faults. */
const parameters: Record<string, object> = {
  delay: { delayMs: 50 },
  slow: { bytesPerSecond: 20_000 },
  'near-limit': { remaining: 7 },
  'stream-silent': { streamSilenceMs: 50 },
};

/** Faults under which the client times out. Its timeout is short because the service would be silent for 30 s. */
const silent = ['stall', 'no-answer'];
const silentAttemptMs = 250;

/** Faults at which the client rejects: a list without end, a redirect to another origin, missing events, and a wait of days. */
const ends: Record<string, RegExp> = {
  'same-page': /leads to a page that was already read/,
  'moved-away': /and the key is not sent there/,
  'stream-expired': /are no longer stored/,
  'retry-after-odd ten-days': /longer than maxWaitMs allows/,
  'retry-after-odd thirty-days': /longer than maxWaitMs allows/,
};

/** Each fault with each value of its parameters with named values. */
const variants = faults.flatMap(({ name: fault, parameters: own }) => {
  const [named] = Object.entries(own as Record<string, { enum?: string[] }>).filter(
    ([, { enum: values }]) => values,
  );
  const [parameter = '', { enum: values = [] } = {}] = named ?? [];
  const others = values
    .slice(1)
    .map((value) => ({ name: `${fault} ${value}`, fault, [parameter]: value, times: 3 }));
  return [{ name: fault, fault }, ...others];
});

/** Runs the tour under faults, each time in a new workspace. Waits of the client pass at once. */
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
  // By the clock of the service, because this fault sends dates.
  store.app.server.prependListener('request', (_request, response) => {
    response.setHeader('Date', new Date(now()).toUTCString());
  });
  const baseUrl = `${await store.listen()}/v1`;
  return async (name: string, planned: { fault: string; times?: number }[]) => {
    const { key } = await store.addWorkspace(name, true);
    const rehearsal = planned.length > 0 ? await rehearse(store, planned, { key }) : undefined;
    const recording = await startRecording(store, key);
    const attemptTimeoutMs = silent.includes(name) ? silentAttemptMs : undefined;
    const options = { baseUrl, apiKey: key, clock: { now, sleep }, attemptTimeoutMs };
    const printed = await takeTour(createPetstore(options));
    const { body } = await store.send('GET', `${recording}/report`, { key });
    const performed = rehearsal ? await performedOf(store, rehearsal.id, key) : [];
    if (rehearsal) await endRehearsal(store, rehearsal.id, key);
    return { printed, report: body as Report, performed };
  };
}

/** The failed checks, with all that the report says about them. */
const failedOf = ({ checks }: Report) => checks.filter(({ result }) => result === 'failed');

/** Traces of the other writer of `conflict` that stay: names, and one unit of stock. */
const withAnotherWriter = (printed: string[]) =>
  printed.map((line) =>
    line
      .replaceAll('Smaug the', 'Smaug (another writer 2) the')
      .replace('Dragons and', 'Dragons (another writer) and')
      .replace('inventory: 5', 'inventory: 6')
      .replace('left: 1', 'left: 2')
      .replace('events: 16', 'events: 24'),
  );

test('a program with the client prints the same under every fault, and fails no check', async (t) => {
  const take = await startTours(t);
  const { printed: usual, report } = await take('usual', []);
  assert.deepEqual(failedOf(report), []);
  for (const { name, ...fault } of variants) {
    await t.test(name, async () => {
      const end = ends[name];
      const { times: _, ...condition } = fault as { times?: number };
      const isCondition = faults.find((one) => one.name === fault.fault)?.isCondition;
      const planned = { ...(isCondition ? condition : fault), ...parameters[name] } as { fault: string };
      if (end) return assert.rejects(take(name, [planned]), end);
      const { printed, report, performed } = await take(name, [planned]);
      // The tour calls no deprecated operation.
      if (name !== 'sunset') assert.ok((performed[0] as number) > 0);
      assert.deepEqual(failedOf(report), []);
      // The tour prints what it reads, which is stale.
      if (name === 'stale-read') assert.equal(printed.length, usual.length);
      else assert.deepEqual(printed, name === 'conflict' ? withAnotherWriter(usual) : usual);
    });
  }
});
