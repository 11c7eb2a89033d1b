import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { checksPage } from '../../../scripts/generate/checks.ts';
import { checks, checksVersion } from '../../../src/lab/checks/list.ts';
import type { Report } from '../../../src/lab/checks/report-schema.ts';
import { faultNames } from '../../../src/lab/faults/list.ts';
import { guides } from '../../../src/reference/description/guides.ts';
import { baseUrl } from '../../support/description.ts';
import { rehearse } from '../../support/lab.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { startRecording } from '../../support/recordings.ts';
import { textOf } from '../../support/tree.ts';
import { bystanders } from './clients/bystanders.ts';
import { type CheckPair, type LabClient, trySend } from './clients/client.ts';
import { pairs } from './clients/pairs.ts';

const minuteMs = 60_000;

/** Time that passes in real time, and skips the sleep of clients. */
function skippingTime(store: Petstore) {
  const startMs = store.nowMs - performance.now();
  let skippedMs = 0;
  const now = () => Math.floor(startMs + performance.now() + skippedMs);
  Object.defineProperty(store, 'nowMs', { get: now });
  const sleep = async (ms: number) => {
    skippedMs += ms;
  };
  return { now, sleep };
}

/** Runs clients, each in its own workspace and rehearsal, and returns their report cards. */
async function startGrading(t: TestContext) {
  const store = await startPetstore(t);
  const url = `${await store.listen()}/v1`;
  const time = skippingTime(store);
  return async (name: string, client: LabClient, faults: CheckPair['faults'] = []): Promise<Report> => {
    const { key } = await store.addWorkspace(name, true);
    if (faults.length > 0) await rehearse(store, faults, { key });
    const recording = await startRecording(store, key);
    // No minute ends during a client's run, unless the client waits for it.
    await time.sleep(minuteMs - (time.now() % minuteMs));
    await client({ url, key, ...time });
    const { status, text, body } = await store.send('GET', `${recording}/report`, { key });
    assert.equal(status, 200, text);
    return body;
  };
}

test('each check passes a careful client and fails a careless one, under the faults that make it observable', async (t) => {
  const grade = await startGrading(t);
  for (const { name, level } of checks) {
    await t.test(name, async () => {
      const { faults, careful, careless, shows, result = 'failed' } = pairs[name] as CheckPair;
      const good = await grade(`careful ${name}`, careful, faults);
      const bad = await grade(`careless ${name}`, careless, faults);
      const [passed, failed] = [good, bad].map(({ checks }) => checks.find((check) => check.name === name));
      assert.ok(passed && failed);
      assert.equal(passed.result, 'passed', passed.because);
      assert.ok(passed.evidence.length > 0);
      assert.notEqual(good.verdict, 'failed', JSON.stringify(good.checks, null, 1));
      assert.equal(failed.result, result, failed.because);
      assert.deepEqual(failed.evidence, shows);
      assert.equal(failed.level, level);
    });
  }
});

test('no required check fails a careful client that looks careless', async (t) => {
  const grade = await startGrading(t);
  for (const [who, { check, faults, client }] of Object.entries(bystanders)) {
    await t.test(`${check}: ${who}`, async () => {
      const { verdict, checks } = await grade(who.slice(0, 40), client, faults);
      assert.notEqual(verdict, 'failed', JSON.stringify(checks, null, 1));
    });
  }
});

test('a check names each fault that makes it observable', async (t) => {
  const grade = await startGrading(t);
  const client: LabClient = async (api) => {
    // Repeats each request at once, whatever its result.
    const create = { method: 'POST', body: { name: 'Dragons' }, headers: { 'Idempotency-Key': 'a' } };
    for (const sent of [{}, {}, create, create]) await trySend(api, '/categories', sent);
  };
  const observed = async (name: string, faults?: CheckPair['faults']) =>
    (await grade(`under ${name}`, client, faults)).checks.filter(({ result }) => result !== 'not_observed');
  const always = (await observed('nothing')).map(({ name }) => name);
  const parameters: Record<string, object> = {
    'near-limit': { remaining: 1 },
    slow: { bytesPerSecond: 100_000 },
    delay: { delayMs: 1 },
    stall: { silenceMs: 50 },
    'no-answer': { silenceMs: 50 },
  };
  for (const fault of faultNames) {
    for (const { name } of await observed(fault, [{ fault, ...parameters[fault] }])) {
      const { faults } = checks.find((check) => check.name === name) as (typeof checks)[number];
      assert.ok(always.includes(name) || faults.includes(fault), `name ${fault} in the faults of ${name}`);
    }
  }
});

test('every check has both clients, existing faults and guides, and a unique name', () => {
  assert.deepEqual(Object.keys(pairs).sort(), checks.map(({ name }) => name).sort());
  const required = checks.filter(({ level }) => level === 'required').map(({ name }) => name);
  assert.deepEqual([...new Set(Object.values(bystanders).map(({ check }) => check))].sort(), required.sort());
  const guideNames = guides(baseUrl).map(({ name }) => name);
  for (const { faults, guide } of checks) {
    for (const fault of faults) assert.ok(faultNames.includes(fault), fault);
    assert.ok(guideNames.includes(guide), guide);
  }
});

test('docs/checks.md matches the checks', () => {
  assert.equal(textOf('docs/checks.md'), checksPage(), 'Run "npm run generate".');
});

test('the version of the checks increases when their meaning changes', () => {
  const meaning = checks.map(({ name, level, asks, judged, unseen }) => [name, level, asks, judged, unseen]);
  const versions = [
    '4a478b9a8229',
    '168a33f76200',
    'a263e6f7fa08',
    'aa10a2ab3a6e',
    'bc371204bd11',
    'b350c7f3c16f',
  ];
  const now = hash('sha256', JSON.stringify(meaning)).slice(0, 12);
  assert.equal(versions.at(-1), now, 'Raise checksVersion, and add a line.');
  assert.equal(versions.length, checksVersion);
});
