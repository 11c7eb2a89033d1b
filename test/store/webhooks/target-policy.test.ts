import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import fc from 'fast-check';
import { maxUrlLength, targetPolicy, targetProblem } from '../../../src/store/webhooks/target-policy.ts';
import { demonstration, listen, listenOnBoth, nameServer, policy, sendTo } from '../../support/receiver.ts';

/** Hosts of loopback, in many spellings, some of them behind a user. */
const loopbackHosts = `
  127.0.0.1 127.0.0.1. 127.1 127.0.1 127.255.255.254 2130706433 0x7f000001 0X7F.0x0.0x0.0x1 0x7f.1
  017700000001 0177.0.0.01 0177.0x0.1 １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1 %31%32%37.0.0.1
  127%2e0%2e0%2e1 0 0.0.0.0 0x [::] [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001]
  [::127.0.0.1] [::7f00:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:FFFF:7F00:0001]
  [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::127.0.0.1] [2002:7f00:1::] [2002:7f00:0001::1]
  [::5efe:7f00:1] [fe80::5efe:127.0.0.1] [2600::5efe:127.0.0.1] [2600::200:5efe:7f00:1]
  [2001:0:4136:e378:8000:63bf:80ff:fffe] [::1%25lo] [::1%lo] localhost LOCALHOST localhost. ｌｏｃａｌｈｏｓｔ
  %6c%6f%63%61%6chost pets.localhost pets.localhost. localhost.localdomain. loc\u00adalhost
  hooks.public.test@127.0.0.1 hooks.public.test:443@127.0.0.1 hooks.public.test\\@127.0.0.1`;

const words = (text: string) => text.trim().split(/\s+/);

/** URLs of a listener on PORT of loopback, in many spellings. */
const toLoopback = [
  ...words(loopbackHosts).map((host) => `https://${host}:PORT/`),
  'http://127.0.0.1:PORT/',
  'http://localhost:PORT/',
  'https://127.0.0.1:PORT\\@hooks.public.test/',
  'https:\\\\127.0.0.1:PORT/',
  'https:///127.0.0.1:PORT/',
  'https:127.0.0.1:PORT/',
  '//127.0.0.1:PORT/',
  ' https://127.0.0.1:PORT/',
  'https://127.0.\n0.1:PORT/',
  'https://127.0.0.1\t:PORT/',
  'https://127.0.0.1:PORT/#@hooks.public.test',
];

/** Hosts that are not allowed, also with https, or behind a user. */
const forbiddenHosts = `
  hooks.public.test:0 hooks.public.test:65536 hooks.public.test. hooks..public.test .public.test
  -hooks.public.test hooks,public.test *.public.test intranet com printer.local router.home.arpa
  PETS.example:8443 pets.example. 169.254.170.2 2852039166 0xa9fea9fe [::ffff:169.254.169.254]
  [::ffff:a9fe:a9fe] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::] [fd00:ec2::254] [fd20:ce::254]
  100.100.100.200 168.63.129.16 192.0.0.192 1.2.3.4.5 256.1.1.1 4294967296 09.1.1.1 169.254.169.254
  metadata.google.internal pets.example user:secret@hooks.public.test user@hooks.public.test
  @hooks.public.test :@hooks.public.test`;

/** URLs of other targets that are not allowed. */
const elsewhere = [
  ...words(forbiddenHosts).map((host) => `https://${host}/`),
  'http://hooks.public.test/',
  'ftp://hooks.public.test/',
  'file:///etc/passwd',
  'gopher://hooks.public.test/',
  'data:application/json,1',
  'unix:/var/run/docker.sock',
  'javascript:alert(1)',
  'wss://hooks.public.test/',
  '',
  'hooks.public.test',
  'https://',
  'https:///',
  'https://?',
  'https://hooks.public.test/#',
  'https://hooks.public.test/#part',
  'https://hooks.public.test/a b',
  'https://hooks.public.test/a\r\nX-Evil: 1',
  `https://${'a'.repeat(64)}.test/`,
  `https://${'a.'.repeat(126)}test/`,
  `https://hooks.public.test/${'a'.repeat(maxUrlLength)}`,
];

const accepted = [
  'https://hooks.public.test/',
  'https://hooks.public.test',
  'https://hooks.public.test:8443/a/b?c=d&e=%20',
  'HTTPS://Hooks.Public.Test/@path',
  'https://a-b_c.xn--mnchen-3ya.test/',
  'https://münchen.test/',
  'https://1e3.public.test/',
  'https://localhost.public.test/',
  'https://internal.public.test/',
  'https://127.0.0.1.public.test/',
  'https://not-pets.example/',
  'https://sub.pets.example/',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]:8443/hook',
  `https://hooks.public.test/${'a'.repeat(maxUrlLength - 'https://hooks.public.test/'.length)}`,
];

test('a URL of this machine or its network, in any spelling, is refused before any lookup', async (t) => {
  const { port, connections } = await listenOnBoth(t);
  const resolver = nameServer({});
  for (const spelling of [...toLoopback, ...elsewhere]) {
    const url = spelling.replace('PORT', String(port));
    assert.notEqual(targetProblem(url, policy), undefined, url);
    const { status, error } = await sendTo(url, { policy, resolver });
    assert.equal(status, undefined, url);
    assert.match(error ?? '', /^The URL must be .+\.$/, url);
  }
  assert.ok(toLoopback.length + elsewhere.length > 100);
  assert.deepEqual(resolver.asked, []);
  assert.equal(connections(), 0);
  await sendTo(`http://localhost:${port}/`, { resolver });
  assert.ok(connections() > 0, 'a connection would have been noticed');
});

test('each invalid URL gets an error that says what it must be, and does not repeat it', () => {
  for (const [url, problem] of [
    ['pets', 'a complete https URL'],
    ['https://me:secret@hooks.public.test/', 'a URL without user and password'],
    ['https://hooks.public.test/#secret', 'a URL without a fragment'],
    ['http://hooks.public.test/', 'an https URL'],
    ['https://10.0.0.1/', 'a URL of a host on the public Internet'],
    ['https://pets.example/', 'a URL of another service, not of this one'],
    [`https://hooks.public.test/${'a'.repeat(2_000)}`, 'at most 2000 characters long'],
    ['https://hooks.public.test:0/', 'a URL with a port from 1 to 65535'],
  ] as const) {
    assert.equal(targetProblem(url, policy), problem);
  }
});

test('URLs of the public Internet are accepted', () => {
  for (const url of accepted)
    for (const by of [policy, demonstration]) assert.equal(targetProblem(url, by), undefined, url);
});

test('any text as a URL gives an error that is one sentence', async () => {
  // An allowed URL fails when it connects.
  const signal = AbortSignal.abort();
  const resolver = nameServer({});
  const pieces = words('https:// http:// localhost 127.0.0.1 . : @ / \\ # ? [ ] % ::1');
  const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 3 })), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(text, async (pieces) => {
      const { error } = await sendTo(pieces.join(''), { policy, resolver, signal });
      assert.match(error ?? '', /^(The URL must be .+|The attempt was aborted)\.$/);
    }),
    { numRuns: 2_000 },
  );
});

test('in the demo, too, http reaches only localhost and loopback addresses', async (t) => {
  const { port, connections } = await listenOnBoth(t);
  const resolver = nameServer({ 'hooks.public.test': ['127.0.0.1'] });
  for (const url of [
    `http://hooks.public.test:${port}/`,
    `https://hooks.public.test:${port}/`,
    `http://pets.localhost:${port}/`,
    `http://localhost.:${port}/`,
    `http://0.0.0.0:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://me@localhost:${port}/`,
    'http://10.0.0.1/',
    'https://10.0.0.1/',
    'https://169.254.169.254/',
  ]) {
    const { status, error } = await sendTo(url, { resolver });
    assert.deepEqual([status, typeof error], [undefined, 'string'], url);
  }
  assert.equal(connections(), 0);
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.1', '2130706433']) {
    const result = await sendTo(`http://${host}:${port}/`, { resolver });
    assert.deepEqual([result.status, result.error], [200, undefined], host);
  }
});

/** The configuration of the demo. */
const local = {
  ...{ demo: true, host: '127.0.0.1', port: 8080, trustProxy: false },
  baseUrl: 'http://localhost:8080/v1',
};

test('the service does not call itself, neither by its name nor at its port on loopback', () => {
  const inDemonstration = targetPolicy({ ...local, baseUrl: 'http://localhost:3000/v1' });
  for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]', '2130706433']) {
    for (const port of [8080, 3000]) {
      const problem = targetProblem(`http://${host}:${port}/`, inDemonstration);
      assert.equal(problem, 'a URL of another service, not of this one', `${host}:${port}`);
    }
    assert.equal(targetProblem(`http://${host}:8081/`, inDemonstration), undefined);
  }
  const plain = targetPolicy({ ...local, baseUrl: 'http://localhost/v1' });
  assert.notEqual(targetProblem('http://localhost/', plain), undefined);
  assert.equal(targetProblem('https://localhost/', plain), undefined);
  const tunnelled = targetPolicy({ ...local, baseUrl: 'https://Pets.example./v1' });
  assert.notEqual(targetProblem('https://pets.example/v1/pets', tunnelled), undefined);
});

test('loopback is called only in the demo, and only while nobody else can reach the service', () => {
  // Behind a proxy on the same machine.
  assert.equal(targetPolicy({ ...local, baseUrl: 'https://pets.example/v1' }).allowLoopback, false);
  assert.equal(targetPolicy({ ...local, trustProxy: ['loopback'] }).allowLoopback, false);
  const allows = (demo: boolean, host: string) => targetPolicy({ ...local, demo, host }).allowLoopback;
  for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
    assert.deepEqual([allows(true, host), allows(false, host)], [true, false], host);
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '::ffff:127.0.0.1', 'pets.example', '127.1'])
    assert.equal(allows(true, host), false, host);
});

test('a redirect is a failure and is not followed', async (t) => {
  const { port: elsewhere, connections } = await listenOnBoth(t);
  for (const status of [300, 301, 302, 303, 304, 305, 307, 308]) {
    const redirecting = createServer((_request, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${elsewhere}/` }).end();
    });
    const { port } = await listen(t, redirecting);
    const { error, ...result } = await sendTo(`http://localhost:${port}/`);
    const notFollowed = `The receiver returned ${status}; redirects are not followed.`;
    assert.deepEqual([result.status, error], [status, notFollowed]);
  }
  assert.equal(connections(), 0);
});
