import assert from 'node:assert/strict';
import { chownSync, existsSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { generateKey } from '../../src/access/keys/store.ts';
import { findService } from '../../src/cli/find-service.ts';
import { Announcement, readServiceAddress } from '../../src/foundation/settings/service-address.ts';
import { temporaryFolder } from '../support/folder.ts';
import { listen } from '../support/receiver.ts';
import { command, printed, startCommand, startService } from '../support/service.ts';
import { temporaryStorage } from '../support/storage.ts';
import { until } from '../support/until.ts';

const noService = (folder: string) =>
  `petstore: No service runs with PETSTORE_DATA_DIR ${folder}. Start one with "npm start", or set its address with --url or PETSTORE_BASE_URL.\n`;

const addressFile = (folder: string) => join(folder, 'service.address');

/** Another program on a port. It claims to be the service, and to have proved it. */
async function stranger(t: TestContext, port = 0) {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers);
    response.end(JSON.stringify({ status: 'alive', proof: headers['petstore-challenge'] }));
  });
  return { ...(await listen(t, server, '127.0.0.1', port)), seen };
}

const keysIn = (seen: IncomingHttpHeaders[]) => seen.flatMap(({ authorization }) => authorization ?? []);

test('commands find the service of their data folder on any port; --url, PETSTORE_BASE_URL and PORT take precedence in this order', async (t) => {
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder };
  const service = await startService(t, folder);
  assert.equal(statSync(addressFile(folder)).mode & 0o777, 0o600);
  await printed(['lab', 'account'], env);
  assert.equal((await command(['lab', 'account'], { ...env, PORT: '0' })).status, 0, 'port 0 names none');
  const rehearsed = await command(['lab', 'rehearse', 'sunset'], env);
  assert.match(rehearsed.stdout, /^Rehearsal \w+ is active until /, rehearsed.stderr);

  const other = await stranger(t);
  const url = `http://127.0.0.1:${other.port}/v1`;
  for (const [given, ...args] of [
    [{}, '--url', url],
    [{ PETSTORE_BASE_URL: 'http://127.0.0.1:9/v1' }, '--url', url],
    [{ PETSTORE_BASE_URL: url }],
    [{ PETSTORE_BASE_URL: url, PORT: '9' }],
    [{ PORT: String(other.port), HOST: '127.0.0.1' }],
    [{ PORT: String(other.port), HOST: '0.0.0.0' }],
  ] as [Record<string, string>, ...string[]][]) {
    const before = other.seen.length;
    await command(['lab', 'account', ...args], { ...env, ...given });
    assert.equal(keysIn(other.seen.slice(before)).length, 1, JSON.stringify([given, args]));
  }

  await service.stop('SIGTERM');
  assert.ok(!existsSync(addressFile(folder)), 'a stop removes it');
  const { status, stdout, stderr } = await command(['lab', 'account'], env);
  assert.deepEqual([status, stdout, stderr], [1, '', noService(folder)]);
});

test('with PORT a command calls the address on which the service listens, not localhost, which may be another', async () => {
  // Port 1 has no service.
  for (const [HOST, host] of [
    ['', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
  ] as const) {
    const { stderr } = await command(['lab', 'account', '--key', generateKey()], { HOST, PORT: '1' });
    assert.match(stderr, new RegExp(`^petstore: ${RegExp.escape(`http://${host}:1/v1`)} cannot be reached`));
  }
});

test('an address file of another user, or behind a link, is ignored', {
  skip: !process.geteuid && 'there are no users',
}, async (t) => {
  const folder = await temporaryStorage(t);
  await startService(t, folder);
  const env = { PETSTORE_DATA_DIR: folder };
  const file = addressFile(folder);
  renameSync(file, `${file}.moved`);
  symlinkSync(`${file}.moved`, file);
  assert.equal((await command(['lab', 'account'], env)).stderr, noService(folder));
  if (process.geteuid?.() !== 0) return;
  renameSync(`${file}.moved`, file);
  assert.equal((await command(['lab', 'account'], env)).status, 0);
  chownSync(file, 65_534, 65_534);
  assert.equal((await command(['lab', 'account'], env)).stderr, noService(folder));
});

test('a service on all addresses is found on loopback; of several instances the last is found, until it stops', (t) => {
  const folder = temporaryFolder(t);
  const [first, last] = [new Announcement(folder), new Announcement(folder)];
  const foundAt = () => readServiceAddress(folder)?.url;
  for (const [address, family, url] of [
    ['127.0.0.1', 'IPv4', 'http://127.0.0.1:81/v1'],
    ['0.0.0.0', 'IPv4', 'http://127.0.0.1:81/v1'],
    ['::', 'IPv6', 'http://[::1]:81/v1'],
    ['192.0.2.7', 'IPv4', 'http://192.0.2.7:81/v1'],
  ] as const) {
    first.announce({ address, family, port: 81 });
    assert.equal(foundAt(), url);
  }
  last.announce({ address: '127.0.0.1', family: 'IPv4', port: 82 });
  first.withdraw();
  assert.equal(foundAt(), 'http://127.0.0.1:82/v1');
  last.withdraw();
  assert.equal(foundAt(), undefined);
});

test('a server that accepts the connection and does not respond is reported as silent', async (t) => {
  const folder = temporaryFolder(t);
  const address = '127.0.0.1';
  const { port } = await listen(t, createTcpServer(), address);
  new Announcement(folder).announce({ address, family: 'IPv4', port });
  const url = `http://${address}:${port}/v1`;
  await assert.rejects(findService(folder, 100), { message: `The service at ${url} does not respond.` });
});

test('after kill -9 no key goes to another program on the same port; commands find the restarted service on its new port', async (t) => {
  const folder = await temporaryStorage(t);
  const env = { PETSTORE_DATA_DIR: folder };
  const service = await startService(t, folder);
  const { written } = startCommand(t, ['webhooks', 'listen'], env);
  await until(() => written.stderr.includes(`Listening to ${service.origin}/v1.`));
  await service.stop('SIGKILL');
  assert.ok(existsSync(addressFile(folder)));
  const { seen } = await stranger(t, Number(new URL(service.origin).port));
  await until(() => written.stderr.includes('Trying again.'));
  for (const args of [
    ['lab', 'account'],
    ['lab', 'rehearse', 'sunset'],
    ['lab', 'record'],
    ['webhooks', 'listen'],
  ]) {
    const before = seen.length;
    const { stderr } = await command(args, env);
    assert.equal(stderr, noService(folder), args.join(' '));
    assert.ok(seen.length > before, 'the program was asked');
  }
  const next = await startService(t, folder);
  await until(() => written.stderr.includes(`Listening to ${next.origin}/v1.`));
  assert.deepEqual(keysIn(seen), []);
  assert.match(readFileSync(addressFile(folder), 'utf8'), new RegExp(next.origin));
});
