import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, createLab, createPetstore, type Lab } from '../../src/client/index.ts';
import { labTargets } from '../../src/client/lab-operations.ts';
import { labOperations } from '../../src/lab/petstore/petstore-api.ts';
import { answer, cut, refusal, startScripted, text } from '../support/scripted-server.ts';
import { startReal } from './real-store.ts';

/** The lab client of a server that performs one action after the other. */
async function startLab(...[t, deeds]: Parameters<typeof startScripted>) {
  const { baseUrl, clock, got } = await startScripted(t, deeds);
  return { lab: createLab({ baseUrl, apiKey: 'pet_secret', clock }), got };
}

/** A client that records which of its operations were called. */
function counting(lab: Lab) {
  const called: string[] = [];
  const get = (target: Lab, name: keyof Lab) => {
    called.push(name);
    return target[name];
  };
  return { called, lab: new Proxy(lab, { get: get as never }) };
}

test('every lab operation is a method that returns its response body', async (t) => {
  const { access } = await startReal(t);
  const options = { ...access, baseUrl: `${access.baseUrl}/` };
  const { lab, called } = counting(createLab(options));
  const petstore = createPetstore(options);

  assert.ok((await lab.listFaults()).some(({ name }) => name === 'lost-answer'));
  const rehearsal = await lab.startRehearsal({ faults: [{ fault: 'truncated', times: 1 }] });
  const recording = await lab.startRecording({ name: 'tour' });
  assert.equal((await petstore.findPet(1))?.id, 1);
  assert.equal((await lab.getRehearsal(rehearsal.id)).faults[0]?.performed, 1);
  assert.equal((await lab.endRehearsal(rehearsal.id)).id, rehearsal.id);
  const rehearsals = await lab.listRehearsals();
  assert.deepEqual([rehearsals.length, rehearsals[0]?.id], [1, rehearsal.id]);
  assert.equal(answerOf(rehearsals)?.status, 200);
  assert.equal(await lab.listRehearsals({ ifNoneMatch: rehearsals }), rehearsals);

  assert.equal((await lab.getAccount()).recording?.id, recording.id);
  assert.ok((await lab.endRecording(recording.id)).endedAt);
  assert.equal((await lab.getRecording(recording.id)).requests, 2);
  assert.equal((await lab.listRecordings())[0]?.name, 'tour');
  const pages = await Array.fromAsync(lab.listRecordedRequests(recording.id, { limit: 1 }).pages());
  assert.deepEqual(
    pages.flat().map(({ fault }) => fault),
    ['truncated', undefined],
  );
  assert.equal((await lab.getHar(recording.id, { after: 1 })).log.entries.length, 1);
  const { checks } = await lab.getReport(recording.id);
  const known = await lab.listChecks();
  assert.ok(checks.length > 0 && Object.keys(known).length > 0);
  assert.match(await lab.getReportAsMarkdown(recording.id), /^# Report card: /);
  assert.match(await lab.getReportAsJunit(recording.id), /^<\?xml/);
  assert.equal(await lab.deleteRecording(recording.id), undefined);
  await assert.rejects(lab.getRecording(recording.id), { code: 'not_found', status: 404 });

  assert.equal((await lab.resetWorkspace()).pets, 20);

  const described = labOperations.map(({ id }) => id).sort();
  assert.deepEqual([...new Set(called)].sort(), described, 'the tour takes every operation');
  assert.deepEqual(Object.keys(labTargets).sort(), described);
});

test('a banned key still reads its account, and starts a rehearsal', async (t) => {
  const { store, access } = await startReal(t, { perMinute: 2, perDay: 100 });
  const options = { ...access, maxWaitMs: 0 };
  for (let i = 0; i < 13; i++) await store.call('GET', '/pets', { key: access.apiKey });
  const petstore = createPetstore(options);
  const lab = createLab(options);
  for (let i = 0; i < 2; i++) {
    await assert.rejects(petstore.findPet(1), { code: 'key_banned' });
    assert.equal((await lab.getAccount()).ban.until, '2026-06-01T12:01:00.001Z');
  }
  assert.equal((await lab.startRehearsal({ faults: [{ fault: 'truncated' }] })).faults.length, 1);
});

test('it respects the limits of the lab: more calls than a minute allows are never refused', async (t) => {
  const { access, clock, statuses } = await startReal(t);
  const lab = createLab(access);
  const before = clock.nowMs;
  await Promise.all(Array.from({ length: 610 }, () => lab.getRehearsal('rhs_0').catch(() => {})));
  assert.deepEqual([statuses.length, ...new Set(statuses)], [610, 404]);
  assert.ok(clock.nowMs - before >= 59_000);
});

test('the address of the lab replaces the last /v1 of baseUrl, and other addresses are refused', async (t) => {
  const { baseUrl, got } = await startScripted(t, [answer(200, {})]);
  const apiKey = 'pet_secret';
  await createLab({ baseUrl: baseUrl.replace(/v1$/, 'v1/at/v1/'), apiKey }).getAccount();
  assert.deepEqual(
    got.map(({ url }) => url),
    ['/v1/at/lab/account'],
  );
  for (const wrong of ['nowhere', new URL('/', baseUrl).href, `${baseUrl}/pets`, `${baseUrl}?v=/v1/`])
    assert.throws(() => createLab({ baseUrl: wrong, apiKey }), TypeError, wrong);
});

test('an id that could change the path is refused before sending', async (t) => {
  const { lab, got } = await startLab(t, [answer(200, {})]);
  const refused = { name: 'TypeError', message: /^An id is text of / };
  const wrong = ['', '.', '..', 'a/b', 'a\\b', '../../v1/pets', '%2e%2e', 'a?b', 'a#b', 'ä'];
  for (const id of [...wrong, undefined, 7, {}] as string[]) {
    await assert.rejects(lab.getRehearsal(id), refused);
    await assert.rejects(lab.deleteRecording(id), refused);
    assert.throws(() => lab.listRecordedRequests(id), refused);
  }
  assert.equal(got.length, 0);
  await lab.getRecording('rec_60-A');
  assert.equal(got[0]?.url, '/lab/recordings/rec_60-A');
});

test('arrays and texts are accepted only where the operation returns them', async (t) => {
  const strange = { code: 'unexpected_answer' };
  const page = text('<h1>Sign in</h1>', 200, { 'content-type': 'text/html' });
  const card = text('# Report card', 200, { 'content-type': 'Text/Markdown; charset=utf-8' });
  const { lab } = await startLab(t, [page, answer(200, []), card, answer(200, {}), answer(200, [])]);
  await assert.rejects(lab.getReportAsMarkdown('rec_1'), strange);
  await assert.rejects(lab.getReportAsMarkdown('rec_1'), strange);
  assert.equal(await lab.getReportAsMarkdown('rec_1'), '# Report card');
  await assert.rejects(lab.listRecordings(), strange);
  await assert.rejects(lab.getAccount(), strange);
});

test('a truncated text is requested again', async (t) => {
  const type = { 'content-type': 'text/markdown' };
  const half = text('# Report', 200, { ...type, 'content-length': '13' });
  const { lab, got } = await startLab(t, [
    (response, request) => {
      half(response, request);
      response.destroy();
    },
    text('# Report card', 200, type),
  ]);
  assert.equal(await lab.getReportAsMarkdown('rec_1'), '# Report card');
  assert.equal(got.length, 2);
});

test('a removal with a lost response succeeds if nothing is left, but not if it should return a body', async (t) => {
  const gone = refusal(404, 'not_found');
  const { lab } = await startLab(t, [cut, gone]);
  await lab.deleteRecording('rec_1');
  const other = await startLab(t, [cut, gone]);
  await assert.rejects(other.lab.endRehearsal('rhs_1'), { code: 'not_found' });
});
