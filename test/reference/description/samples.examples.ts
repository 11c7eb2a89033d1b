import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { hashKey } from '../../../src/access/keys/store.ts';
import { NewAccount } from '../../../src/accounts/schema.ts';
import type { Quota } from '../../../src/foundation/settings/plans.ts';
import type { PlannedFault } from '../../../src/lab/rehearsals/schema.ts';
import type { CodeSample } from '../../../src/reference/description/samples.ts';
import { exampleOf } from '../../../src/reference/description/schemas.ts';
import { newInvite, newMember } from '../../support/accounts.ts';
import { accountsApi, apis } from '../../support/description.ts';
import { fillLab } from '../../support/fill-lab.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { rehearse } from '../../support/lab.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { freePort } from '../../support/port.ts';
import { needs, pythonWithRequests, working } from '../../support/programs.ts';
import { startRecording } from '../../support/recordings.ts';
import { fill } from '../../support/resources.ts';

const run = promisify(execFile);
const atOnce = availableParallelism();

/** The command that runs a sample file, by the label of the sample. */
const runners: Record<string, { file: string; command: string | undefined }> = {
  cURL: { file: 'sample.sh', command: working('curl', ['--version']) && working('bash', ['--version']) },
  JavaScript: { file: 'sample.mjs', command: process.execPath },
  Python: { file: 'sample.py', command: pythonWithRequests },
};
const labels = Object.keys(runners);
const needsAll = (...some: string[]) =>
  needs(
    some.every((label) => runners[label]?.command),
    `program that runs samples in ${some.join(', ')}`,
  );

interface Sample extends CodeSample {
  id: string;
  /** The documented success status. */
  status: string;
}

const allApis = [...apis, accountsApi];

async function servedSamples(store: Petstore): Promise<Sample[]> {
  type Described = { operationId: string; responses: object; 'x-codeSamples': CodeSample[] };
  const bodies = await Promise.all(
    ['/v1', '/lab', '/accounts'].map(
      async (start) => (await store.send('GET', `${start}/openapi.json`, { key: null })).body,
    ),
  );
  const items = bodies.flatMap(({ paths }) => Object.values<Record<string, Described>>(paths));
  return items.flatMap(Object.values<Described>).flatMap(({ operationId: id, responses, ...described }) => {
    const status = Object.keys(responses).find((status) => status.startsWith('2')) as string;
    return described['x-codeSamples'].map((sample) => ({ ...sample, id, status }));
  });
}

/** A store whose description has its real URL. */
async function startListening(t: TestContext): Promise<Petstore> {
  const port = await freePort();
  const store = await startPetstore(t, { seed: false, baseUrl: `http://127.0.0.1:${port}/v1` });
  await store.listen(port);
  return store;
}

/** The output of a sample. */
async function outputOf(folder: string, { id, label, source }: Sample, key: string): Promise<string> {
  const { file, command } = runners[label] as { file: string; command: string };
  const path = join(folder, `${id}-${file}`);
  writeFileSync(path, source);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PETSTORE_API_KEY: key };
  return (await run(command, [path], { env, timeout: 20_000 })).stdout;
}

test('every operation has a sample in each language, which names its requirements and fits into a narrow page', async (t) => {
  const samples = await servedSamples(await startPetstore(t, { seed: false }));
  const ids = allApis.flatMap(({ operations }) => operations.map(({ id }) => id));
  assert.deepEqual(
    samples.map(({ id, label }) => `${id} ${label}`).sort(),
    ids.flatMap((id) => labels.map((label) => `${id} ${label}`)).sort(),
  );
  for (const { id, label, source } of samples) {
    if (label === 'Python') assert.match(source, /^# Needs requests: pip install requests\n/, id);
    for (const line of source.split('\n'))
      assert.ok(
        allApis.reduce((text, { url }) => text.replace(url, ''), line).length <= 72,
        `${id}: ${line}`,
      );
  }
});

for (const label of labels)
  test(`every ${label} sample gets the status that its operation documents`, needsAll(label), async (t) => {
    const store = await startListening(t);
    const folder = temporaryFolder(t);
    const samples = (await servedSamples(store)).filter(
      (sample) => sample.label === label && !isOfAccounts(sample),
    );
    const next = samples.values();
    const work = async () => {
      for (const sample of next) {
        const { key } = await store.addWorkspace(sample.id, true);
        await fill(store, key);
        await fillLab(store, key);
        // Samples of the stream wait for an event.
        const happening = setInterval(() => {
          if (sample.id === 'streamEvents')
            void store.call('POST', '/categories', { key, body: { name: 'Dragons' } });
        }, 500);
        const output = await outputOf(folder, sample, key).finally(() => clearInterval(happening));
        const status = /^(?:HTTP\/1\.1 )?(\d{3})\b/.exec(output)?.[1];
        assert.equal(status, sample.status, `${sample.id}\n${sample.source}\n${output}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  });

const isOfAccounts = ({ id }: Sample) => accountsApi.operations.some((operation) => operation.id === id);

for (const label of labels)
  test(
    `every ${label} sample about accounts gets the status that it documents`,
    needsAll(label),
    async (t) => {
      const store = await startListening(t);
      const { id } = await newInvite(store);
      const { invite } = exampleOf(NewAccount, true) as { invite: string };
      await store.db.write((sql) => sql`update invites set hash = ${hashKey(invite)} where id = ${id}`);
      const samples = (await servedSamples(store)).filter(
        (sample) => sample.label === label && isOfAccounts(sample),
      );
      for (const sample of samples) {
        const { key } = await newMember(store, { upgrades: ['free', 'pro'] });
        const output = await outputOf(temporaryFolder(t), sample, key);
        const status = /^(?:HTTP\/1\.1 )?(\d{3})\b/.exec(output)?.[1];
        assert.equal(status, sample.status, `${sample.id}\n${sample.source}\n${output}`);
      }
    },
  );

/** A store, a sample, and a key with a used-up window. */
async function prepareRefusal(t: TestContext, label: string, quota: Quota) {
  const store = await startListening(t);
  store.nowMs = Date.parse('2026-06-01T12:00:59Z');
  const { key } = await store.addKey('enterprise', quota);
  assert.equal((await store.call('GET', '/pets', { key })).status, 200);
  const statuses: number[] = [];
  store.app.server.on('request', (_request, response) =>
    response.on('finish', () => {
      statuses.push(response.statusCode);
      store.nowMs += 1_000;
    }),
  );
  const samples = await servedSamples(store);
  const sample = samples.find((sample) => sample.label === label && sample.id === 'listPets') as Sample;
  return { sample, key, statuses };
}

// They spend most of their time waiting.
describe('refusals', { concurrency: true }, () => {
  for (const label of labels) {
    test(
      `a ${label} sample that gets 429 waits for Retry-After, and then succeeds`,
      needsAll(label),
      async (t) => {
        const { sample, key, statuses } = await prepareRefusal(t, label, { perMinute: 1, perDay: 10 });
        const startedMs = performance.now();
        assert.match(await outputOf(temporaryFolder(t), sample, key), /\b200\b/);
        assert.deepEqual(statuses, [429, 200]);
        assert.ok(performance.now() - startedMs >= 1_000, 'it waited for a second');
      },
    );

    test(`a ${label} sample does not wait a day`, needsAll(label), async (t) => {
      const { sample, key, statuses } = await prepareRefusal(t, label, { perMinute: 10, perDay: 1 });
      await assert.rejects(outputOf(temporaryFolder(t), sample, key));
      assert.deepEqual(statuses, [429]);
    });
  }
});

/** The temporary refusals, and the checks that the sample passes then. */
const rehearsals: { rehearsed: PlannedFault; checks: string[] }[] = [
  { rehearsed: { fault: 'rate-limited-date', operation: 'listPets' }, checks: ['retry-after.obeyed'] },
  // A request without a body. If a body was not read, the service cannot know whether the next request is the same.
  { rehearsed: { fault: 'unavailable', operation: 'getInventory' }, checks: ['retry-after.obeyed'] },
  {
    // A third wait shows that waits grow, even on a busy machine.
    rehearsed: { fault: 'internal-error', operation: 'placeOrder', times: 3 },
    checks: ['backoff.grows', 'idempotency.same-key-on-retry'],
  },
  {
    rehearsed: { fault: 'reset', operation: 'createPet' },
    checks: ['failures.retried', 'idempotency.same-key-on-retry'],
  },
  { rehearsed: { fault: 'banned', operation: 'deleteCategory' }, checks: ['ban.stops'] },
];

/** The report card of a recorded sample, and its last status. */
async function reportOf(store: Petstore, folder: string, sample: Sample, rehearsed: PlannedFault) {
  const { key } = await store.addWorkspace(`${rehearsed.fault} ${sample.label}`, true);
  await fill(store, key);
  await rehearse(store, [rehearsed], { key });
  const recording = await startRecording(store, key);
  const output = await outputOf(folder, sample, key).catch(({ stdout }) => stdout as string);
  const { body: report } = await store.send('GET', `${recording}/report`, { key });
  const { passed = [], failed = [] } = Object.groupBy(
    report.checks as { name: string; result: string }[],
    ({ result }) => result,
  );
  const last = [...output.matchAll(/^(?:HTTP\/1\.1 )?(\d{3})\b/gm)].at(-1)?.[1];
  return { last, passed: passed.map(({ name }) => name), failed: failed.map(({ name }) => name) };
}

/** curl does not retry bans, and can retry broken connections only together with every refusal. */
const givesUp: Record<string, { last: string | undefined; failed: string[] }> = {
  banned: { last: '403', failed: [] },
  reset: { last: undefined, failed: ['failures.retried'] },
};

test(
  'under limits, bans, failures and resets the samples pass every check of the lab that applies',
  needsAll(...labels),
  async (t) => {
    const store = await startListening(t);
    Object.defineProperty(store, 'nowMs', { get: () => Date.now() });
    const folder = temporaryFolder(t);
    const samples = await servedSamples(store);
    const next = rehearsals
      .flatMap((rehearsal) =>
        samples
          .filter(({ id }) => id === rehearsal.rehearsed.operation)
          .map((sample) => ({ ...rehearsal, sample })),
      )
      .values();
    const work = async () => {
      for (const { rehearsed, checks, sample } of next) {
        const { fault } = rehearsed;
        const title = `${fault} on ${sample.id} in ${sample.label}`;
        const { last, passed, failed } = await reportOf(store, folder, sample, rehearsed);
        const given = sample.label === 'cURL' ? givesUp[fault] : undefined;
        assert.deepEqual(failed, given?.failed ?? [], title);
        assert.equal(last, given ? given.last : sample.status, title);
        const missing = checks.filter((check) => !passed.includes(check));
        if (!given) assert.deepEqual(missing, [], `${title}: ${passed}`);
      }
    };
    await Promise.all(Array.from({ length: 4 * atOnce }, work));
  },
);
