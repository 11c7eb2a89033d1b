import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type ErrorCode, errorCodes, errorTitle } from '../../src/foundation/errors.ts';
import { layout } from '../../src/reference/pages/static-page.ts';
import { exchange } from '../support/exchange.ts';
import { rehearse } from '../support/lab.ts';
import { type CallOptions, startListening, startPetstore } from '../support/petstore.ts';
import { openRaw, partsOf, rawRequest } from '../support/raw-client.ts';

const problemType = 'application/problem+json';
const nameRule =
  'must be a string of 1 to 200 characters, not only spaces, tabs and line breaks, without the null character';
const pages = 'http://localhost:8080/reference/errors';
const store = await startPetstore({ after });
const asProblem = (method: string, url: string, { headers, ...options }: CallOptions = {}) =>
  store.send(method, url, { ...options, headers: { ...headers, accept: problemType } });

/** Values of Accept that get a problem, and others that get an Error object. */
const preferences: [isProblem: boolean, accept: string | undefined][] = [
  [true, problemType],
  [true, 'APPLICATION/Problem+JSON'],
  [true, `${problemType};charset=utf-8`],
  [true, `${problemType}; q=0.5; charset="UTF-8"`],
  [true, `${problemType}, application/json;q=0.9`],
  [true, `application/json;q=0.9, text/html, ${problemType};q=0.901`],
  [true, `${problemType}, */*`],
  [true, `application/*, ${problemType}`],
  [true, `${problemType};q=0.1`],
  [true, `application/json;q=0, ${problemType};q=0.001`],
  [true, 'application/json;q=0, */*'],
  [true, `a/b;c=d, ,;,q, ${problemType}, /`],
  [false, undefined],
  [false, ''],
  [false, '*/*'],
  [false, 'application/*'],
  [false, 'application/json'],
  [false, 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  [false, `application/json, ${problemType}`],
  [false, `${problemType}, application/json`],
  [false, `${problemType};q=0.5, */*;q=0.8`],
  [false, `${problemType};q=0`],
  [false, `${problemType};q=0, */*`],
  [false, `${problemType};q=0.8, application/json;q=0.9`],
  [false, `${problemType};q=2`],
  [false, `${problemType};q=0.0001`],
  [false, `${problemType};q=1;q=1`],
  [false, `${problemType};profile="other"`],
  [false, 'application/problem'],
  [false, 'application/problem+xml'],
  [false, '*/problem+json'],
  [false, 'text/html'],
  [false, 'application/json;q=0'],
  [false, `application/json;q=0, ${problemType};q=0`],
  [false, 'application/json;q=0, */*;q=0'],
  // Parsing it would cost more than the rest of the response.
  [false, `${problemType}${', a/b;q=0.5'.repeat(100)}`],
  [false, ','.repeat(10_000)],
  [false, ';q='.repeat(3_000)],
];

for (const [isProblem, accept] of preferences)
  test(`Accept: ${accept?.slice(0, 60) ?? '(none)'} gets ${isProblem ? 'a problem' : 'an Error object'}`, async () => {
    const headers = accept === undefined ? {} : { accept };
    const { status, headers: fields, text, body } = await store.call('GET', '/pets/4711', { headers });
    assert.equal(status, 404);
    assert.equal(fields['content-type'], isProblem ? problemType : 'application/json; charset=utf-8');
    assert.equal(fields.vary, 'Accept');
    if (isProblem) assert.equal(body.type, `${pages}/not_found`);
    else
      assert.equal(text, '{"code":"not_found","message":"There is no pet with this petId.","status":404}\n');
  });

test('a problem has the message, the code and the status of the Error object', async () => {
  const options = { body: { name: '', categoryId: 4711 } };
  const plain = await store.call('POST', '/pets', options);
  const problem = await asProblem('POST', '/v1/pets', options);
  const { code, message, status } = plain.body;
  assert.deepEqual(problem.body, {
    ...{ type: `${pages}/${code}`, title: 'Invalid request', status, detail: message, code },
    errors: [{ pointer: '#/name', detail: nameRule }],
  });
  assert.deepEqual(
    Object.keys(problem.headers).filter((name) => name !== 'content-length'),
    Object.keys(plain.headers).filter((name) => name !== 'content-length'),
  );
});

test('a success does not depend on Accept, and has no Vary for it', async () => {
  const plain = await store.call('GET', '/pets');
  for (const accept of [problemType, 'text/html', 'application/json;q=0']) {
    const { status, headers, text } = await store.call('GET', '/pets', { headers: { accept } });
    assert.deepEqual([status, text, headers.etag], [200, plain.text, plain.headers.etag]);
    assert.equal(headers.vary, undefined);
  }
  const headers = { accept: problemType, 'if-none-match': plain.headers.etag as string };
  const unchanged = await store.call('GET', '/pets', { headers });
  assert.deepEqual([unchanged.status, unchanged.headers.vary], [304, undefined]);
});

/** Requests with wrong values, and the places with their details. */
const places: [
  what: string,
  request: [method: string, url: string, options?: CallOptions],
  errors: object[],
][] = [
  [
    'each property of the body',
    ['POST', '/v1/pets', { body: { name: 1 } }],
    [
      { pointer: '#/name', detail: nameRule },
      { pointer: '#/categoryId', detail: 'must be a 64-bit integer; it is missing' },
    ],
  ],
  [
    'a body that is not an object',
    ['POST', '/v1/pets', { body: [] }],
    [{ pointer: '#', detail: 'must be a JSON object' }],
  ],
  [
    'a reference to a missing resource',
    ['POST', '/v1/pets', { body: { name: 'Nagini', categoryId: 4711 } }],
    [{ pointer: '#/categoryId', detail: 'There is no category with this categoryId.' }],
  ],
  [
    'objects within a list',
    ['POST', '/lab/rehearsals', { body: { faults: [{ fault: 'delay' }, { fault: 'delay', delayMs: -1 }] } }],
    [{ pointer: '#/faults/1/delayMs', detail: 'must be an integer from 1 to 30000' }],
  ],
  [
    'a parameter that a fault does not have',
    ['POST', '/lab/rehearsals', { body: { faults: [{ fault: 'slow', delayMs: 5 }] } }],
    [{ pointer: '#/faults/0/delayMs', detail: 'is not a parameter of slow, which takes bytesPerSecond' }],
  ],
  [
    'parameters of path and query',
    ['GET', '/v1/pets?limit=0&price=1&limit=1'],
    [
      { parameter: 'price', detail: /^is not a query parameter of this operation, which takes / },
      { parameter: 'limit', detail: 'must be sent once' },
      { parameter: 'limit', detail: 'must be an integer from 1 to 100' },
    ],
  ],
  [
    'a parameter of the path',
    ['GET', '/v1/pets/one'],
    [{ parameter: 'petId', detail: 'must be a 64-bit integer' }],
  ],
  [
    'a position without an event',
    ['GET', '/v1/store/events?after=4711'],
    [{ parameter: 'after', detail: /^Event 4711 does not exist yet\. / }],
  ],
  [
    'a header field',
    ['PATCH', '/v1/pets/1', { body: {}, headers: { 'if-match': 'unquoted' } }],
    [{ header: 'If-Match', detail: 'If-Match must be * or entity tags in double quotes, such as "abc".' }],
  ],
  [
    'the type of the body',
    ['POST', '/v1/pets', { body: 'x', headers: { 'content-type': 'text/plain' } }],
    [{ header: 'Content-Type', detail: 'Content-Type must be application/json, in UTF-8.' }],
  ],
];

for (const [what, request, errors] of places)
  test(`a problem names ${what}`, async () => {
    const { body, text } = await asProblem(...request);
    assert.equal(body.errors?.length, errors.length, text);
    for (const [i, { detail, ...place }] of (body.errors as { detail: string }[]).entries()) {
      const { detail: expected, ...where } = errors[i] as { detail: string | RegExp };
      assert.deepEqual(place, where);
      if (typeof expected === 'string') assert.equal(detail, expected);
      else assert.match(detail, expected);
    }
  });

test('the ids in a problem are those that the client knows', async (t) => {
  const store = await startPetstore(t);
  await rehearse(store, ['large-ids']);
  const { body } = await store.call('GET', '/store/events?after=4711', { headers: { accept: problemType } });
  assert.match(body.detail, /^Event 10000000000009423 does not exist yet\. The last event is 1\d{16}\.$/);
  assert.deepEqual(body.errors, [{ parameter: 'after', detail: body.detail }]);
});

test('a used-up quota and a ban have the problem types of the RateLimit draft', async (t) => {
  const store = await startPetstore(t);
  const registry = 'https://iana.org/assignments/http-problem-types#';
  const headers = { accept: problemType };
  const { key } = await store.addKey('enterprise', { perMinute: 1, perDay: 100 });
  const ask = () => store.call('GET', '/pets', { key, headers });
  await ask();
  const limited = (await ask()).body;
  assert.deepEqual(
    [limited.type, limited.title, limited.code, limited['violated-policies']],
    [`${registry}quota-exceeded`, 'Quota exceeded', 'rate_limited', ['minute']],
  );
  let last = limited;
  while (last.status === 429) last = (await ask()).body;
  assert.deepEqual(
    [last.type, last.title, last.code, last['violated-policies']],
    [`${registry}abnormal-usage-detected`, 'Abnormal usage detected', 'key_banned', undefined],
  );
  const { key: daily } = await store.addKey('enterprise', { perMinute: 100, perDay: 1 });
  await store.call('GET', '/pets', { key: daily });
  assert.deepEqual((await store.call('GET', '/pets', { key: daily, headers })).body['violated-policies'], [
    'day',
  ]);
  for (const fault of ['rate-limited', 'rate-limited-date']) {
    const { key } = await store.addKey('business');
    await rehearse(store, [fault], { key });
    const { type, 'violated-policies': policies } = (await store.call('GET', '/pets', { key, headers })).body;
    assert.deepEqual([type, policies], [`${registry}quota-exceeded`, ['minute']], fault);
  }
  // A limit that is not a quota of the key.
  const reset = () => store.send('POST', '/lab/workspace/reset', { headers });
  await reset();
  const { status, body } = await reset();
  assert.deepEqual([status, body.type], [429, `${pages}/rate_limited`]);
});

test('a simulated service failure is a problem, and a simulated gateway failure stays a page', async (t) => {
  const store = await startPetstore(t);
  const headers = { accept: problemType };
  for (const [fault, code] of [
    ['internal-error', 'internal_error'],
    ['unavailable', 'unavailable'],
    ['unauthorized', 'unauthorized'],
    ['banned', 'key_banned'],
  ] as const) {
    const { key } = await store.addKey('business');
    await rehearse(store, [fault], { key });
    const { body } = await store.call('GET', '/pets', { key, headers });
    assert.deepEqual([body.code, body.title !== undefined], [code, true], fault);
  }
  await rehearse(store, ['bad-gateway']);
  const { headers: fields } = await store.call('GET', '/pets', { headers });
  assert.equal(fields['content-type'], 'text/html');
});

test('errors outside the API, and without a route, are problems too', async () => {
  for (const [method, url, status, headers] of [
    ['GET', '/nowhere', 404, {}],
    ['GET', '/reference/errors/nowhere', 404, {}],
    ['POST', '/reference', 405, {}],
    ['PATCH', '/v1/pets', 405, {}],
    ['OPTIONS', '/v1/nowhere', 404, {}],
    ['GET', '/v1/%E0', 400, {}],
    ['GET', '/reference', 400, { 'if-none-match': 'unquoted' }],
    ['GET', '/v1/openapi.json', 400, { 'if-none-match': 'unquoted' }],
    ['POST', '/v1/pets', 413, { 'content-type': 'application/json' }],
  ] as const) {
    const { body, ...answer } = await asProblem(method, url, {
      headers,
      ...(status === 413 && { body: ' '.repeat(65_537) }),
    });
    const what = `${method} ${url}`;
    assert.deepEqual([answer.status, answer.headers['content-type']], [status, problemType], what);
    assert.deepEqual([body.status, body.title], [status, errorTitle(body.code)], what);
    assert.equal(answer.headers.vary, 'Accept', what);
  }
  const head = await asProblem('HEAD', '/v1/pets/4711');
  assert.deepEqual([head.status, head.text, head.headers['content-type']], [404, '', problemType]);
  const whole = await asProblem('GET', '/v1/pets/4711');
  assert.equal(head.headers['content-length'], whole.headers['content-length']);
});

test('an error that is written directly to the socket is a problem if Accept could be read', async (t) => {
  const store = await startListening(t);
  const accept = `Accept: ${problemType}\r\n`;
  const connect = await exchange(store, `CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n${accept}\r\n`);
  assert.deepEqual([connect.status, connect.headers['content-type']], [400, problemType]);
  assert.equal(connect.body.type, `${pages}/invalid_request`);

  const client = openRaw(t, store);
  const fields = { Accept: problemType, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
  const answer = await client.ask(`${rawRequest(store, 'POST', '/pets', { fields })}no chunk\r\n`);
  const { head, announced, body } = partsOf(answer);
  assert.match(head, /^HTTP\/1\.1 400 .*^Content-Type: application\/problem\+json\r$.*/ms);
  assert.match(head, /^Vary: Accept\r?$/m);
  assert.equal(Buffer.byteLength(body), announced);
  assert.equal(JSON.parse(body).title, 'Invalid request');

  // Its header fields cannot be read.
  const broken = await exchange(store, `GET / HTTP/1.1\r\nHost: x\r\n${accept}no field\r\n\r\n`);
  assert.equal(broken.headers['content-type'], 'application/json; charset=utf-8');
});

test('a problem repeats no key, and no more of a request than an Error object', async () => {
  const { key } = store;
  const names = [key, 'x'.repeat(5_000), '<script>alert(1)</script>', '\u0000"\r\nSet-Cookie: a=b'];
  for (const name of names) {
    const { text, body, headers } = await asProblem('GET', `/v1/pets?${encodeURIComponent(name)}=1`);
    assert.equal(body.errors.length, 1);
    assert.ok(!text.includes(key) && text.length < 1_500, text);
    assert.equal(headers['set-cookie'], undefined);
    assert.ok(body.errors[0].parameter.length <= 101);
  }
  const many = Array.from({ length: 150 }, (_, i) => `unknown${i}=1`).join('&');
  const { body } = await asProblem('GET', `/v1/pets?${many}`);
  assert.equal(body.errors.length, 10);
  assert.match(body.detail, / 140 more values are wrong\.$/);
});

test('each problem type of this service links to a page about its code, and contains nothing of the request', async () => {
  const { text: index } = await store.send('GET', '/reference/errors', { key: null });
  for (const code of Object.keys(errorCodes) as ErrorCode[]) {
    const [status, meaning] = errorCodes[code];
    const path = `/reference/errors/${code}`;
    assert.match(
      index,
      new RegExp(`<h2>${status} [^<]+</h2>\\s*<ul>(?:(?!</ul>).)*<a href="errors/${code}">`, 's'),
    );
    const { status: found, text, headers } = await store.send('GET', `${path}?<script>`, { key: null });
    assert.equal(found, 200, path);
    assert.ok(text.includes(`<h1>${errorTitle(code)}</h1>`) && text.includes(`<code>${code}</code>`), path);
    assert.ok(text.includes(meaning.split(/[`<>&'"]/)[0] as string), path);
    assert.ok(!/<script|undefined|\[object/.test(text), path);
    assert.match(headers['content-security-policy'] as string, /^default-src 'none'; style-src 'self'/);
  }
  for (const path of [
    'not_found%20',
    'not_found/',
    'not_foun',
    '.',
    'constructor',
    'NOT_FOUND',
    'not%5Ffound',
  ])
    assert.equal((await store.send('GET', `/reference/errors/${path}`, { key: null })).status, 404, path);
  const site = { rootUrl: 'http://localhost:8080', hasLab: true, groups: [] };
  const page = layout({ path: '/reference/x', title: '<b>', summary: '"><script>', main: '' }, site);
  assert.ok(!/<b>|<script>/.test(page));
});
