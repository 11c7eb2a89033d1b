import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentKinds } from '../../../src/db/tables.ts';
import { countToday } from '../../../src/http/idempotency.ts';
import { maxResetRows, maxResetsPerDay } from '../../../src/lab/lab-bounds.ts';
import { resetWorkspace } from '../../../src/store/demo/seed.ts';
import { addCategories, rehearse } from '../../support/lab.ts';
import { restart } from '../../support/limits.ts';
import { type CallOptions, type Petstore, startPetstore } from '../../support/petstore.ts';
import { recordingAt, startRecording } from '../../support/recordings.ts';
import { petstore as runCommand } from '../../support/service.ts';
import { numbers, statusesOf } from '../../support/values.ts';

const nothing = Object.fromEntries(contentKinds.map((kind) => [kind, 0]));
const demonstration = { ...nothing, categories: 7, pets: 20, orders: 8 };

const resetNow = (petstore: Petstore, options: CallOptions = {}) =>
  petstore.send('POST', '/lab/workspace/reset', options);

/** Resets one second after the last reset. */
function reset(petstore: Petstore, options: CallOptions = {}) {
  petstore.aheadMs += 1_000;
  return resetNow(petstore, options);
}

const storeOf = async (petstore: Petstore, key = petstore.key) => {
  const paths = ['/categories', '/pets', '/store/orders'];
  const answers = await Promise.all(paths.map((path) => petstore.call('GET', `${path}?limit=100`, { key })));
  return answers.map(({ body }) => body);
};

test('a reset restores the demo data for all keys of the workspace, and keeps keys and webhooks', async (t) => {
  const petstore = await startPetstore(t);
  const other = await petstore.addWorkspace('other', true);
  await petstore.call('DELETE', '/pets/2', { key: other.key });
  const before = await storeOf(petstore);
  const apart = await storeOf(petstore, other.key);
  const { key, id } = await petstore.addKey('free');
  const recording = await startRecording(petstore, key);
  const rehearsing = await petstore.addKey('free');
  await rehearse(petstore, ['internal-error'], { key: rehearsing.key });
  await petstore.call('DELETE', '/pets/5', { key });
  await petstore.call('POST', '/categories', { key, body: { name: 'Dragons' } });
  const hook = { key, body: { url: 'http://127.0.0.1:9/hook' } };
  const webhook = await petstore.call('POST', '/store/webhooks', hook);
  assert.equal(webhook.status, 201, webhook.text);
  assert.notDeepEqual(await storeOf(petstore), before);

  const { status, body, headers, text } = await reset(petstore, { key });
  assert.equal(status, 200, text);
  assert.deepEqual(body, demonstration);
  const events = await petstore.db.read`select type from events where workspace_id = 1 order by id`;
  assert.deepEqual(events.slice(-2), [['workspace.reset'], ['workspace.seeded']]);
  const event = (await petstore.call('GET', '/store/events?type=workspace.reset')).body[0];
  assert.equal(event.requestId, headers['x-request-id']);
  assert.deepEqual(await storeOf(petstore), before, 'with the ids from before, for the other key');
  assert.deepEqual(await storeOf(petstore, other.key), apart);
  assert.equal((await petstore.call('GET', `/store/webhooks/${webhook.body.id}`, { key })).status, 200);
  assert.equal((await recordingAt(petstore, recording, key)).requests, 4);
  const accountOf = async (key: string) => (await petstore.send('GET', '/lab/account', { key })).body;
  const account = await accountOf(key);
  assert.deepEqual([account.keyId, account.day.remaining], [id, 1_000 - 4]);
  assert.ok((await accountOf(rehearsing.key)).rehearsal);
});

test('a reset with an Idempotency-Key happens once, and other Idempotency-Keys are removed with their resources', async (t) => {
  const petstore = await startPetstore(t);
  const order = { body: { petId: 1, quantity: 1 }, headers: { 'Idempotency-Key': 'order' } };
  const first = await petstore.call('POST', '/store/orders', order);
  const once = { headers: { 'Idempotency-Key': 'reset' } };
  assert.deepEqual((await reset(petstore, once)).body, demonstration);
  await petstore.call('DELETE', '/pets/5');
  const again = await reset(petstore, once);
  assert.deepEqual([again.status, again.headers['idempotency-replayed']], [200, 'true']);
  assert.deepEqual(again.body, demonstration);
  assert.equal((await petstore.call('GET', '/pets/5')).status, 404, 'it did not happen again');
  const second = await petstore.call('POST', '/store/orders', order);
  assert.equal(second.headers['idempotency-replayed'], undefined);
  assert.deepEqual([first.body.id, second.body.id], [9, 9]);
});

test('concurrent resets and writes all succeed, and the demo data is intact', async (t) => {
  const petstore = await startPetstore(t);
  const others = [await petstore.addKey('pro'), await petstore.addKey('pro')];
  const keys = [petstore.key, ...others.map(({ key }) => key)];
  for (let round = 1; round <= 5; round++) {
    const writes = keys.flatMap((key) => [
      petstore.call('PATCH', `/pets/${round}`, { key, body: { name: 'Rex' } }),
      petstore.call('POST', '/categories', { key, body: { name: `Dragons ${round} ${key.slice(-4)}` } }),
    ]);
    const { status, text } = await reset(petstore);
    assert.equal(status, 200, text);
    for (const { status, text } of await Promise.all(writes)) assert.ok(status < 300, text);
  }
  assert.deepEqual((await reset(petstore)).body, demonstration);
});

test('a request does not reset a large workspace, and the command that the refusal names makes it small enough again', async (t) => {
  const petstore = await startPetstore(t);
  const { categories, pets, orders } = demonstration;
  await addCategories(petstore, 1, maxResetRows - categories - pets - orders + 1, 100);
  const before = await petstore.content();
  const { status, body } = await reset(petstore);
  assert.deepEqual([status, body.code], [409, 'conflict']);
  const [, command = ''] = /"petstore (workspaces reset first.*)"/.exec(body.message) ?? [];
  assert.equal(await petstore.content(), before);
  await petstore.db.write((sql) => sql`delete from categories where id = 100`);
  assert.deepEqual((await reset(petstore)).body, demonstration);

  await addCategories(petstore, 1, 3 * maxResetRows, 100);
  await petstore.call('POST', '/categories', { body: { name: 'A' }, headers: { 'Idempotency-Key': 'k' } });
  assert.equal((await reset(petstore)).status, 409);
  const { stdout } = runCommand(command.split(' '), { PETSTORE_DATA_DIR: petstore.folder });
  assert.match(stdout, /has the demo data again/);
  assert.deepEqual((await reset(petstore)).body, demonstration);
});

test('a workspace with many stored responses can be reset, and the reset removes none of them', async (t) => {
  const petstore = await startPetstore(t);
  await petstore.db.write(
    (sql) => sql`
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 25000)
      insert into idempotency_keys (workspace_id, key, fingerprint, created_at_ms, resets)
      select 1, 'key ' || n, case when n % 2 = 0 then '/lab/rehearsals x' else '/v1/pets x' end, ${petstore.nowMs},
        case when n % 2 = 0 then null else 1 end from numbers`,
  );
  assert.deepEqual((await reset(petstore)).body, demonstration);
  assert.deepEqual(await petstore.db.read`select count(*) from idempotency_keys`, [[25_000]]);
});

test('a response stored before a reset is void at every instance, even if clocks differ', async (t) => {
  const petstore = await startPetstore(t);
  const other = await restart(t, petstore, { beside: true });
  const order = { key: petstore.key, body: { petId: 1 }, headers: { 'Idempotency-Key': 'order' } };
  const place = async (at: Petstore) => {
    const { status, headers, body } = await at.call('POST', '/store/orders', order);
    return [status, headers['idempotency-replayed'], body.id];
  };
  assert.deepEqual(await place(petstore), [201, undefined, 9]);
  assert.deepEqual(await place(other), [201, 'true', 9]);
  assert.equal((await reset(petstore)).status, 200);
  // Meanwhile its clock was set back.
  other.nowMs -= 3_600_000;
  assert.deepEqual(await place(other), [201, undefined, 9]);
  assert.deepEqual(await place(petstore), [201, 'true', 9]);
  // Another request may reuse a key whose response is void, even one whose response survives resets.
  assert.equal((await reset(petstore)).status, 200);
  const recording = { body: { name: 'mine' }, headers: order.headers };
  assert.equal((await petstore.send('POST', '/lab/recordings', recording)).status, 201);
  assert.equal((await reset(petstore)).status, 200);
  assert.equal((await petstore.call('POST', '/store/orders', order)).body.code, 'idempotency_key_reused');
});

test('a reset works during a ban, and requires a valid key', async (t) => {
  const petstore = await startPetstore(t);
  const { key } = await petstore.addKey('enterprise', { perMinute: 1, perDay: 100 });
  for (let i = 0; i < 12; i++) await petstore.call('GET', '/pets', { key });
  assert.equal((await petstore.call('GET', '/pets', { key })).status, 403);
  assert.equal((await reset(petstore, { key })).status, 200);
  assert.equal((await reset(petstore, { key: null })).status, 401);
});

test('a workspace can be reset once a second, by any of its keys, and others do not wait for it', async (t) => {
  const petstore = await startPetstore(t);
  petstore.stopwatch = () => 0;
  const other = await petstore.addWorkspace('other', true);
  const { key } = await petstore.addKey('free');
  const answers = await Promise.all(numbers(20).map((n) => resetNow(petstore, n % 2 ? { key } : {})));
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(refused.length, 19);
  for (const { status, body, headers } of refused)
    assert.deepEqual([status, body.code, headers['retry-after']], [429, 'rate_limited', '1']);
  const { body: resets } = await petstore.call('GET', '/store/events?type=workspace.reset');
  assert.equal(resets.length, 1);
  assert.equal((await resetNow(petstore, { key: other.key })).status, 200);
  petstore.aheadMs += 1_000;
  assert.equal((await resetNow(petstore)).status, 200);
});

test('requests reset a workspace a bounded number of times a day, with any of its keys', async (t) => {
  const petstore = await startPetstore(t);
  petstore.nowMs = Date.parse('2026-11-28T23:59:58Z');
  const { key } = await petstore.addKey('free');
  await petstore.db.write((sql) =>
    countToday(sql, { workspaceId: 1, id: 'resets' }, maxResetsPerDay - 1, petstore.nowMs),
  );
  assert.equal((await reset(petstore)).status, 200);
  const { status, body, headers } = await reset(petstore, { key });
  assert.deepEqual([status, body.code, headers['retry-after']], [429, 'rate_limited', '2']);
  assert.match(body.message, /3,000 times today/);
  const other = await petstore.addWorkspace('other', true);
  assert.equal((await reset(petstore, { key: other.key })).status, 200);
  await petstore.change((sql) => resetWorkspace(sql, { id: 1, name: 'first' }));
  petstore.nowMs += 2_000;
  assert.equal((await reset(petstore, { key })).status, 200);
});

test('a repeated reset is replayed at once, and neither a replay nor a refused reset delays another', async (t) => {
  const petstore = await startPetstore(t);
  petstore.stopwatch = () => 0;
  const once = { headers: { 'Idempotency-Key': 'reset' } };
  assert.equal((await resetNow(petstore, { headers: { 'Idempotency-Key': 'a b' } })).status, 400);
  await addCategories(petstore, 1, maxResetRows, 100);
  assert.equal((await resetNow(petstore, once)).status, 409);
  await petstore.db.write((sql) => sql`delete from categories where id >= 100`);
  const twins = await Promise.all([1, 2, 3].map(() => resetNow(petstore, once)));
  assert.deepEqual(twins.map(({ status, body }) => body.code ?? status).sort(), [
    200,
    'idempotency_key_in_use',
    'idempotency_key_in_use',
  ]);
  const again = await resetNow(petstore, once);
  assert.deepEqual([again.status, again.headers['idempotency-replayed']], [200, 'true']);
  assert.equal((await resetNow(petstore)).status, 429);
  petstore.aheadMs += 1_000;
  assert.equal((await resetNow(petstore, once)).headers['idempotency-replayed'], 'true');
  assert.equal((await resetNow(petstore)).status, 200);
});

test('after a reset an older Idempotency-Key still replays actions that the reset kept', async (t) => {
  const petstore = await startPetstore(t);
  const url = 'https://shop.example.com/';
  const asked = [
    ['/v1/store/webhooks', { url }],
    ['/v1/store/webhooks/1/rotate-secret', undefined],
    ['/lab/recordings', { name: 'mine' }],
    ['/lab/workspace/reset', undefined],
  ] as const;
  const askAll = async () => {
    const answers = [];
    for (const [path, body] of asked)
      answers.push(await petstore.send('POST', path, { body, headers: { 'Idempotency-Key': path } }));
    return answers;
  };
  const first = await askAll();
  assert.deepEqual(statusesOf(first), [201, 200, 201, 200]);
  assert.equal((await reset(petstore)).status, 200);
  for (const [i, { headers, body }] of (await askAll()).entries())
    assert.deepEqual([headers['idempotency-replayed'], body], ['true', first[i]?.body]);
});
