import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labPagePaths } from '../../src/lab/serve-lab-page.ts';
import { rehearse } from '../support/lab.ts';
import { restart } from '../support/limits.ts';
import { startPetstore } from '../support/petstore.ts';

/** Requests below `/lab`. Each is compared with one below `/lob`, which never existed. */
const requests: [method: string, path: string][] = [
  ...labPagePaths.map((path): [string, string] => ['GET', path]),
  ['HEAD', '/lab'],
  ['GET', '/lab/openapi.json'],
  ['GET', '/lab/openapi.yaml'],
  ['GET', '/lab/faults'],
  ['GET', '/lab/faults?limit=1'],
  ['GET', 'http://localhost/lab/faults'],
  ['POST', '/lab/rehearsals'],
  ['DELETE', '/lab/rehearsals/rhs_318204975513'],
  ['OPTIONS', '/lab/rehearsals'],
  ['GET', '/%6cab/faults'],
  ['GET', '/lab/%E0%'],
];

test('without a lab its paths respond like any unknown path, and count against no key', async (t) => {
  const { app, key } = await startPetstore(t, { lab: false });
  const { key: free } = await startPetstore(t, { lab: false });
  const ask = async (method: string, url: string, headers: Record<string, string>) => {
    const answer = await app.inject({ method: method as 'GET', url, headers });
    const { date: _date, 'x-request-id': _id, ...fields } = answer.headers;
    return { status: answer.statusCode, fields, text: answer.body };
  };
  const left = async (headers: Record<string, string>) =>
    Number((await ask('GET', '/v1/pets', headers)).fields['x-ratelimit-remaining']);
  for (const headers of [{}, { authorization: `Bearer ${key}` }, { 'x-api-key': free }]) {
    const before = await left(headers);
    for (const [method, path] of requests) {
      const preflight = method === 'OPTIONS' && {
        'access-control-request-method': 'POST',
        origin: 'https://a.example',
      };
      const answer = await ask(method, path, { ...headers, ...preflight });
      const other = await ask(method, path.replace(/ab(?=\/|$)/, 'ob'), { ...headers, ...preflight });
      assert.deepEqual(answer, other, `${method} ${path}`);
      assert.equal(answer.status, path.includes('%E0') ? 400 : 404, `${method} ${path}`);
    }
    assert.equal(await left(headers), before - 1);
  }
});

test('without a lab a rehearsal has no effect, and no text mentions the lab', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, [{ fault: 'internal-error', times: 10 }, 'near-limit']);
  assert.equal((await store.call('GET', '/pets')).status, 500);
  const off = await restart(t, store, { beside: true, lab: false });
  const { status, headers } = await off.call('GET', '/pets', { key: store.key });
  assert.deepEqual([status, headers['petstore-rehearsal']], [200, undefined]);
  const mentioned = ['/llms.txt', '/llms-full.txt', '/robots.txt', '/v1/openapi.json', '/v1/openapi.yaml'];
  for (const [petstore, hasLab] of [
    [store, true],
    [off, false],
  ] as const) {
    const read = (path: string) => petstore.send('GET', path, { key: null });
    for (const path of mentioned)
      assert.equal(/\/lab\b|Rehearse failures/.test((await read(path)).text), hasLab, path);
    assert.equal((await read('/guides/rehearse-failures.md')).status, hasLab ? 200 : 404);
    assert.equal((await read('/guides/rate-limits.md')).status, 200);
  }
});

test('a mistyped lab path gets a hint', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const { body } = await store.send('GET', '/faults');
  assert.match(body.message, /Did you mean \/lab\/faults\?$/);
  assert.match((await store.send('GET', '/lab/fault')).body.message, /\/lab\/openapi\.json lists all paths/);
});
