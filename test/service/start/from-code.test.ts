import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { type FaultPlan, type PetstoreServer, type StartOptions, startPetstore } from '../../../src/index.ts';
import { startReceiver } from '../../support/dispatching.ts';
import { call, everyAnswer, startFromCode } from '../../support/from-code.ts';
import { until } from '../../support/until.ts';

const newPet = { name: 'Smaug', categoryId: 1 };

test('a store has data, a key and a free port, and is gone at the end of its block', async () => {
  let baseUrl: string;
  {
    await using store = await startPetstore();
    ({ baseUrl } = store);
    assert.match(baseUrl, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    const { body } = await call(store, 'GET', '/pets?limit=100');
    assert.equal(body.length, 20);
    assert.equal((await call(store, 'POST', '/pets', { body: newPet })).body.id, 21);
  }
  await assert.rejects(fetch(`${baseUrl}/pets`));
});

test('options set the limits of the first key, and the initial data of the store', async (t) => {
  const policyOf = async (options: StartOptions) =>
    (await call(await startFromCode(t, options), 'GET', '/pets')).headers['ratelimit-policy'];
  assert.equal(await policyOf({ plan: 'free' }), '"minute";q=60;w=60,"day";q=1000;w=86400');
  assert.equal(await policyOf({ quota: { perMinute: 2, perDay: 3 } }), '"minute";q=2;w=60,"day";q=3;w=86400');
  assert.equal(await policyOf({}), '"minute";q=1000000;w=60,"day";q=10000000;w=86400');
  const empty = await startFromCode(t, { seed: false, lab: false });
  assert.deepEqual((await call(empty, 'GET', '/pets')).body, []);
  assert.equal((await fetch(empty.baseUrl.replace('/v1', '/lab/openapi.json'))).status, 404);
  await assert.rejects(empty.record(), /^Error: This store has no lab: it was started with lab: false\.$/);
});

for (const [options, message] of [
  [{ port: -1 }, /^port must be/],
  [{ port: 80.5 }, /^port must be/],
  [{ dataDir: '' }, /^dataDir must be/],
  [{ clock: 'slow' }, /^clock must be/],
  [{ clock: new Date('x') }, /^clock must be/],
  [{ plan: 'cheap' }, /^plan must be one of free, pro, business, enterprise, not "cheap"\.$/],
  [{ plan: 'free', quota: { perMinute: 1, perDay: 1 } }, /^The plan free has its own limits/],
  [{ port: '0' }, /^port must be an integer from 0 to 65535, not "0"\.$/],
  [{ seed: 'no' }, /^seed must be true or false, not "no"\.$/],
  [{ lab: 'off' }, /^lab must be true or false, not "off"\.$/],
  [{ enforceSunset: 1 }, /^enforceSunset must be true or false, not 1\.$/],
  [{ clock: new Date('9999-12-01T00:00:00.001Z') }, /^clock must be .* a Date from 1970 to 9999-12-01T/],
  [{ typo: 1 }, /^options must not have "typo"\. Allowed: seed, plan, quota, /],
  [{ quota: { perHour: 1 } }, /^quota must not have "perHour"\. Allowed: perMinute, perDay\.$/],
  [{ quota: null }, /^quota must be an object, not null\.$/],
  [{ quota: { perMinute: '1', perDay: 1 } }, /^quota\.perMinute must be an integer above 0, not "1"\.$/],
  [null, /^options must be an object, not null\.$/],
  [[], /^options must be an object, not \[\]\.$/],
  ['x', /^options must be an object, not "x"\.$/],
  [{ quota: { perMinute: 1 } }, /^quota\.perDay must be an integer above 0, not undefined\.$/],
] as [unknown, RegExp][]) {
  test(`an invalid option is a TypeError: ${JSON.stringify(options)}`, async () => {
    await assert.rejects(startPetstore(options as StartOptions), { name: 'TypeError', message });
  });
}

test('the stores of one process, and the workspaces of one store, are separate', async (t) => {
  const [one, other] = await Promise.all([startFromCode(t), startFromCode(t)]);
  const added = { baseUrl: one.baseUrl, ...(await one.addWorkspace('second', { seed: false, plan: 'pro' })) };
  await call(one, 'POST', '/pets', { body: newPet });
  assert.equal((await call(other, 'GET', '/pets/21')).status, 404);
  assert.deepEqual((await call(added, 'GET', '/pets')).body, []);
  assert.equal((await call({ ...other, key: one.key }, 'GET', '/pets')).status, 401);
  await assert.rejects(one.addWorkspace('second'), /The workspace second already exists/);
  await assert.rejects(one.addWorkspace('third', { plan: 'cheap' as 'free' }), TypeError);
});

test('an invalid argument of a running store is also a TypeError', async (t) => {
  const store = await startFromCode(t);
  for (const name of ['', 'A', '-a', 'a b', 'a\n', 'a'.repeat(64), null, 5])
    await assert.rejects(store.addWorkspace(name as string), {
      name: 'TypeError',
      message: `name must be 1 to 63 characters: a-z, 0-9 and "-", but no "-" at the start, not ${JSON.stringify(name)}.`,
    });
  for (const wrong of [null, 'x', { typo: 1 }, { key: 5 }, { seed: 0 }]) {
    const options = wrong as object;
    await assert.rejects(store.addWorkspace('second', options), TypeError);
    await assert.rejects(store.rehearse([{ fault: 'delay' }], options), TypeError);
    await assert.rejects(store.record(options), TypeError);
  }
  await store.addWorkspace('second');
});

test('a reset removes all earlier data', async (t) => {
  const receiver = await startReceiver(t);
  const store = await startFromCode(t, { plan: 'free', clock: new Date('2026-06-01T12:00:00Z') });
  const atStart = await everyAnswer(store);
  await store.reset();
  const added = { baseUrl: store.baseUrl, ...(await store.addWorkspace('second')) };
  const keyed = { headers: { 'idempotency-key': 'once' }, body: newPet };
  assert.equal((await call(store, 'POST', '/pets', keyed)).body.id, 21);
  await call(store, 'DELETE', '/store/orders/1');
  await call(store, 'POST', '/store/webhooks', { body: { url: receiver.url } });
  await store.rehearse([{ fault: 'new-fields' }, { fault: 'unavailable', operation: 'listCategories' }]);
  const recording = await store.record();
  await call(store, 'GET', '/pets', { key: 'unknown' });
  for (let i = 0; i < 120; i++) await call(store, 'GET', '/pets');
  assert.equal((await call(store, 'GET', '/pets')).status, 403, 'the key is banned');
  await store.clock.advance('3 days');

  await store.reset();
  assert.equal(store.clock.now(), Date.parse('2026-06-01T12:00:00Z'));
  const unknown = await call(store, 'GET', '/pets', { key: 'unknown' });
  assert.equal(unknown.headers['x-ratelimit-remaining'], '59', 'the address is as new, too');
  assert.deepEqual(await everyAnswer(store), atStart);
  assert.equal((await call(added, 'GET', '/pets')).status, 401);
  assert.equal((await call(store, 'POST', '/pets', keyed)).body.id, 21, 'and no replay');
  assert.equal((await call(store, 'POST', '/store/webhooks', { body: { url: receiver.url } })).body.id, 1);
  await recording.end();
  await assert.rejects(recording.requests(), /no recording with this recordingId/);
  await store.addWorkspace('second');
  const before = receiver.messages.length;
  await call(store, 'POST', '/pets', { body: newPet });
  await store.clock.advance(0);
  assert.equal(receiver.messages.length, before + 1, 'the new webhook is sent what is new');
});

test('requests that began before a reset have no effect after it, and streams end', async (t) => {
  const store = await startFromCode(t);
  const stream = await fetch(`${store.baseUrl}/store/events/stream`, {
    headers: { authorization: `Bearer ${store.key}` },
  });
  const rehearsal = await store.rehearse([{ fault: 'delay', operation: 'createPet', delayMs: 800 }]);
  const late = call(store, 'POST', '/pets', { body: newPet });
  await until(async () => (await rehearsal.performed()) === 1);
  await store.reset();
  assert.match(await stream.text(), /^retry: \d+\n$/);
  assert.equal((await late).status, 401);
  assert.equal((await call(store, 'POST', '/pets', { body: newPet })).body.id, 21);
});

test('a reset takes less than 20 ms of the processor', async (t) => {
  const store = await startFromCode(t);
  const tookMs: number[] = [];
  for (let i = 0; i < 9; i++) {
    await call(store, 'POST', '/pets', { body: newPet });
    const before = process.threadCpuUsage();
    await store.reset();
    const { user, system } = process.threadCpuUsage(before);
    tookMs.push((user + system) / 1_000);
  }
  assert.ok(Math.min(...tookMs) < 20, `${tookMs}`);
});

test('faults are performed and counted for the given key', async (t) => {
  const store = await startFromCode(t);
  const other = { baseUrl: store.baseUrl, ...(await store.addWorkspace('other')) };
  const faults: FaultPlan[] = [{ fault: 'rate-limited', operation: 'listPets', retryAfterSeconds: 7 }];
  await using rehearsal = await store.rehearse(faults, { key: other.key });
  assert.equal((await call(store, 'GET', '/pets')).status, 200);
  assert.equal((await call(other, 'GET', '/pets')).headers['retry-after'], '7');
  assert.equal(await rehearsal.performed('rate-limited'), 1);
  assert.equal(await rehearsal.performed('unavailable'), 0);
  assert.equal(await rehearsal.performed(), 1);
  assert.equal((await rehearsal.faults())[0]?.remaining, 0);
  await assert.rejects(
    store.rehearse([{ fault: 'rate-limited', delayMs: 1 } as unknown as FaultPlan]),
    /faults\[0\]\.delayMs is not a parameter of rate-limited/,
  );
});

test('a recording keeps requests and judges them', async (t) => {
  const store = await startFromCode(t);
  await using recording = await store.record({ name: 'list and try again' });
  await store.rehearse([{ fault: 'rate-limited' }]);
  await call(store, 'GET', '/pets');
  await call(store, 'GET', '/pets');
  for (let i = 0; i < 120; i++) await call(store, 'GET', '/categories');
  await recording.end();
  await call(store, 'GET', '/store/orders');
  const requests = await recording.requests();
  assert.equal(requests.length, 122);
  assert.equal(requests[0]?.fault, 'rate-limited');
  const { verdict, checks } = await recording.report();
  assert.equal(verdict, 'failed');
  assert.equal(checks.find(({ name }) => name === 'retry-after.obeyed')?.result, 'failed');
  assert.match(await recording.report('markdown'), /retry-after\.obeyed/);
  assert.match(await recording.report('junit'), /^<\?xml/);
});

test('a stop waits for requests in flight, can be repeated, and refuses later calls', async (t) => {
  const store = await startFromCode(t);
  const rehearsal = await store.rehearse([{ fault: 'delay', delayMs: 20_000 }]);
  const answer = call(store, 'GET', '/pets');
  await until(async () => (await rehearsal.performed()) === 1);
  const idle = connect(Number(new URL(store.baseUrl).port), '127.0.0.1');
  await once(idle, 'connect');
  const closed = once(idle.resume(), 'close');
  await Promise.all([store.stop(), store.stop(), closed]);
  assert.equal((await answer).status, 200);
  await store.stop();
  const message = 'This store was stopped.';
  await assert.rejects(store.reset(), { message });
  await assert.rejects(store.addWorkspace('late'), { message });
  await rehearsal.end();
  await assert.rejects(rehearsal.performed(), { message });
  await assert.rejects(store.rehearse([]), { message });
  await assert.rejects(store.record(), { message });
  await assert.rejects(store.clock.advance(1), { message });
});

test('a stop waits for all earlier calls, in their order', async () => {
  for (const ask of [
    (store: PetstoreServer) => [store.clock.advance(1), store.clock.advance('1 day')],
    (store: PetstoreServer) => [store.reset(), store.clock.advance(1), store.reset()],
    (store: PetstoreServer) => [store.addWorkspace('last'), store.reset(), store.addWorkspace('lost')],
    (store: PetstoreServer) => [store.record(), store.clock.advance(1), store.rehearse([{ fault: 'delay' }])],
  ]) {
    const store = await startPetstore({ clock: 'manual' });
    const asked = Promise.all(ask(store));
    await Promise.all([store.stop(), asked]);
  }
});
