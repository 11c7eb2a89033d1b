import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { performedOf, rehearse } from '../../support/lab.ts';
import { type Petstore, startListening } from '../../support/petstore.ts';
import { recordedIn, recordingAt, startRecording } from '../../support/recordings.ts';
import { until } from '../../support/until.ts';

/** Sends a request on a connection of its own. */
function open(t: TestContext, petstore: Petstore, path = '/pets/1'): Socket {
  const socket = petstore.connect(`GET /v1${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${petstore.key}\r\n\r\n`);
  t.after(() => socket.destroy());
  return socket;
}

/** A store that listens, and is recorded. */
async function startRecorded(t: TestContext) {
  const petstore = await startListening(t);
  return { petstore, recording: await startRecording(petstore) };
}

/** The same, with a request that a delay holds back. */
async function startDelayed(t: TestContext, delayMs: number) {
  const { petstore, recording } = await startRecorded(t);
  const { id } = await rehearse(petstore, [{ fault: 'delay', operation: 'getPet', delayMs }]);
  const socket = open(t, petstore);
  await until(async () => (await performedOf(petstore, id))[0] === 1);
  return { petstore, recording, socket };
}

const leaving = {
  closes: (socket: Socket) => socket.end(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
};

for (const [how, leave] of Object.entries(leaving))
  test(`a client that ${how} its connection before its response is recorded once as left, also at the end of a recording`, async (t) => {
    const { petstore, recording, socket } = await startDelayed(t, 800);
    leave(socket);
    await until(async () => (await recordingAt(petstore, recording)).requests === 1);
    assert.equal((await petstore.send('POST', `${recording}/end`)).body.requests, 1);
    const [{ left, status, fault, durationMs, operation }] = await recordedIn(petstore, recording);
    assert.deepEqual([left, status, fault, operation], [true, undefined, 'delay', 'getPet']);
    assert.ok(durationMs > 0 && durationMs < 800, String(durationMs));
    const { entries } = (await petstore.send('GET', `${recording}/har`)).body.log;
    assert.deepEqual([entries[0].comment, entries[0].response.status], ['1 delay client disconnected', 0]);
    // The operation is still performed, and not recorded again.
    await setTimeout(800);
    assert.equal((await recordingAt(petstore, recording)).requests, 1);
  });

test('a client that closes its half is recorded as left, with the response that it gets', async (t) => {
  const { petstore, recording, socket } = await startDelayed(t, 300);
  socket.end();
  const [answer] = await once(socket.setEncoding('utf8'), 'data');
  assert.match(answer, /^HTTP\/1.1 200 /);
  const [{ left, status }] = await recordedIn(petstore, recording);
  assert.deepEqual([left, status], [true, 200]);
});

test('an ended recording stores no request that ends later, and counts one that began before as left out', async (t) => {
  const { petstore, recording, socket } = await startDelayed(t, 300);
  const ended = await petstore.send('POST', `${recording}/end`);
  assert.deepEqual([ended.body.requests, ended.body.leftOut], [0, 0]);
  petstore.nowMs += 50;
  await petstore.call('GET', '/pets/2');
  await once(socket, 'data');
  await until(async () => (await recordingAt(petstore, recording)).leftOut > 0);
  const { requests, leftOut } = await recordingAt(petstore, recording);
  assert.deepEqual([requests, leftOut], [0, 1]);
});

test('a request that began before the next recording belongs to the one before, and later requests do not', async (t) => {
  const { petstore, recording, socket } = await startDelayed(t, 300);
  await startRecording(petstore);
  petstore.nowMs += 50;
  await petstore.call('GET', '/pets/2');
  await once(socket, 'data');
  await until(async () => (await recordingAt(petstore, recording)).requests > 0);
  const [{ left, status, target }, ...rest] = await recordedIn(petstore, recording);
  assert.deepEqual([left, status, target, rest], [undefined, 200, '/v1/pets/1', []]);
});

test('a client that reads its whole response has not left, even if it then closes', async (t) => {
  const { petstore, recording } = await startRecorded(t);
  const socket = open(t, petstore);
  await once(socket, 'data');
  socket.end();
  await once(socket, 'close');
  const [{ left, status }, ...rest] = await recordedIn(petstore, recording);
  assert.deepEqual([left, status, rest], [undefined, 200, []]);
});

const followEvents = (t: TestContext, petstore: Petstore) =>
  open(t, petstore, '/store/events/stream?after=0');

/** The only recorded request, after it was recorded. */
async function onlyRecorded(petstore: Petstore, recording: string) {
  await until(async () => (await recordingAt(petstore, recording)).requests === 1);
  const [request] = await recordedIn(petstore, recording);
  return request;
}

for (const [how, leave] of Object.entries(leaving))
  test(`a stream whose client ${how} its connection is recorded at its end, with its duration and the silence before`, async (t) => {
    const { petstore, recording } = await startRecorded(t);
    const socket = followEvents(t, petstore);
    let text = '';
    socket.setEncoding('utf8').on('data', (piece) => (text += piece));
    await until(() => text.includes('event: '));
    await setTimeout(150);
    await petstore.call('POST', '/categories', { body: { name: 'Dragons' } });
    await until(() => text.includes('Dragons'));
    await setTimeout(50);
    assert.equal((await recordedIn(petstore, recording)).length, 1);
    leave(socket);
    await until(async () => (await recordingAt(petstore, recording)).requests === 2);
    const [first, stream] = await recordedIn(petstore, recording);
    const { left, status, operation, silenceMs, durationMs } = stream;
    assert.deepEqual([left, status, operation], [undefined, 200, 'streamEvents']);
    assert.ok(silenceMs >= 45 && silenceMs <= durationMs - 100, `${silenceMs} of ${durationMs}`);
    assert.ok(durationMs > first.durationMs && stream.at <= first.at);
    const { entries } = (await petstore.send('GET', `${recording}/har`)).body.log;
    assert.equal(entries[0].comment, '2', 'an HTTP Archive is in the order of time');
  });

test('the silence of a stream without events begins with its head', async (t) => {
  const { petstore, recording } = await startRecorded(t);
  await rehearse(petstore, ['stream-silent']);
  const socket = followEvents(t, petstore);
  await once(socket, 'data');
  await setTimeout(100);
  socket.end();
  const { silenceMs, durationMs, fault } = await onlyRecorded(petstore, recording);
  assert.equal(fault, 'stream-silent');
  assert.ok(silenceMs >= 95 && silenceMs <= durationMs + 1, `${silenceMs} of ${durationMs}`);
});

const serviceEnds: Record<string, { faults: Parameters<typeof rehearse>[1]; end?(store: Petstore): void }> = {
  'resets a silent one': { faults: [{ fault: 'stream-silent', streamSilenceMs: 100 }] },
  'cuts one': { faults: ['stream-cut'] },
  'ends one normally': { faults: [], end: ({ app }) => app.startOver() },
};
for (const [how, { faults, end }] of Object.entries(serviceEnds))
  test(`no silence is recorded for a stream if the service ${how}`, async (t) => {
    const { petstore, recording } = await startRecorded(t);
    if (faults.length > 0) await rehearse(petstore, faults);
    const socket = followEvents(t, petstore);
    // The client closes its side when the service has closed its own.
    socket.on('end', () => socket.end());
    const closed = new Promise((resolve) => socket.resume().once('close', resolve));
    await once(socket, 'data');
    end?.(petstore);
    await closed;
    const { silenceMs, left, operation } = await onlyRecorded(petstore, recording);
    assert.deepEqual([silenceMs, left, operation], [undefined, undefined, 'streamEvents']);
  });
