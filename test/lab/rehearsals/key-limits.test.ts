import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../../src/api/operations.ts';
import type { LabTypes } from '../../../src/client/index.ts';
import { levels } from '../../../src/lab/faults/shared/fault.ts';
import { forgetOldRehearsals } from '../../../src/lab/rehearsals/store.ts';
import { assertTouched, endRehearsal, rehearsalOf, rehearse } from '../../support/lab.ts';
import { times } from '../../support/limits.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { valuesOf } from '../../support/recordings.ts';
import { statusesOf } from '../../support/values.ts';

const dayMs = 86_400_000;

const getPets = (store: Petstore) => store.call('GET', '/pets');
const getOrders = (store: Petstore) => store.call('GET', '/store/orders');
const statuses = async (count: number, act: () => ReturnType<typeof getPets>) =>
  statusesOf(await times(count, act));

test('a rehearsal has from 1 to 100 faults, and lasts ten minutes by default, and at most a day', async (t) => {
  const store = await startPetstore(t);
  const lasts = async (options?: { expiresInSeconds: number }) =>
    Date.parse((await rehearse(store, ['unavailable'], options)).expiresAt) - store.nowMs;
  assert.equal(await lasts(), 600_000);
  assert.equal(await lasts({ expiresInSeconds: 86_400 }), dayMs);
  const statusOf = async (faults: number, expiresInSeconds?: number) => {
    const body = { faults: Array(faults).fill({ fault: 'unavailable' }), expiresInSeconds };
    return (await store.send('POST', '/lab/rehearsals', { body })).status;
  };
  assert.equal(await statusOf(1, 86_401), 400);
  assert.deepEqual([await statusOf(0), await statusOf(100), await statusOf(101)], [400, 201, 400]);
});

test('a key may send 600 requests a minute to the lab, and is not banned for more', async (t) => {
  const store = await startPetstore(t);
  const answered = await statuses(1_300, () => store.send('GET', '/lab/rehearsals'));
  assert.deepEqual(answered, [...Array(600).fill(200), ...Array(700).fill(429)]);
  store.nowMs += 60_000;
  assert.equal((await store.send('GET', '/lab/rehearsals')).status, 200);
});

test('an invalid rehearsal is refused, and the message says where and why', async (t) => {
  const store = await startPetstore(t);
  const place = 'Body property faults';
  for (const [faults, message] of [
    [undefined, /^Body property faults must be .* it is missing\.$/],
    [['unavailable'], /^Body property faults.*\[0\] .*object/],
    [[{ fault: 'unavailable' }, { times: 1 }], /^Body property faults.*\[1\]\.fault .*missing\.$/],
    [
      [{ fault: 'unavailable', times: 0 }],
      /^Body property faults.*\[0\]\.times must be an integer from 1 to 10000\.$/,
    ],
    [
      [
        { fault: 'unavailable', operation: 'getPet' },
        { fault: 'sunset', operation: 'listPets' },
      ],
      `${place}[1].operation must be one that sunset can affect; GET /faults lists them.`,
    ],
    [
      [{ fault: 'near-limit', times: 1, after: 0 }],
      `${place}[0].after must be absent: near-limit is a condition, and lasts as long as the rehearsal. ${place}[0].times must be absent: near-limit is a condition, and lasts as long as the rehearsal.`,
    ],
    [
      [{ fault: 'internal-error', retryAfterSeconds: 1 }],
      `${place}[0].retryAfterSeconds is not a parameter of internal-error, which takes none.`,
    ],
    [
      [{ fault: 'near-limit' }, { fault: 'near-limit', operation: 'listPets' }],
      `${place} must not have near-limit twice for an operation.`,
    ],
  ] as const) {
    const answer = await store.send('POST', '/lab/rehearsals', { body: { faults } });
    assert.equal(answer.status, 400);
    if (typeof message === 'string') assert.equal(answer.body.message, message);
    else assert.match(answer.body.message, message);
  }
  assert.deepEqual((await store.send('GET', '/lab/rehearsals')).body, []);
});

test('conditions for different operations apply independently', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, [
    { fault: 'near-limit', operation: 'listPets', remaining: 1 },
    { fault: 'near-limit', operation: 'listOrders', remaining: 2 },
  ]);
  assert.deepEqual(await statuses(2, () => getPets(store)), [200, 429]);
  assert.deepEqual(await statuses(3, () => getOrders(store)), [200, 200, 429]);
});

test('the catalogue lists every fault with the defaults that a rehearsal uses', async (t) => {
  const store = await startPetstore(t);
  const faults = (await store.send('GET', '/lab/faults')).body;
  assert.ok(faults.length > 0);
  for (const { name, kind, takesOperation, parameters, operations: its, ...texts } of faults) {
    const { group, level, does, goodClient, bites } = texts;
    assert.ok(group && levels.includes(level) && does && goodClient && bites);
    const given = (pick: (one: LabTypes.FaultParameter) => unknown) =>
      Object.fromEntries(parameters.map((one: LabTypes.FaultParameter) => [one.name, pick(one)]));
    const usual = given((one) => one.values?.[0] ?? one.default);
    const [fault] = (await rehearse(store, [name])).faults;
    const counted = { fault: name, ...usual, performed: 0 };
    // A ban belongs to the key, on whichever operation it was performed.
    const ofStep = { times: 1, remaining: name === 'banned' ? 1 : its.length };
    assert.deepEqual(fault, { ...counted, ...(kind === 'step' && ofStep) });
    const first = given((one) => one.values?.[0] ?? one.minimum);
    const last = given((one) => one.values?.at(-1) ?? one.maximum);
    const only = takesOperation ? [its[0], its.at(-1)] : [undefined];
    for (const values of [first, last])
      for (const operation of only) await rehearse(store, [{ fault: name, operation, ...values }]);
  }
});

test('progress is shown per operation, or per key, and is final when the rehearsal ends', async (t) => {
  const store = await startPetstore(t);
  const faults = [
    { fault: 'internal-error', times: 2 },
    { fault: 'near-limit', remaining: 7 },
  ];
  const { id } = await rehearse(store, faults, { expiresInSeconds: 60 });
  await getPets(store);
  const progressOf = async () =>
    (await rehearsalOf(store, id)).faults.map(({ performed, remaining }) => [performed, remaining]);
  assert.deepEqual(await progressOf(), [
    [1, 2 * operations.length - 1],
    [1, 7],
  ]);
  store.nowMs += 60_000;
  const over = await rehearsalOf(store, id);
  assert.deepEqual(await progressOf(), [
    [1, 0],
    [1, 7],
  ]);
  store.nowMs += 1_000;
  assert.deepEqual(await endRehearsal(store, id), over, 'it ended before');

  const next = await rehearse(store, faults);
  const { faults: ended } = await endRehearsal(store, next.id);
  assert.deepEqual([ended[0]?.remaining, ended[1]?.remaining], [0, 7]);
});

test('a request changes only the progress of its own operation', async (t) => {
  const store = await startPetstore(t);
  const { id } = await rehearse(store, Array(100).fill({ fault: 'unavailable', after: 10_000 }));
  const paths = ['/pets', '/store/orders', '/categories', '/inventory', '/store/events'];
  for (const path of paths) await store.call('GET', path);
  const { read } = store.db;
  const rows = await read`select operation, state from rehearsal_progress where rehearsal_id = ${id}`;
  assert.equal(rows.length, paths.length);
  for (const [operation, state] of rows)
    assert.ok(String(state).length < 8_192, `${operation}: ${String(state).length}`);
});

test('the newest 20 rehearsals of a key are kept, each for a day after its planned end', async (t) => {
  const store = await startPetstore(t);
  const list = async () => valuesOf((await store.send('GET', '/lab/rehearsals')).body, 'id');
  const made = await times(22, async () => {
    store.nowMs += 1;
    return (await rehearse(store, ['unavailable'])).id;
  });
  assert.deepEqual(await list(), made.toReversed().slice(0, 20));
  store.nowMs += 600_000 + dayMs - 2;
  await forgetOldRehearsals(store.db, store.nowMs);
  assert.deepEqual(await list(), made.slice(-2).toReversed());
  store.nowMs += 2;
  await forgetOldRehearsals(store.db, store.nowMs);
  assert.deepEqual(await list(), []);
  assert.equal((await getPets(store)).status, 200);
});

test('of rehearsals with the same start time, the last is kept and active', async (t) => {
  const store = await startPetstore(t);
  for (let i = 0; i < 25; i++) {
    const rehearsal = await rehearse(store, ['unavailable']);
    assertTouched(await getPets(store), rehearsal, 'unavailable');
  }
  assert.equal((await store.send('GET', '/lab/rehearsals')).body.length, 20);
});
