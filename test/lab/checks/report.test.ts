import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InstallationKey } from '../../../src/foundation/settings/secret-key.ts';
import { expectedOf } from '../../../src/lab/checks/expected.ts';
import { checks, checksVersion } from '../../../src/lab/checks/list.ts';
import { reportOn, reportVerdict } from '../../../src/lab/checks/report.ts';
import { asJunit } from '../../../src/lab/checks/report-as-junit.ts';
import { asMarkdown } from '../../../src/lab/checks/report-as-markdown.ts';
import { maxEvidence, type Report } from '../../../src/lab/checks/report-schema.ts';
import { maxRecorded } from '../../../src/lab/lab-bounds.ts';
import { petstoreApi } from '../../../src/lab/petstore/petstore-api.ts';
import { readJunit } from '../../support/junit.ts';
import { type Petstore, startPetstore } from '../../support/petstore.ts';
import { whyNo } from '../../support/programs.ts';
import { recorded } from '../../support/recorded.ts';
import { startRecording } from '../../support/recordings.ts';

/** The check that a request repeated after 400 fails. */
const name = 'retry.only-when-useful';

test('a report card has the verdict, and for each check the level, the result, the evidence and the advice', async (t) => {
  const store = await startPetstore(t);
  const recording = await startRecording(store);
  const report = async () => (await store.send('GET', `${recording}/report`)).body as Report;
  assert.equal((await report()).verdict, 'incomplete');
  await store.call('GET', '/pets?limit=0');
  const { verdict, version, recording: id, checks: results } = await report();
  assert.deepEqual([verdict, version, `/lab/recordings/${id}`], ['incomplete', checksVersion, recording]);
  assert.deepEqual(
    results.map(({ name }) => name),
    checks.map(({ name }) => name),
  );
  // Later than any request that could have been in flight.
  store.nowMs += 1_000;
  await store.call('GET', '/pets?limit=0');
  const after = await report();
  assert.equal(after.verdict, 'failed');
  const about = checks.find((check) => check.name === name) as (typeof checks)[number];
  const { level, advice, guide } = about;
  assert.deepEqual(
    after.checks.find((check) => check.name === name),
    {
      ...{ name, level, advice, guide, result: 'failed', evidence: ['1', '2'] },
      because: 'The client repeated 1 request unchanged after 400.',
    },
  );
});

/** The token that the service puts into the lab's page. */
async function labPageToken(store: Petstore): Promise<string> {
  const { text } = await store.send('GET', '/lab', { key: null });
  return /name="lab-page-token" content="([\w-]{43})"/.exec(text)?.[1] as string;
}

test('a report card ignores only requests with the token of the lab page; no other header or id hides a request', async (t) => {
  const store = await startPetstore(t);
  const recording = await startRecording(store);
  const token = await labPageToken(store);
  const other = new InstallationKey('another installation of the service').labPageToken;
  const withToken = (text: string) => ({ 'Petstore-Lab-Page': text });
  const withId = { 'X-Request-Id': 'lab-page-0' };
  const others = [withId, withId, ...['{token}', other, 'true'].map(withToken)];
  const sent = [withToken(token), withToken(token), ...others];
  for (const headers of sent) {
    await store.call('GET', '/pets?limit=0', { headers });
    // Later than any request that could have been in flight.
    store.nowMs += 1_000;
  }
  const { checks: results } = (await store.send('GET', `${recording}/report`)).body as Report;
  const found = results.find((check) => check.name === name);
  assert.deepEqual([found?.result, found?.evidence], ['failed', ['3', '4', '5', '6', '7']]);
  const { body: requests, text } = await store.send('GET', `${recording}/requests`);
  assert.deepEqual(
    requests.map(({ labPage }: { labPage?: boolean }) => labPage ?? false),
    [true, true, false, false, false, false, false],
  );
  assert.ok(!text.includes(token), 'a recording does not contain the token');
});

test('web pages of other origins can neither read nor send the token of the lab page, and every instance has the same', async (t) => {
  const store = await startPetstore(t);
  const origin = 'https://shop.example';
  const { headers } = await store.send('GET', '/lab', { key: null, headers: { origin } });
  assert.equal(headers['access-control-allow-origin'], undefined);
  const preflight = {
    origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'petstore-lab-page',
  };
  const allowed = await store.send('OPTIONS', '/v1/pets', { key: null, headers: preflight });
  assert.doesNotMatch(allowed.headers['access-control-allow-headers'] as string, /lab-page/i);
  const text = 'a secret of the installation, the same for all';
  const tokenOf = (secret: string) => new InstallationKey(secret).labPageToken;
  assert.equal(tokenOf(text), tokenOf(text));
  assert.notEqual(tokenOf(text), tokenOf(`${text}!`));
});

test('each format of a report card has its media type, and is sent again only if it has changed', async (t) => {
  const store = await startPetstore(t);
  const recording = await startRecording(store);
  await store.call('GET', '/pets?limit=0');
  const forms = {
    '': 'application/json; charset=utf-8',
    '/markdown': 'text/markdown; charset=utf-8',
    '/junit': 'application/xml; charset=utf-8',
  };
  for (const [form, type] of Object.entries(forms)) {
    const path = `${recording}/report${form}`;
    const { status, headers, text } = await store.send('GET', path);
    assert.deepEqual([status, headers['content-type']], [200, type]);
    const head = await store.send('HEAD', path);
    assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', headers.etag]);
    assert.equal(head.headers['content-length'], String(Buffer.byteLength(text)));
    const conditional = { headers: { 'If-None-Match': headers.etag as string } };
    assert.equal((await store.send('GET', path, conditional)).status, 304);
    store.nowMs += 1_000;
    await store.call('GET', '/pets?limit=0');
    assert.equal((await store.send('GET', path, conditional)).status, 200);
  }
});

test('only the key of a recording can read its report card', async (t) => {
  const store = await startPetstore(t);
  const recording = await startRecording(store);
  const { key } = await store.addKey('pro');
  for (const form of ['', '/markdown', '/junit']) {
    assert.equal((await store.send('GET', `${recording}/report${form}`, { key })).status, 404);
    assert.equal((await store.send('GET', `/lab/recordings/rec_0/report${form}`)).status, 404);
  }
});

test('GET /lab/checks lists the checks of recordings', async (t) => {
  const store = await startPetstore(t);
  const { body } = await store.send('GET', '/lab/checks');
  const listed = checks.map(({ judge: _, needs: _needs, isAdvice: _advice, ...check }) => check);
  assert.deepEqual(body, { version: checksVersion, checks: listed });
});

test('required checks decide the verdict, and one observed check is enough', () => {
  const verdict = (...pairs: [string, string][]) =>
    reportVerdict(pairs.map(([level, result]) => ({ level, result })) as Parameters<typeof reportVerdict>[0]);
  assert.equal(verdict(['required', 'passed'], ['required', 'failed']), 'failed');
  assert.equal(
    verdict(['required', 'passed'], ['required', 'not_observed'], ['recommended', 'failed']),
    'passed',
  );
  assert.equal(verdict(['required', 'not_observed'], ['recommended', 'passed']), 'incomplete');
});

test('evidence is bounded, and says how much more there is', async () => {
  const many = Array.from({ length: 40 }, (_, index) => ({ at: index * 5, status: 400 }));
  const { checks: results } = reportOn('rec_1', recorded(...many), petstoreApi);
  const found = results.find((check) => check.name === name);
  assert.equal(found?.evidence.length, maxEvidence);
  assert.match(found.because, /names 10 of 40 requests\.$/);
});

const odd = 'a < b & "c" \u0000\u001b\ud800\ufffe 😀 | `d` *e* ]]>\r\nf';
const oddReport: Report = {
  recording: 'rec_1',
  version: 1,
  verdict: 'failed',
  checks: (['passed', 'failed', 'not_observed'] as const).flatMap((result) =>
    (['required', 'recommended'] as const).map((level) => ({
      ...{ name: `${level}.${result}`, level, result },
      ...{ evidence: ['1', '2'], because: odd, advice: odd, guide: 'Errors' },
    })),
  ),
};

test('JUnit XML is well-formed for any content, and fails only for required checks', {
  skip: whyNo('python3'),
}, () => {
  const [{ tags, counts, cases }] = readJunit(asJunit(oddReport)) as [ReturnType<typeof readJunit>[number]];
  assert.deepEqual(tags, ['testsuites', 'testsuite']);
  assert.deepEqual([counts.tests, counts.failures, counts.skipped], ['6', '1', '3']);
  const [pass, fail, skip] = [['system-out'], ['failure', 'system-out'], ['skipped', 'system-out']];
  assert.deepEqual(
    cases.map(({ content }) => content.map(([tag]) => tag)),
    [pass, pass, fail, skip, skip, skip],
  );
  // Characters that XML cannot contain are replaced. The rest is unchanged.
  assert.equal(cases[2]?.content[0]?.[2], 'a < b & "c" \ufffd\ufffd\ufffd\ufffd 😀 | `d` *e* ]]>\r\nf');
});

test('Markdown escapes content, so that it stays in its cell', () => {
  const text = asMarkdown(oddReport);
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  assert.equal(rows.length, oddReport.checks.length);
  for (const row of rows) assert.ok(row.endsWith(' | 1, 2 |'), row);
  assert.ok(text.includes('a \\< b \\& "c"'));
});

test('a report on the largest recording takes a fraction of a second, however its requests overlap', () => {
  const answerHeaders = { 'retry-after': '2' };
  const failing = { method: 'POST', operation: 'createCategory', status: 503, answerHeaders };
  const worlds: Record<string, (index: number) => Parameters<typeof recorded>[number]> = {
    'always refused': (index) => ({ at: index * 5, status: 429, answerHeaders }),
    'always 404': (index) => ({ at: index * 5, method: 'DELETE', target: '/v1/pets/9', status: 404 }),
    'redirected, and followed later': (index) => ({
      ...{ at: index * 5, method: 'POST', fault: 'moved', target: `/v1/pets/${index % (maxRecorded / 2)}` },
      status: index < maxRecorded / 2 ? 307 : 200,
    }),
    'page after page': (index) => ({
      ...{ at: index * 5, target: `/v1/pets?status=sold&cursor=${index}`, fault: 'small-pages' },
      answerHeaders: { link: `<http://localhost/v1/pets?status=sold&cursor=${index + 1}>; rel="next"` },
    }),
    'in turns': (index) => ({ at: index * 5, ...failing, isGuessed: true }),
    'all at once': (index) => ({ at: index / 100, durationMs: 9_000, ...failing, connection: `c${index}` }),
    'by twenty workers': (index) => ({
      ...{ at: index, durationMs: 400, ...failing, connection: `c${index % 20}` },
      headers: { 'idempotency-key': `k${index % 50}` },
    }),
  };
  for (const [world, sketch] of Object.entries(worlds)) {
    const requests = recorded(...Array.from({ length: maxRecorded }, (_, index) => sketch(index)));
    const expected = expectedOf([requests.slice(0, 9)], petstoreApi);
    const before = process.cpuUsage();
    for (const options of [{}, { expected }]) reportOn('rec_1', requests, petstoreApi, options);
    const { user } = process.cpuUsage(before);
    assert.ok(user < 1_500_000, `${world}: ${user} µs`);
  }
});
