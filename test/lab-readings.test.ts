import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fragment, join, type Sql } from '../src/db/sql.ts';
import { maxParameters } from '../src/http/input.ts';
import { archiveBounds, maxReadings } from '../src/lab/bounds.ts';
import { Readings } from '../src/lab/recordings/readings.ts';
import { type Petstore, startPetstore } from './support/petstore.ts';
import { startRecording } from './support/recordings.ts';

/** Puts so many requests into a recording that has one, alike but for their bodies. */
async function fill(petstore: Petstore, count: number, body: string): Promise<void> {
  const [row] = await petstore.db.read`select recording_id, at_us, fingerprint, facts from recorded_requests`;
  const [id, atUs, fingerprint, facts] = row as [string, number, string, string];
  await petstore.db.write(async (sql) => {
    for (let number = 2; number <= count; number += 200) {
      const rows = Array.from(
        { length: Math.min(200, count + 1 - number) },
        (_, i) =>
          fragment`(1, ${id}, ${number + i}, ${atUs + number + i}, 1, ${fingerprint}, ${facts}, ${body})`,
      );
      await sql`insert into recorded_requests
        (workspace_id, recording_id, number, at_us, took_us, fingerprint, facts, body) values ${join(rows, ', ')}`;
    }
    await sql`update recordings set kept = ${count}`;
  });
}

async function filled(t: Parameters<typeof startPetstore>[0], count: number, body: string) {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  await petstore.call('GET', '/pets/1');
  await petstore.send('POST', `${recording}/end`);
  await petstore.send('GET', recording);
  await fill(petstore, count, body);
  return { petstore, recording };
}

/** The numbers of requests in all archives of a recording, one list for each. */
async function archivesOf(
  petstore: Petstore,
  recording: string,
): Promise<{ numbers: number[]; size: number }[]> {
  const archives = [];
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

test('an HTTP Archive is bounded in requests and in size, and tells where the rest is', async (t) => {
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
  assert.deepEqual(
    archives.flatMap(({ numbers }) => numbers),
    Array.from({ length: count }, (_, i) => i + 1),
  );
  assert.ok(Math.max(...archives.map(({ size }) => size)) < 2 * archiveBounds.characters);
});

test('an HTTP Archive lists as many parameters of a query as a request may have', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  assert.equal((await petstore.call('GET', `/pets?${'a&'.repeat(1_000)}`)).status, 400);
  const { body } = await petstore.send('GET', `${recording}/har`);
  assert.equal(body.log.entries[0].request.queryString.length, maxParameters);
});

test('a report reads no bodies, and few rows at once', async (t) => {
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

test('one thing is made at a time for each key, and few in all; who waits for the same gets it together', async () => {
  const readings = new Readings();
  const underWay: string[] = [];
  const made: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (keyId: string, what: string) =>
    readings.share({ workspaceId: 1, keyId }, what, async () => {
      const name = keyId + what;
      underWay.push(name);
      made.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      underWay.splice(underWay.indexOf(name), 1);
      return name;
    });
  const finish = async (name: string) => {
    ends.get(name)?.();
    await nextTurn();
  };
  const first = ask('a', '1');
  await nextTurn();
  const later = [ask('a', '1'), ask('a', '1'), ask('a', '2')];
  const others = ['b', 'c', 'd'].map((keyId) => ask(keyId, '1'));
  await nextTurn();
  assert.deepEqual(underWay, ['a1', 'b1']);
  assert.equal(underWay.length, maxReadings);
  await finish('a1');
  assert.equal(await first, 'a1');
  for (let round = 0; underWay.length > 0; round++) {
    assert.ok(round < 10 && underWay.length <= maxReadings, String(underWay));
    assert.ok(underWay.filter((name) => name.startsWith('a')).length <= 1);
    await finish(underWay[0] as string);
  }
  assert.deepEqual(await Promise.all([...later, ...others]), ['a1', 'a1', 'a2', 'b1', 'c1', 'd1']);
  assert.equal(made.length, 6);
});

test('what could not be made keeps nothing else from being made', async () => {
  const readings = new Readings();
  const owner = { workspaceId: 1, keyId: 'a' };
  const failing = readings.share(owner, '1', () => Promise.reject(new Error('away')));
  const next = readings.make(owner, async () => 'made');
  await assert.rejects(failing, /away/);
  assert.equal(await next, 'made');
});
