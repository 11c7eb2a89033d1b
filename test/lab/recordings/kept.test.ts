import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { WriteContext } from '../../../src/db/database.ts';
import { identifier, type Sql } from '../../../src/db/sql.ts';
import { tables } from '../../../src/db/tables.ts';
import { StorageUnavailableError } from '../../../src/foundation/errors.ts';
import { maxKeptSize, maxRecordedHead } from '../../../src/lab/lab-bounds.ts';
import { deleteOldRecordings, deleteRemoved } from '../../../src/lab/recordings/store.ts';
import { deleteWorkspace } from '../../../src/store/workspaces/store.ts';
import { filledTables } from '../../support/content.ts';
import { restart, times } from '../../support/limits.ts';
import { startPetstore } from '../../support/petstore.ts';
import {
  deletionsOf,
  holdRecordings,
  recordedIn,
  recordingAt,
  startRecording,
  valuesOf,
} from '../../support/recordings.ts';
import { until } from '../../support/until.ts';
import { numbers } from '../../support/values.ts';

const dayMs = 86_400_000;

test('no credential and no value of an unknown header is stored or shown', async (t) => {
  const petstore = await startPetstore(t);
  const { key } = petstore;
  const recording = await startRecording(petstore);
  const unknown = 'canary-of-a-field';
  const webhookSecret = `whsec_${'Y2FuYXJ5'.repeat(5)}`;
  const fields = {
    cookie: `session=${unknown}`,
    referer: `https://a.example/?k=${unknown}`,
    'proxy-authorization': `Basic ${unknown}`,
    'x-forwarded-for': unknown,
    'x-amz-security-token': unknown,
    'x-mine': unknown,
    'user-agent': `mine ${key}`,
    'x-request-id': `my-${key}`,
    'idempotency-key': `${key}`,
    [`x-${key}`]: '1',
  };
  const get = (path: string, headers: Record<string, string> = {}) => petstore.call('GET', path, { headers });
  await get('/pets/1', fields);
  await petstore.call('GET', '/pets/1', { key: null, headers: { 'x-api-key': key } });
  const query = `?${key}=${key}&api_key=${key.replace('_', '%255F')}`;
  for (const path of [`/pets/${key}`, `/${key}`, `/pets/%E0%${key}`, `/pets${query}`]) await get(path);
  const inBody = { name: key, url: 'https://me:canary-of-a-password@a.example/', secret: webhookSecret };
  await petstore.call('POST', '/pets', { body: inBody, headers: fields });
  await petstore.call('POST', '/pets', { body: `{"a":"${key}"` });
  await petstore.call('POST', '/pets', { body: ' '.repeat(8_192 - 30) + key });
  const recorded = await recordedIn(petstore, recording);
  assert.equal(recorded.length, 9);
  assert.equal(recorded[0].headers['x-mine'], '(not kept)');
  assert.equal(recorded[0].headers['user-agent'], 'mine pet_***');

  const shown = ['', '/requests', '/har'].map((path) => petstore.send('GET', recording + path));
  shown.push(petstore.send('GET', '/lab/recordings'), petstore.send('GET', '/lab/account'));
  const stored = tables.map(({ name }) => petstore.db.read`select * from ${identifier(name)}`);
  const all = JSON.stringify([await Promise.all(shown), await Promise.all(stored)]);
  assert.ok(all.includes('pet_***') && all.includes('whsec_***'));
  for (const secret of [unknown, key.slice(4, 24), webhookSecret.slice(6), 'canary-of-a-password']) {
    // Names of header fields are in lower case.
    assert.ok(!all.toLowerCase().includes(secret.toLowerCase()), secret);
    assert.ok(!petstore.log.join('').includes(secret), `${secret} in the log`);
  }
});

test('the first 8 KiB of a text body are kept, in whole characters, and of other bodies only the size', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const sent: [sent: string | Uint8Array, kept: string | undefined, bytes: number][] = [
    ['é'.repeat(8_000), 'é'.repeat(4_096), 16_000],
    [`a${'é'.repeat(8_000)}`, `a${'é'.repeat(4_095)}`, 16_001],
    [Buffer.of(0xff, 0xfe, 1), '(3 bytes that are not text)', 3],
    ['a\u0000b', '(3 bytes that are not text)', 3],
    ['\u0000', '(1 byte that is not text)', 1],
    ['', undefined, 0],
  ];
  for (const [body] of sent) await petstore.call('POST', '/pets', { body });
  const recorded = await recordedIn(petstore, recording);
  assert.deepEqual(
    recorded.map(({ body, bodyBytes }) => [body, bodyBytes]),
    sent.map(([, kept, bytes]) => [kept, bytes]),
  );
});

test('a recording keeps a bounded number of requests and counts the others', async (t) => {
  const petstore = await startPetstore(t, { recorderBounds: { maxRecorded: 3 } });
  const recording = await startRecording(petstore);
  for (let i = 0; i < 2; i++) await petstore.call('GET', '/pets/1');
  assert.equal((await recordingAt(petstore, recording)).requests, 2);
  await Promise.all(numbers(5).map(() => petstore.call('GET', '/pets/1')));
  const { requests, leftOut } = await recordingAt(petstore, recording);
  assert.deepEqual([requests, leftOut], [3, 4]);
  assert.equal((await recordedIn(petstore, recording)).length, 3);
});

test('a new recording of a key removes those before the newest 20, and the oldest ones until the rest fits the limit', async (t) => {
  const petstore = await startPetstore(t);
  const first = await startRecording(petstore);
  await petstore.call('GET', '/pets/1');
  assert.equal((await recordedIn(petstore, first)).length, 1);
  const startNext = () => {
    petstore.nowMs++;
    return startRecording(petstore);
  };
  const newest = await times(20, startNext);
  const listed = async () =>
    valuesOf((await petstore.send('GET', '/lab/recordings')).body, 'id').map((id) => `/lab/recordings/${id}`);
  assert.deepEqual(await listed(), newest.toReversed());
  assert.equal((await petstore.send('GET', `${first}/requests`)).status, 404);
  await deleteOldRecordings(petstore.db, petstore.nowMs);
  assert.deepEqual(await petstore.db.read`select * from recorded_requests`, []);
  await petstore.db.write((sql) => sql`update recordings set size = ${maxKeptSize / 8}`);
  const last = await startNext();
  assert.deepEqual(await listed(), [last, ...newest.slice(-8).reverse()]);
});

test('the requests of a removed or expired recording are deleted 200 at once, and nobody sees a part of it', async (t) => {
  const petstore = await startPetstore(t);
  const sweep = () => deleteOldRecordings(petstore.db, petstore.nowMs);
  const removals = {
    removed: async (recording: string) => {
      assert.equal((await petstore.send('DELETE', recording)).status, 204);
      await deleteRemoved(petstore.db);
    },
    expired: () => {
      petstore.nowMs += dayMs;
      return sweep();
    },
  };
  for (const [how, remove] of Object.entries(removals)) {
    const { recording, deleted, wasSeen } = await deletionsOf(petstore, 500, remove);
    assert.deepEqual([deleted, wasSeen], [[200, 200, 100], false], how);
    assert.equal((await petstore.send('GET', recording)).status, 404, how);
  }
  await petstore.send('DELETE', await startRecording(petstore));
  await sweep();
  assert.deepEqual(await petstore.db.read`select id from recordings where key_id = ''`, []);
});

test('the recordings of a key keep a bounded number of requests a day, also if they are removed', async (t) => {
  const petstore = await startPetstore(t, { recorderBounds: { maxRecordedPerDay: 3 } });
  const record = async (requests: number) => {
    const recording = await startRecording(petstore);
    for (let i = 0; i < requests; i++) await petstore.call('GET', '/pets/1');
    const { requests: kept, leftOut } = await recordingAt(petstore, recording);
    await petstore.send('DELETE', recording);
    return [kept, leftOut];
  };
  assert.deepEqual(await record(2), [2, 0]);
  assert.deepEqual(await record(3), [1, 2]);
  petstore.nowMs += dayMs;
  assert.deepEqual(await record(3), [3, 0]);
});

test('a recording is removed a day after it began, and with its workspace', async (t) => {
  const petstore = await startPetstore(t);
  const old = await startRecording(petstore, petstore.key, { expiresInSeconds: 60 });
  await petstore.call('GET', '/pets/1');
  assert.equal((await recordedIn(petstore, old)).length, 1);
  assert.equal((await petstore.send('GET', `${old}/report`)).status, 200);
  await petstore.change(
    (sql) => sql`
      insert into recording_reports (workspace_id, recording_id, requests, version, report)
      values (1, 'removed by an older release', 1, 1, '{}')`,
  );
  const other = await petstore.addWorkspace('other', true);
  petstore.nowMs += dayMs - 1;
  const young = await startRecording(petstore, other.key);
  await petstore.call('GET', '/pets/1', { key: other.key });
  await deleteOldRecordings(petstore.db, petstore.nowMs);
  assert.equal((await recordedIn(petstore, old)).length, 1);
  assert.equal((await petstore.db.read`select * from recording_reports`).length, 1);
  await deleteOldRecordings(petstore.db, petstore.nowMs + 1);
  assert.equal((await petstore.send('GET', old)).status, 404);
  assert.equal((await petstore.db.read`select * from recorded_requests`).length, 1);
  assert.deepEqual(await petstore.db.read`select * from recording_reports`, []);
  assert.equal((await recordedIn(petstore, young, other.key)).length, 1);

  await petstore.call('GET', '/pets/1', { key: other.key });
  await petstore.holdLimits();
  await petstore.change((sql) => deleteWorkspace(sql, other.workspaceId), other.workspaceId);
  await petstore.send('GET', '/lab/recordings');
  assert.deepEqual(await filledTables(petstore.db.read, other.workspaceId), []);
});

test('while the storage is down requests still succeed, the log says so once, and they are recorded later', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const rename = (from: string, to: string) =>
    petstore.db.write((sql) => sql`alter table ${identifier(from)} rename to ${identifier(to)}`);
  await rename('recorded_requests', 'hidden');
  for (let i = 0; i < 3; i++) {
    assert.equal((await petstore.call('GET', '/pets/1')).status, 200);
    assert.equal((await petstore.send('GET', recording)).body.requests, 0);
  }
  // The write is retried twice a second.
  await setTimeout(600);
  assert.equal(petstore.log.filter((line) => line.includes('cannot be recorded')).length, 1);
  await rename('hidden', 'recorded_requests');
  await petstore.app.close();
  const rows = await petstore.db.read`select number from recorded_requests order by number`;
  assert.deepEqual(rows, [[1], [2], [3]]);
  assert.equal(petstore.log.filter((line) => line.includes('recorded again')).length, 1);
});

test('requests right before a stop are kept', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  await petstore.call('GET', '/pets/1');
  const again = await restart(t, petstore);
  assert.equal((await recordedIn(again, recording, petstore.key)).length, 1);
});

test('a key without an active recording causes no write', async (t) => {
  const petstore = await startPetstore(t);
  await startRecording(petstore, petstore.key, { expiresInSeconds: 1 });
  petstore.nowMs += 2_000;
  const other = await petstore.addKey('pro');
  for (const key of [petstore.key, other.key]) await petstore.call('GET', '/pets/1', { key });
  await petstore.send('GET', '/lab/recordings');
  await petstore.holdLimits();
  const { writes } = petstore.db.counts;
  for (const key of [petstore.key, other.key]) await petstore.call('GET', '/pets/1', { key });
  await petstore.send('GET', '/lab/recordings');
  assert.equal(petstore.db.counts.writes, writes);
});

for (const [bound, recorderBounds] of [
  ['characters of a recording', { maxRecordedSize: 3_000 }],
  ['requests that wait to be written', { maxUnwritten: 1_000 }],
] as const)
  test(`requests beyond the limit of ${bound} succeed, and are counted as left out`, async (t) => {
    const petstore = await startPetstore(t, { recorderBounds });
    const recording = await startRecording(petstore);
    const release = holdRecordings(petstore);
    const answers = await Promise.all(numbers(20).map(() => petstore.call('GET', '/pets/1')));
    assert.ok(answers.every(({ status }) => status === 200));
    await release();
    const { requests, leftOut } = await recordingAt(petstore, recording);
    assert.ok(requests > 0 && requests < 10, String(requests));
    assert.equal(requests + leftOut, 20);
  });

test('a recording that fills its share of the queue leaves room for others', async (t) => {
  const petstore = await startPetstore(t, { recorderBounds: { maxUnwrittenOfOne: 1_000 } });
  const greedy = await startRecording(petstore);
  const other = await petstore.addWorkspace('other', true);
  const modest = await startRecording(petstore, other.key);
  const release = holdRecordings(petstore);
  await Promise.all(numbers(20).map(() => petstore.call('GET', '/pets/1')));
  await petstore.call('GET', '/pets/1', { key: other.key });
  await release();
  assert.ok((await recordingAt(petstore, greedy)).leftOut > 0);
  assert.equal((await recordedIn(petstore, modest, other.key)).length, 1);
});

test('requests that cannot be written do not block those of another recording', async (t) => {
  const petstore = await startPetstore(t);
  const stuck = await startRecording(petstore);
  const other = await petstore.addWorkspace('other', true);
  const write = petstore.db.write.bind(petstore.db);
  petstore.db.write = ((work: (sql: Sql) => Promise<unknown>, cause?: WriteContext) => {
    if (cause) return write(work, cause);
    return write((sql) => {
      const refusing: Sql = (strings, ...values) => {
        const isStuck = values.some((value) => typeof value === 'string' && stuck.endsWith(value));
        return isStuck ? Promise.reject(new Error('no room')) : sql(strings, ...values);
      };
      return work(refusing);
    });
  }) as typeof petstore.db.write;
  await petstore.call('GET', '/pets/1');
  await until(() => petstore.log.some((line) => line.includes('cannot be recorded')));
  const modest = await startRecording(petstore, other.key);
  await petstore.call('GET', '/pets/1', { key: other.key });
  await until(async () => (await recordedIn(petstore, modest, other.key)).length === 1);
});

test('a write whose response was lost is not made twice', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const write = petstore.db.write.bind(petstore.db);
  let isLost = false;
  petstore.db.write = (async (work: Parameters<typeof write>[0], cause: WriteContext) => {
    const answer = await write(work, cause);
    const kept = await petstore.db.read`select number from recorded_requests`;
    if (isLost || kept.length === 0) return answer;
    isLost = true;
    throw new StorageUnavailableError('The connection was lost.');
  }) as typeof write;
  for (let i = 0; i < 3; i++) await petstore.call('GET', '/pets/1');
  await until(() => petstore.log.some((line) => line.includes('recorded again')));
  assert.equal((await recordingAt(petstore, recording)).requests, 3);
  assert.equal((await recordedIn(petstore, recording)).length, 3);
});

test('a head is kept up to a limit, and large numbers are found in bodies of any length', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const headers = Object.fromEntries(['a', 'b', 'c'].map((name) => [`x-${name}`, '1']));
  await petstore.call('GET', `/pets?name=${'n'.repeat(6_000)}`, {
    headers: { ...headers, 'user-agent': 'u'.repeat(5_000), 'if-none-match': '"a"' },
  });
  const large = Array.from({ length: 500 }, (_, i) => String(10n ** 16n + BigInt(i)));
  await petstore.call('POST', '/pets', { body: `{"name": "${large[499]}", "ids": [${large.join()}]}` });
  const [{ target, headers: kept }] = await recordedIn(petstore, recording);
  assert.equal(target.length, maxRecordedHead);
  assert.equal(kept['user-agent'], undefined);
  assert.ok(JSON.stringify(kept).length < 2 * maxRecordedHead);
  const rows = await petstore.db.read`select facts from recorded_requests order by number`;
  const facts = JSON.parse(String(rows[1]?.[0]));
  assert.deepEqual(facts.largeNumbers, large.slice(0, 20));
});
