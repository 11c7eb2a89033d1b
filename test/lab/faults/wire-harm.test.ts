import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeKey } from '../../../src/access/keys/store.ts';
import { maxDelayed } from '../../../src/lab/lab-bounds.ts';
import { pick, randomFrom } from '../../support/crash/random.ts';
import { startFromCode } from '../../support/from-code.ts';
import { performedOf, rehearse } from '../../support/lab.ts';
import { ample, type Petstore, startListening } from '../../support/petstore.ts';
import { openRaw, partsOf, rawRequest } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';
import { connectionsOf, countDragons, dragons, loggedStatuses } from '../../support/wire.ts';

const longMs = 30_000;
/** Less than the delays would last. The rest is for busy machines. */
const soonMs = 25_000;
/** The most requests with unread responses on one connection. */
const maxUnread = 32;
const ok = /^HTTP\/1.1 200 /;
const harmful = ['reset', 'lost-answer', 'truncated', 'slow', 'delay', 'stall', 'no-answer'];
/** Parameters that make responses slow enough for clients to leave meanwhile, and parameters that hardly delay. */
const slowly: Partial<Record<string, object>> = {
  slow: { bytesPerSecond: 20_000 },
  delay: { delayMs: 20 },
  stall: { silenceMs: 20 },
  'no-answer': { silenceMs: 20 },
};
const quickly: Partial<Record<string, object>> = {
  slow: { bytesPerSecond: 1_000_000 },
  stall: { silenceMs: 5 },
  'no-answer': { silenceMs: 5 },
};

/** Creates the category after a delay, and returns once the delay has begun. */
async function createLate(t: TestContext, store: Petstore, delayMs: number, key = store.key) {
  const { id } = await rehearse(store, [{ fault: 'delay', operation: 'createCategory', delayMs }], { key });
  const client = openRaw(t, store);
  client.send(rawRequest({ key }, 'POST', '/categories', dragons));
  await until(async () => (await performedOf(store, id, key))[0] === 1);
  return client;
}

test('a delayed request whose client disconnects is processed at once, and recorded once', async (t) => {
  const store = await startListening(t);
  const client = await createLate(t, store, longMs);
  assert.equal(await countDragons(store), 0);
  client.socket.resetAndDestroy();
  await until(async () => (await countDragons(store)) === 1);
  assert.deepEqual(loggedStatuses(store, 'delay'), [0]);
});

test('a delayed request is not processed once its key was revoked, whether its client waits or disconnects', async (t) => {
  const store = await startListening(t);
  for (const leaves of [false, true]) {
    const { id: keyId, key } = await store.addKey('pro');
    const client = await createLate(t, store, leaves ? longMs : 300, key);
    await store.db.write((sql) => revokeKey(sql, keyId, store.nowMs));
    if (leaves) client.socket.resetAndDestroy();
    else await until(() => /^HTTP\/1.1 401 [\s\S]*"unauthorized"/.test(client.text));
    await until(() => loggedStatuses(store, 'delay').length === (leaves ? 2 : 1));
    await sleep(50);
    assert.equal(await countDragons(store), 0);
  }
});

test('a delayed request is still processed when a new rehearsal starts', async (t) => {
  const store = await startListening(t);
  const client = await createLate(t, store, 300);
  await rehearse(store, ['reset']);
  await until(() => client.text.startsWith('HTTP/1.1 201 '));
});

test('an incomplete body uses up no delay', async (t) => {
  const store = await startListening(t);
  const { id } = await rehearse(store, [{ fault: 'delay', operation: 'createCategory', delayMs: 1 }]);
  const client = openRaw(t, store);
  client.send(rawRequest(store, 'POST', '/categories', dragons).slice(0, -3));
  await sleep(50);
  client.socket.resetAndDestroy();
  assert.deepEqual([await performedOf(store, id), await countDragons(store)], [[0], 0]);
  assert.equal((await store.call('POST', '/categories', dragons)).status, 201);
  assert.deepEqual(await performedOf(store, id), [1]);
});

test('a client that leaves during a slow response is logged once', async (t) => {
  const store = await startListening(t);
  await rehearse(store, [{ fault: 'slow', bytesPerSecond: 1 }]);
  const client = openRaw(t, store);
  client.send(rawRequest(store, 'GET', '/pets'));
  await until(() => ok.test(client.text));
  client.socket.resetAndDestroy();
  await until(() => loggedStatuses(store, 'slow').length > 0);
  assert.deepEqual(loggedStatuses(store, 'slow'), [0]);
  assert.equal((await store.call('GET', '/pets')).status, 200);
});

test(`a key has at most ${maxDelayed} delayed requests; one more ends the delay of the oldest`, async (t) => {
  const store = await startListening(t);
  const late = { fault: 'delay', operation: 'getPet', delayMs: longMs };
  const { id } = await rehearse(store, [{ ...late, times: 1_000 }]);
  const { key } = await store.addKey('enterprise', ample);
  await rehearse(store, [late], { key });
  const other = openRaw(t, store);
  other.send(rawRequest({ key }, 'GET', '/pets/1'));
  const clients = Array.from({ length: maxDelayed + 50 }, () => openRaw(t, store));
  for (const client of clients) client.send(rawRequest(store, 'GET', '/pets/1'));
  await until(async () => (await performedOf(store, id))[0] === clients.length);
  const answered = () => clients.filter(({ text }) => ok.test(text)).length;
  await until(() => answered() === 50);
  await sleep(50);
  assert.equal(answered(), 50);
  assert.equal(other.text, '');
  const closed = store.app.close();
  await until(() => answered() === clients.length);
  for (const { socket } of [other, ...clients]) socket.destroy();
  await closed;
});

test('a service that stops responds to delayed requests first', async (t) => {
  const store = await startFromCode(t);
  const rehearsal = await store.rehearse([
    { fault: 'delay', operation: 'getPet', delayMs: longMs },
    { fault: 'slow', operation: 'listPets', bytesPerSecond: 1 },
  ]);
  const port = Number(new URL(store.baseUrl).port);
  const at = { connect: () => connect({ port, host: '127.0.0.1', allowHalfOpen: true }) };
  const [delayed, slow] = [openRaw(t, at), openRaw(t, at)];
  delayed.send(rawRequest(store, 'GET', '/pets/1'));
  slow.send(rawRequest(store, 'GET', '/pets'));
  await until(async () => ok.test(slow.text) && (await rehearsal.performed('delay')) === 1);
  const startMs = performance.now();
  await store.stop();
  assert.ok(performance.now() - startMs < soonMs);
  await Promise.all([delayed.ended(), slow.ended()]);
  for (const { text } of [delayed, slow]) {
    assert.match(text, ok);
    const { announced, body } = partsOf(text);
    assert.equal(body.length, announced);
  }
});

for (const [fault, answersOf] of [
  ['reset', (place: number) => place],
  ['lost-answer', (place: number) => place],
  ['no-answer', (place: number) => place],
  ['truncated', (place: number) => place + 1],
  ['stall', (place: number) => place + 1],
  ['slow', () => maxUnread],
  // The connection is never idle.
  ['stale-connection', () => maxUnread],
] as const) {
  test(`${fault} of one of many pipelined requests affects at most their connection`, async (t) => {
    const store = await startListening(t);
    const get = rawRequest(store, 'GET', '/pets/1');
    const parameters = quickly[fault];
    for (const place of [0, 1, 2]) {
      await rehearse(store, [{ fault, operation: 'listPets', ...parameters }]);
      const client = openRaw(t, store);
      const list = rawRequest(store, 'GET', '/pets');
      client.send([...Array(place).fill(get), list, ...Array(40).fill(get)].join(''));
      await client.ended();
      const answers = client.text.split(/(?<=.)(?=HTTP\/1\.1 )/s).filter((text) => text !== '');
      // Earlier responses may be lost with the connection.
      const atMost = answersOf(place);
      assert.ok(answers.length <= atMost, `${answers.length} answers`);
      const isReset = ['reset', 'lost-answer', 'no-answer', 'stall'].includes(fault);
      if (!isReset) assert.equal(answers.length, atMost);
      const isWhole = answers.map(partsOf).map(({ announced, body }) => announced === body.length);
      const isHalved = ['truncated', 'stall'].includes(fault) && answers.length > place;
      assert.equal(isWhole.indexOf(false), isHalved ? place : -1);
    }
    assert.equal((await store.call('GET', '/pets/1')).status, 200);
  });
}

for (const fault of [...harmful, 'gateway-timeout'])
  test(`each use of ${fault} is logged once, whenever its client leaves`, async (t) => {
    const store = await startListening(t);
    const { id } = await rehearse(store, [{ fault, times: 1_000, ...slowly[fault] }]);
    const random = randomFrom(1);
    const texts = [rawRequest(store, 'GET', '/pets'), rawRequest(store, 'POST', '/categories', dragons)];
    const leave = async () => {
      const { socket } = openRaw(t, store);
      socket.write(pick(texts, random));
      await sleep(random(40));
      socket.resetAndDestroy();
    };
    const total = async () => (await performedOf(store, id))[0];
    // On a busy machine all others may disconnect before anything begins.
    const stay = async () => {
      const { socket } = openRaw(t, store);
      socket.write(texts[0] as string);
      await until(async () => (await total()) !== 0);
      socket.resetAndDestroy();
    };
    await Promise.all([stay(), ...Array.from({ length: 60 }, leave)]);
    await until(async () => (await connectionsOf(store)) === 0);
    // The requests of clients that disconnected are still performed, so both counts grow for a while.
    let agreed = 0;
    await until(async () => {
      const loggedCount = loggedStatuses(store, fault).length;
      agreed = loggedCount === (await total()) ? agreed + 1 : 0;
      return agreed === 20;
    });
    assert.notEqual(await total(), 0);
  });

test('200 connections that are cut from both sides at random affect no other connection', async (t) => {
  const store = await startListening(t, { timeLimits: { lingerMs: 50 } });
  const random = randomFrom(20_261_122);
  const faults = [...harmful, 'stale-connection'];
  const keys = await Promise.all(
    faults.map(async (fault) => {
      const { key } = await store.addKey('enterprise', ample);
      await rehearse(store, [{ fault, times: 10_000, ...slowly[fault] }], { key });
      return key;
    }),
  );
  const timers = () => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length;
  const before = timers();
  const requests: [method: string, path: string, options?: object][] = [
    ['GET', '/pets'],
    ['POST', '/categories', dragons],
    ['DELETE', '/pets/9'],
    ['GET', '/store/events/stream'],
    ['GET', '/pets/999'],
  ];
  let left = 200;
  // On a busy machine some faults act late.
  const haveAllStruck = () => faults.every((fault) => loggedStatuses(store, fault).length > 0);
  const client = async () => {
    while (left-- > 0 || !haveAllStruck()) {
      const key = pick(keys, random);
      const [method, path, options] = pick(requests, random);
      const request = rawRequest({ key }, method, path, options);
      const raw = openRaw(t, store);
      const text = request.repeat(1 + random(3));
      const heard = () => new Promise((resolve) => raw.socket.once('data', resolve).once('close', resolve));
      const first = heard();
      raw.send(request);
      if (random(2) === 0) await first;
      const second = heard();
      const isWhole = random(4) !== 0;
      raw.send(isWhole ? text : text.slice(0, -random(40)));
      // Some wait until the fault has acted, however busy the machine is.
      const soon = sleep(random(30));
      await (isWhole && random(2) === 0 ? Promise.race([second, sleep(500)]) : soon);
      if (random(2) === 0) raw.socket.resetAndDestroy();
      else raw.socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: 20 }, client));
  await until(async () => (await connectionsOf(store)) === 0);
  await until(() => timers() <= before);
  assert.equal((await store.call('GET', '/pets')).status, 200);
  const lines = store.log.map((line) => JSON.parse(line));
  const ids = lines.filter(({ faults }) => faults).map(({ reqId }) => reqId);
  assert.equal(new Set(ids).size, ids.length, 'each is logged once');
  assert.ok(!store.log.some((line) => line.includes('"level":"error"')));
});
