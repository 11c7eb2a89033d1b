import assert from 'node:assert/strict';
import { test } from 'node:test';
import tls from 'node:tls';
import fc from 'fast-check';
import { isPublicAddress, targetProblem } from '../../../src/store/webhooks/target-policy.ts';
import { makeCertificate, needsOpenssl } from '../../support/certificate.ts';
import { listenOnBoth, listenWell, nameServer, policy, sendTo } from '../../support/receiver.ts';

/** Addresses of every range that is not public. */
const notPublic = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1'],
  ...['127.255.255.255', '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1'],
  ...['192.0.2.1', '192.31.196.1', '192.52.193.1', '192.88.99.1', '192.168.0.1', '192.168.255.255'],
  ...['192.175.48.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1'],
  ...['239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16', '100.100.100.200'],
  ...['::', '::1', '::2', '::7f00:1', '::8.8.8.8', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b::8.8.8.8'],
  ...['64:ff9b:1::8.8.8.8', '100::1', '100:0:0:1::1', '2001::1', '2001:2::1', '2001:3::1', '2001:4:112::1'],
  ...['2001:10::1', '2001:20::1', '2001:30::1', '2001:1ff::1', '2001:db8::1', '2002::1', '2002:808:808::1'],
  ...['2600::5efe:8.8.8.8', '2600::100:5efe:8.8.8.8', '2600::300:5efe:808:808', '2620:4f:8000::1', '3fff::1'],
  ...['1fff::1', '4000::1', '5f00::1', '8000::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'febf::1'],
  ...['fec0::1', 'ff02::1', 'ff0e::1', 'fe80::1%eth0', '2600::1%eth0'],
  ...['', 'localhost', '8.8.8', '0x8.8.8.8', '8.8.8.8 '],
];

const publicAddresses = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '168.63.129.15', '169.253.255.255', '172.15.255.255', '172.32.0.0', '192.167.255.255'],
  ...['198.17.255.255', '198.20.0.0', '223.255.255.255', '2001:200::1', '2001:4860:4860::8888', '2003::1'],
  ...['2600::1', '2606:4700:4700::1111', '2a00:1450::5efe', '3ffe::1'],
];

const notAllowed = 'The name resolves to an address that is not allowed: it must be public.';

test('no address outside the public Internet is called, whatever range or tunnel it belongs to', () => {
  for (const address of notPublic) assert.equal(isPublicAddress(address), false, address);
  for (const address of publicAddresses) assert.equal(isPublicAddress(address), true, address);
});

test('an IPv4 address is judged by its value, in every spelling of its numbers', () => {
  const part = (value: number, base: number) => ({ 8: '0', 10: '', 16: '0x' })[base] + value.toString(base);
  const octet = fc.oneof(fc.nat(255), fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 254, 255));
  const octets = fc.tuple(octet, octet, octet, octet);
  const bases = fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(octets, bases, fc.integer({ min: 1, max: 4 }), (octets, bases, count) => {
      const last = octets.slice(count - 1).reduce((sum, value) => sum * 256 + value, 0);
      const parts = [...octets.slice(0, count - 1), last].map((value, i) => part(value, bases[i] as number));
      const url = `https://${parts.join('.')}/`;
      assert.equal(targetProblem(url, policy) === undefined, isPublicAddress(octets.join('.')), url);
    }),
    { numRuns: 2_000 },
  );
});

test('a name is refused if any of its addresses is not public, and the address is not shown', async (t) => {
  const { port, connections } = await listenOnBoth(t);
  const plain = notPublic.filter(
    (address) => !address.includes('%') && /^[\da-f:.]*[:.][\da-f:.]*$/.test(address),
  );
  const sets = [
    ...plain.map((address) => [address]),
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '1.1.1.1', '9.9.9.9', '10.0.0.1'],
    ['8.8.8.8', '::1'],
    ['2600::1', '127.0.0.1'],
    ['2600::1', '2600::2', '2600::3', '::ffff:127.0.0.1'],
  ];
  for (const addresses of sets) {
    const resolver = nameServer({ 'hooks.public.test': addresses });
    const result = await sendTo(`https://hooks.public.test:${port}/`, { policy, resolver });
    assert.deepEqual([result.status, result.error], [undefined, notAllowed], addresses.join());
  }
  assert.equal(connections(), 0);
});

test('a name is resolved once, and the connection goes to the checked address', needsOpenssl, async (t) => {
  const certificate = makeCertificate(t, 'hooks.public.test');
  const { port } = await listenWell(t, certificate);
  const send = () => sendTo(`https://hooks.public.test:${port}/`, { policy, resolver, ca: certificate.cert });
  const offered: unknown[] = [];
  const { connect } = tls;
  // No public address is called: the test redirects each connection to the listener and records its destination.
  t.mock.method(tls, 'connect', ((options: tls.ConnectionOptions) => {
    const { host = '', lookup } = options;
    for (let times = 0; times < 2; times++)
      lookup?.(host, { all: true }, (_error, addresses) => offered.push(addresses));
    return connect({ ...options, host: '127.0.0.1', servername: host });
  }) as typeof connect);
  const answers = [['8.8.8.8', '9.9.9.9', '1.1.1.1'], ['127.0.0.1']];
  const resolver = {
    resolve4: async () => answers.shift() ?? [],
    resolve6: async () => ['2600::1'],
  };
  const result = await send();
  assert.deepEqual([result.status, result.error], [200, undefined]);
  const checked = [
    { address: '8.8.8.8', family: 4 },
    { address: '9.9.9.9', family: 4 },
    { address: '2600::1', family: 6 },
  ];
  assert.deepEqual(offered, [checked, checked]);
  assert.equal((await send()).error, notAllowed);
  assert.equal(offered.length, 2, 'no connection was kept for it either');
});

test('an open connection is not used again once its name has other addresses', needsOpenssl, async (t) => {
  const certificate = makeCertificate(t, 'hooks.public.test');
  const { port, connections } = await listenWell(t, certificate);
  const { connect } = tls;
  t.mock.method(tls, 'connect', ((options: tls.ConnectionOptions) =>
    connect({ ...options, host: '127.0.0.1', servername: options.host })) as typeof connect);
  const url = `https://hooks.public.test:${port}/`;
  for (const [addresses, expected] of [
    [['8.8.8.8', '9.9.9.9'], 1],
    [['9.9.9.9', '8.8.8.8'], 1],
    [['9.9.9.9', '1.1.1.1'], 2],
  ] as const) {
    const resolver = nameServer({ 'hooks.public.test': [...addresses] });
    assert.equal((await sendTo(url, { policy, resolver, ca: certificate.cert })).status, 200);
    assert.equal(connections(), expected, addresses.join());
  }
});
