import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restart } from '../../support/limits.ts';
import { startPetstore } from '../../support/petstore.ts';
import { recordedIn, startRecording } from '../../support/recordings.ts';
import { newReportJobWorker } from '../../support/report-job-worker.ts';
import { numbers } from '../../support/values.ts';

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => Number(id));

test('a reader follows a recording by the last id, without gaps and repeats', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const followed: { id: string }[] = [];
  const follow = async () => {
    const last = followed.at(-1)?.id ?? 0;
    const { body } = await petstore.send('GET', `${recording}/requests?after=${last}&limit=100`);
    followed.push(...body);
    return body.length;
  };
  assert.equal(await follow(), 0);
  for (let round = 1; round <= 5; round++) {
    for (let i = 0; i < round; i++) {
      await petstore.call('POST', '/store/orders', { body: { petId: 1 } });
      await petstore.call('GET', `/pets/${i + 1}`);
    }
    assert.equal(await follow(), 2 * round);
    assert.equal(await follow(), 0);
  }
  assert.deepEqual(idsOf(followed), numbers(30));
  // Another instance, which has not followed the recording, links them all at once.
  const other = await restart(t, petstore, { beside: true, reportJobWorker: newReportJobWorker() });
  assert.deepEqual(followed, await recordedIn(other, recording, petstore.key));
  assert.equal(followed.filter((one) => 'gapMs' in one).length, 30 - 6, 'attempts after the first at each');
});

test('pages after a request continue by their cursor, and end with the last request', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  for (let i = 0; i < 7; i++) await petstore.call('GET', '/pets/1');
  const pages = [];
  for (let path: string | undefined = `${recording}/requests?after=2&limit=2`; path; ) {
    const { status, body, headers } = await petstore.send('GET', path);
    assert.equal(status, 200);
    pages.push(idsOf(body));
    path = /<https?:\/\/[^/]+([^>]+)>; rel="next"/.exec(headers.link ?? '')?.[1];
  }
  assert.deepEqual(pages, [[3, 4], [5, 6], [7]]);
  for (const after of ['7', '5000'])
    assert.deepEqual((await petstore.send('GET', `${recording}/requests?after=${after}`)).body, []);
  for (const after of ['-1', '5001', 'x', '1.5'])
    assert.equal((await petstore.send('GET', `${recording}/requests?after=${after}`)).status, 400, after);
});

test('following a long recording reads only new requests', async (t) => {
  const petstore = await startPetstore(t);
  const recording = await startRecording(petstore);
  const send = (count: number) => Promise.all(numbers(count).map(() => petstore.call('GET', '/pets/1')));
  const readsOf = async (after: number) => {
    const { reads } = petstore.db.counts;
    const { body } = await petstore.send('GET', `${recording}/requests?after=${after}&limit=100`);
    return { ids: idsOf(body), reads: petstore.db.counts.reads - reads };
  };
  await send(900);
  // Meanwhile keys are not looked up again.
  const nowMs = performance.now();
  t.mock.method(performance, 'now', () => nowMs);
  await petstore.send('GET', recording);
  const all = await readsOf(895);
  assert.deepEqual(all.ids, numbers(5, 896));
  await send(3);
  const few = await readsOf(900);
  assert.deepEqual(few.ids, numbers(3, 901));
  assert.ok(few.reads < all.reads - 1, `${all.reads} and then ${few.reads} reads`);
  assert.ok((await readsOf(903)).reads < few.reads, 'and nothing is linked where nothing is new');
});
