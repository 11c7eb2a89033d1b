import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sql } from '../../../src/db/sql.ts';
import { maxParameters } from '../../../src/http/input.ts';
import { archiveBounds, maxWaitingReportJobs } from '../../../src/lab/lab-bounds.ts';
import { deleteOldRecordings } from '../../../src/lab/recordings/store.ts';
import { ReportJobQueue } from '../../../src/lab/report-jobs/report-jobs.ts';
import type { ReadRows } from '../../../src/lab/report-jobs/run-report-job.ts';
import { Petstore, startPetstore } from '../../support/petstore.ts';
import { openRaw, rawRequest } from '../../support/raw-client.ts';
import { fillRecording, startRecording } from '../../support/recordings.ts';
import { newReportJobWorker } from '../../support/report-job-worker.ts';
import { until } from '../../support/until.ts';
import { numbers, statusesOf } from '../../support/values.ts';
import { connectionsOf } from '../../support/wire.ts';

/** A store with an ended recording of this many requests with this body. */
async function filled(t: Parameters<typeof startPetstore>[0], count: number, body: string) {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  await petstore.call('GET', '/pets/1');
  await petstore.send('POST', `${recording}/end`);
  await petstore.send('GET', recording);
  await fillRecording(petstore, recording, count);
  await petstore.db.write((sql) => sql`update recorded_requests set body = ${body}`);
  return { petstore, recording };
}

/** The numbers of requests in all archives of a recording, one list for each. */
async function archivesOf(petstore: Petstore, recording: string) {
  const archives: { numbers: number[]; size: number }[] = [];
  for (let path: string | undefined = `${recording}/har`; path; ) {
    const { body, text, status } = await petstore.send('GET', path);
    assert.equal(status, 200, text);
    const { entries, comment } = body.log;
    const numbers = entries.map((entry: { comment: string }) => Number(entry.comment.split(' ')[0]));
    archives.push({ numbers, size: text.length });
    path = /^More: https?:\/\/[^/]+(\S+)$/.exec(comment ?? '')?.[1];
  }
  return archives;
}

test('an HTTP Archive has a bounded number of requests and size, and names the next part', async (t) => {
  const many = await filled(t, archiveBounds.requests + 7, '{}');
  const parts = await archivesOf(many.petstore, many.recording);
  assert.deepEqual(
    parts.map(({ numbers }) => numbers.length),
    [archiveBounds.requests, 7],
  );
  const [count, length] = [900, 8_000];
  const large = await filled(t, count, 'x'.repeat(length));
  const archives = await archivesOf(large.petstore, large.recording);
  assert.equal(archives.length, Math.ceil((count * length) / archiveBounds.characters));
  const listed = archives.flatMap(({ numbers }) => numbers);
  assert.deepEqual(listed, numbers(count));
  assert.ok(Math.max(...archives.map(({ size }) => size)) < 2 * archiveBounds.characters);
});

test('an HTTP Archive lists at most as many query parameters as a request may have', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  assert.equal((await petstore.call('GET', `/pets?${'a&'.repeat(1_000)}`)).status, 400);
  const { body } = await petstore.send('GET', `${recording}/har`);
  assert.equal(body.log.entries[0].request.queryString.length, maxParameters);
});

test('building a report reads no bodies, and few rows at once', async (t) => {
  const { petstore, recording } = await filled(t, 1_200, 'a body');
  const read = petstore.db.read;
  const sizes: number[] = [];
  const watched: Sql = async (...statement) => {
    const rows = await read(...statement);
    assert.ok(!rows.flat().includes('a body'));
    sizes.push(rows.length);
    return rows;
  };
  Object.defineProperty(petstore.db, 'read', { get: () => watched });
  assert.equal((await petstore.send('GET', `${recording}/report`)).status, 200);
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) >= 2_400);
  assert.ok(Math.max(...sizes) <= 250, String(sizes));
});

/** Holds each reading of rows until it is released, and counts them. */
function holdRows(petstore: Petstore) {
  const read = petstore.db.read;
  const released = Promise.withResolvers<void>();
  const held = { asked: 0, release: released.resolve };
  const holding: Sql = async (strings, ...values) => {
    if (strings.join('').includes('from recorded_requests')) {
      held.asked++;
      await released.promise;
    }
    return read(strings, ...values);
  };
  Object.defineProperty(petstore.db, 'read', { get: () => holding });
  return held;
}

const readerOf = (keyId: string, { signal } = new AbortController()) => ({
  ...{ workspaceId: 1, keyId },
  disconnected: () => signal,
});

test('one report job runs at a time, and keys take turns', async () => {
  const queue = new ReportJobQueue();
  const made: string[] = [];
  const ends = new Map<string, () => void>();
  const left: Promise<unknown>[] = [];
  const ask = (keyId: string, what: string) => {
    const reader = new AbortController();
    const reportJob = queue.run(readerOf(keyId, reader), async () => {
      made.push(keyId + what);
      await new Promise<void>((resolve) => ends.set(keyId + what, resolve));
    });
    // Each client reads its response at once.
    left.push(reportJob.then(() => reader.abort(new Error('answered'))));
  };
  for (const what of ['1', '2', '3', '4']) ask('a', what);
  for (const keyId of ['b', 'c']) ask(keyId, '1');
  for (let count = 1; count <= 6; count++) {
    await until(() => made.length === count);
    await nextTurn();
    assert.equal(made.length, count);
    ends.get(made[count - 1] as string)?.();
  }
  await Promise.all(left);
  assert.deepEqual(made, ['a1', 'b1', 'c1', 'a2', 'a3', 'a4']);
  await queue.run(readerOf('a'), async () => {});
});

test('a key has one report job in progress and at most three waiting; one more is refused', async () => {
  const queue = new ReportJobQueue();
  const made: number[] = [];
  const readers = Array.from({ length: 1 + maxWaitingReportJobs }, () => new AbortController());
  const reportJobs = readers.map((reader, i) =>
    queue.run(readerOf('a', reader), async () => {
      made.push(i);
    }),
  );
  await reportJobs[0];
  // Its client has not read the response yet.
  const refused = { code: 'rate_limited', headers: { 'Retry-After': '1' } };
  await assert.rejects(
    queue.run(readerOf('a'), async () => {}),
    refused,
  );
  const gone = assert.rejects(reportJobs[2] as Promise<void>, /gone/);
  readers[2]?.abort(new Error('gone'));
  await gone;
  const later = queue.run(readerOf('a'), async () => {
    made.push(4);
  });
  for (const i of [0, 1, 3]) {
    await reportJobs[i];
    readers[i]?.abort(new Error('answered'));
  }
  await later;
  assert.deepEqual(made, [0, 1, 3, 4]);
});

test('a failed report job does not block the next one', async () => {
  const queue = new ReportJobQueue();
  const failing = queue.run(readerOf('a'), () => Promise.reject(new Error('away')));
  const next = queue.run(readerOf('a'), async () => 'made');
  await assert.rejects(failing, /away/);
  assert.equal(await next, 'made');
});

test('a report job beyond the limit of its key gets 429', async (t) => {
  const { petstore, recording } = await filled(t, 10, '{}');
  const held = holdRows(petstore);
  const paths = ['har', 'requests', 'report', 'report/markdown', 'report/junit', 'har'];
  const answers = paths.map((path) => petstore.send('GET', `${recording}/${path}`));
  for (const { status, body, headers } of await Promise.all(answers.slice(1 + maxWaitingReportJobs)))
    assert.deepEqual([status, body.code, headers['retry-after']], [429, 'rate_limited', '1']);
  held.release();
  const made = await Promise.all(answers.slice(0, 1 + maxWaitingReportJobs));
  assert.deepEqual(statusesOf(made), Array(1 + maxWaitingReportJobs).fill(200));
});

for (const [how, leave] of [
  ['closes its side', (socket: Socket) => socket.end()],
  ['resets its connection', (socket: Socket) => socket.resetAndDestroy()],
] as const)
  test(`a report job stops for a client that ${how}, also while it waits`, async (t) => {
    const { petstore, recording } = await filled(t, 1_000, '{}');
    await petstore.listen();
    const held = holdRows(petstore);
    const clients = Array.from({ length: 3 }, () => openRaw(t, petstore));
    const asking = rawRequest(petstore, 'GET', '').replace('/v1', `${recording}/report`);
    for (const { send } of clients) send(asking);
    await until(() => held.asked === 1);
    for (const { socket } of clients) leave(socket);
    // Only then does the service know that all have left. One still waits for its rows.
    await until(async () => (await connectionsOf(petstore)) <= 1);
    held.release();
    await until(async () => (await connectionsOf(petstore)) === 0);
    // The queue is free again, and a small page succeeds.
    const { body } = await petstore.send('GET', `${recording}/requests?limit=1`);
    assert.equal(body.length, 1);
    assert.ok(held.asked <= 1 + 5, `${held.asked} slices were read`);
  });

test('report jobs of many keys that wait on one connection end with it, without a warning', async (t) => {
  const { petstore } = await filled(t, 10, '{}');
  await petstore.listen();
  const warnings: string[] = [];
  const note = ({ message }: Error) => warnings.push(message);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const asking: string[] = [];
  for (let i = 0; i < 4; i++) {
    const { key } = await petstore.addKey('free');
    const recording = await startRecording(petstore, key);
    await petstore.call('GET', '/pets/1', { key });
    const path = `${recording}/requests?limit=1`;
    asking.push(...Array(4).fill(rawRequest({ key }, 'GET', '').replace('/v1', path)));
  }
  const held = holdRows(petstore);
  const accepted = once(petstore.app.server, 'connection');
  const client = openRaw(t, petstore);
  const [connection] = await accepted;
  client.send(asking.join(''));
  await until(() => held.asked === 1);
  client.socket.end();
  await until(() => connection.readableEnded);
  held.release();
  await client.ended();
  const { body } = await petstore.send('GET', '/lab/recordings');
  assert.equal(body.length, 1);
  assert.equal(held.asked, 1);
  assert.deepEqual(warnings, []);
});

test('a report is built once for each state of its recording, and shared by all instances', async (t) => {
  const { petstore, recording } = await filled(t, 300, '{}');
  const held = holdRows(petstore);
  held.release();
  const first = await petstore.send('GET', `${recording}/report`);
  assert.equal(first.status, 200, first.text);
  const { asked } = held;
  assert.ok(asked > 0);
  const other = new Petstore(petstore.db, petstore.folder);
  other.key = petstore.key;
  t.after(() => other.app.close());
  assert.equal((await other.send('GET', `${recording}/report`)).text, first.text);
  const formOf = async (form: string) => (await petstore.send('GET', `${recording}/report/${form}`)).text;
  assert.match(await formOf('markdown'), /^# Report card/);
  assert.match(await formOf('junit'), /<testsuites/);
  assert.equal(held.asked, asked);

  await petstore.db.write((sql) => sql`update recording_reports set version = version - 1`);
  assert.equal((await petstore.send('GET', `${recording}/report`)).text, first.text);
  assert.ok(held.asked > asked, 'other checks build it again');
  await petstore.send('DELETE', recording);
  await deleteOldRecordings(petstore.db, petstore.nowMs);
  assert.deepEqual(await petstore.db.read`select * from recording_reports`, []);
});

test('the report of a recording that has grown is built again', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const covered = async () => {
    const { body } = await petstore.send('GET', `${recording}/report`);
    return body.checks.find(({ name }: { name: string }) => name === 'operations.covered').because;
  };
  await petstore.call('GET', '/pets/1');
  assert.match(await covered(), /^1 of /);
  await petstore.call('GET', '/pets');
  assert.match(await covered(), /^2 of /);
});

for (const what of ['report', 'har', 'requests'])
  test(`a recording that is removed during a report job is 404: ${what}`, async (t) => {
    const { petstore, recording } = await filled(t, 300, '{}');
    const held = holdRows(petstore);
    const reportJob = petstore.send('GET', `${recording}/${what}`);
    await until(() => held.asked === 1);
    await petstore.send('DELETE', recording);
    held.release();
    const { status, body } = await reportJob;
    assert.deepEqual([status, body.code], [404, 'not_found']);
  });

test('other requests run while a recording is read', async (t) => {
  const { petstore, recording } = await filled(t, 2_000, '{}');
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await petstore.send('GET', `${recording}/report`);
  clearImmediate(next);
  // The rows of links and of facts are read in slices.
  assert.ok(turns > 2_000 / 250 + 2_000 / 50, `${turns}`);
});

const task = {
  ...({ kind: 'report', workspaceId: 1, recordingId: 'rec_1' } as const),
  ...{ requests: 1_000_000, beganAtMs: 0 },
};
const { signal } = new AbortController();

/** A worker that stops with the test. */
function startWorker(t: TestContext, ...bounds: Parameters<typeof newReportJobWorker>) {
  const worker = newReportJobWorker(...bounds);
  t.after(() => worker.close());
  return worker;
}

test('a thread that runs out of memory fails its report job, and the next gets a new thread', async (t) => {
  const worker = startWorker(t, { limitMs: 300_000, maxMiB: 24 });
  let number = 0;
  const endless: ReadRows = async () =>
    Array.from({ length: 500 }, () => [++number, number, 1, `${'x'.repeat(2_000)}${number}.`]);
  await assert.rejects(worker.make(task, endless, signal), /The thread that reads recordings failed/);
  const { bytes } = await worker.make(task, async () => [], signal);
  assert.equal(JSON.parse(new TextDecoder().decode(bytes)).verdict, 'incomplete');
});

test('a report job that takes too long fails', async (t) => {
  const worker = startWorker(t, { limitMs: 200, maxMiB: 512 });
  const endless = worker.make(task, () => new Promise(() => {}), signal);
  await assert.rejects(endless, /took more than 200 ms/);
});

test('a report job of a reader who has already left makes no report', async (t) => {
  const left = AbortSignal.abort(new Error('gone'));
  await assert.rejects(
    startWorker(t).make(task, async () => [], left),
    /^Error: gone$/,
  );
});

test('a report job fails if the storage fails, with the same error', async (t) => {
  const worker = startWorker(t);
  const away = worker.make(task, () => Promise.reject(new Error('away')), signal);
  await assert.rejects(away, /^Error: away$/);
  const leaving = new AbortController();
  const leave: ReadRows = async () => {
    leaving.abort(new Error('gone'));
    return [[1, 1, 1, 'a.b.']];
  };
  await assert.rejects(worker.make(task, leave, leaving.signal), /^Error: gone$/);
});
