/** Limits when the master changes: Sentinels, and names that resolve to a server: a part of `npm test -- valkey`. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../src/foundation/settings/config.ts';
import { makeCertificate, needsOpenssl } from '../../support/certificate.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { assertAdmitted, remaining } from '../../support/limits.ts';
import { ample, type Petstore, startPetstore } from '../../support/petstore.ts';
import { freePort } from '../../support/port.ts';
import { petstore, startService } from '../../support/service.ts';
import {
  alone,
  clock,
  isShared,
  logged,
  metrics,
  shared,
  startInstances,
  Traffic,
} from '../../support/sharing.ts';
import { StallingProxy } from '../../support/stalling-proxy.ts';
import { temporaryStorage } from '../../support/storage.ts';
import { until } from '../../support/until.ts';
import {
  adminOf,
  masterName,
  needsValkey,
  replicated,
  startSentinel,
  startValkey,
} from '../../support/valkey.ts';
import { statusesOf } from '../../support/values.ts';

/** For a lost master: the Sentinels notice after half a second, and a service within another. */
const failoverMs = 10_000;
const timeoutMs = 1_000;
/** The delay that a busy machine may add. */
const marginMs = 2_000;

test('when the master of three Sentinels is killed, the next one is exact', needsValkey, async (t) => {
  const password = 'sesame+1';
  const args = ['--requirepass', password, '--masterauth', password];
  const master = await startValkey(t, { args });
  const replica = await startValkey(t, { args: [...args, '--replicaof', `127.0.0.1 ${master.port}`] });
  const lines = [`sentinel auth-pass ${masterName} ${password}`, 'requirepass watch+1'];
  lines.push('sentinel sentinel-pass watch+1');
  const sentinels = await Promise.all(
    Array.from({ length: 3 }, () => startSentinel(t, master, { quorum: 2, lines })),
  );
  for (const sentinel of sentinels) {
    const admin = adminOf(t, sentinel, { password: 'watch+1' });
    await until(async () => (await admin.info('sentinel')).includes('slaves=1,sentinels=3'));
  }
  // The first two are gone or silent.
  const silent = await StallingProxy.start(t, sentinels[0]?.port ?? 0);
  silent.stall();
  const ports = [await freePort(), silent.port, ...sentinels.map(({ port }) => port)];
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const url = `redis+sentinel://:${password}@${hosts}/${masterName}?sentinel_password=watch+1`;
  const { valkeyUrls: urls } = readConfig({ VALKEY_URL: url });
  const stores = await startInstances(t, 2, { urls, timeoutMs, clock });
  const [store, other] = stores as [Petstore, Petstore];
  assert.ok(stores.every(isShared));
  const { key } = await store.addKey('pro');
  const { key: busy } = await store.addKey('enterprise', ample);
  for (let i = 0; i < 20; i++) await stores[i % 2]?.call('GET', '/pets/1', { key });
  await replicated(adminOf(t, master, { password }));
  const traffic = new Traffic(stores, busy);
  await traffic.more(20);
  await master.kill();
  await until(() => !stores.some(isShared), failoverMs);
  await until(() => stores.every(isShared), failoverMs);
  await traffic.stop();
  assert.deepEqual([...new Set(statusesOf(traffic.answers))], [200]);
  assert.ok(traffic.longestMs < timeoutMs + marginMs, `${traffic.longestMs} ms`);
  assert.match(await adminOf(t, replica, { password }).info('replication'), /role:master/);
  const calls = Array.from({ length: 300 }, (_, i) =>
    (i % 2 ? store : other).call('GET', '/pets/1', { key }),
  );
  assertAdmitted(await Promise.all(calls), 280);
  for (const { log } of stores) assert.ok(!log.join().includes('sesame') && !log.join().includes('watch+1'));
  for (const one of stores) assert.equal(logged(one, alone), 1);
});

const needsBoth = { skip: needsValkey.skip || needsOpenssl.skip };

test('with TLS, Sentinels and servers are verified by their names', needsBoth, async (t) => {
  const folder = temporaryFolder(t);
  const { cert, key } = makeCertificate(t, 'localhost');
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const tls = ['tls-cert-file', certFile, 'tls-key-file', keyFile, 'tls-ca-cert-file', certFile];
  const options = [...tls, 'tls-auth-clients', 'no', 'tls-replication', 'yes'];
  const port = await freePort();
  const args = ['--port', '0', '--tls-port', String(port)];
  args.push(...options.map((word, i) => (i % 2 ? word : `--${word}`)));
  const master = await startValkey(t, { port, args });
  const sentinelPort = await freePort();
  const lines = [`tls-port ${sentinelPort}`, 'port 0'];
  for (let i = 0; i < options.length; i += 2) lines.push(`${options[i]} ${options[i + 1]}`);
  await startSentinel(t, master, { host: 'localhost', lines });
  const env = {
    VALKEY_URL: `rediss+sentinel://localhost:${sentinelPort}/${masterName}`,
    NODE_EXTRA_CA_CERTS: certFile,
  };
  const service = await startService(t, await temporaryStorage(t), env);
  assert.ok(service.output().includes(shared), service.output());
});

test('a refusal by a Sentinel is logged, without its password', needsValkey, async (t) => {
  const master = await startValkey(t);
  const { port } = await startSentinel(t, master, { lines: ['requirepass sesame'] });
  const at = (name: string, password: string) => ({
    urls: [`redis+sentinel://127.0.0.1:${port}/${name}?sentinel_password=${password}`],
    timeoutMs,
  });
  const unknown = await startPetstore(t, { valkey: at('dogs', 'sesame') });
  assert.equal(logged(unknown, `the Sentinel at 127.0.0.1:${port} knows no master dogs`), 1);
  const wrong = await startPetstore(t, { valkey: at(masterName, 'guessed') });
  assert.equal(logged(wrong, 'WRONGPASS'), 1);
  for (const { log } of [unknown, wrong]) assert.doesNotMatch(log.join(), /sesame|guessed/);
});

test('unusable servers stop the start with one line that says what to write', needsValkey, async (t) => {
  const servers = [await startValkey(t), await startValkey(t)];
  const sentinels = await Promise.all(servers.map((server) => startSentinel(t, server)));
  const start = async (urls: string[]) =>
    petstore(['serve'], { PETSTORE_DATA_DIR: await temporaryStorage(t), VALKEY_URL: urls.join(',') });
  const urls = sentinels.map(({ url }) => url);
  for (const shown of [urls, urls.slice(1)]) {
    const { status, stdout, stderr } = await start(shown);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(
      stderr,
      /^petstore: VALKEY_URL names a Sentinel\. Write redis\+sentinel:.*:\d+\/NAME\. .*\n$/,
    );
  }
  const { status, stderr } = await start(servers.map(({ url }) => url));
  assert.equal(status, 1);
  assert.match(stderr, /^petstore: VALKEY_URL names several servers, .*\n$/);
});

test('a Sentinel address is read in its usual forms, and an invalid one is refused', () => {
  const read = (url: string) => readConfig({ VALKEY_URL: url }).valkeyUrls;
  assert.deepEqual(read('redis+sentinel://u:p,1@a:1, [::1]:2,b/pets/3?sentinel_password=s'), [
    'redis+sentinel://u:p,1@a:1/pets/3?sentinel_password=s',
    'redis+sentinel://u:p,1@[::1]:2/pets/3?sentinel_password=s',
    'redis+sentinel://u:p,1@b/pets/3?sentinel_password=s',
  ]);
  assert.deepEqual(read('rediss://a:1, rediss://[::1]'), ['rediss://a:1', 'rediss://[::1]']);
  for (const url of [
    'redis+sentinel://a',
    'redis+sentinel://a/pets/x',
    'redis+sentinel://a/pets?password=x',
    'redis+sentinel://a,/pets',
    'redis+sentinel://a/%',
    'redis://a?sentinel_password=x',
    'redis://a,rediss://b',
    'redis+sentinel://a/pets,redis+sentinel://b/pets',
    'redis://a,b',
  ])
    assert.throws(() => read(url), /^Error: VALKEY_URL must be/, url);
});

test('while a name resolves to a replica, an instance limits on its own', needsValkey, async (t) => {
  const first = await startValkey(t);
  const second = await startValkey(t, { args: ['--replicaof', `127.0.0.1 ${first.port}`] });
  const name = await StallingProxy.start(t, first.port);
  const stores = await startInstances(t, 2, { urls: [`redis://127.0.0.1:${name.port}`], timeoutMs, clock });
  const { key } = await stores[0].addKey('pro');
  const { key: busy } = await stores[0].addKey('enterprise', ample);
  for (const store of stores) await store.call('GET', '/pets/1', { key });
  const [old, next] = [adminOf(t, first), adminOf(t, second)];
  await replicated(old);
  await next.replicaof('NO', 'ONE');
  await old.replicaof('127.0.0.1', second.port);
  const traffic = new Traffic(stores, busy);
  await until(() => !stores.some(isShared));
  const connections = name.count;
  await sleep(2_000);
  assert.ok(name.count <= connections + 10, `${name.count - connections} connections in two seconds`);
  for (const store of stores) {
    assert.equal((await metrics(store)).shared, 0);
    assert.equal((await store.send('GET', '/readyz', { key: null })).status, 200);
    for (const text of [alone, 'READONLY', 'is a replica']) assert.equal(logged(store, text), 1, text);
  }
  name.targetPort = second.port;
  await until(() => stores.every(isShared), failoverMs);
  await traffic.stop();
  assert.ok(traffic.answers.every(({ status }) => status === 200));
  for (const [i, store] of stores.entries())
    assert.equal(remaining(await store.call('GET', '/pets/1', { key })), 297 - i);
});

test('nothing is counted on a writable replica, which would lose the counts', needsValkey, async (t) => {
  const master = await startValkey(t);
  const args = ['--replicaof', `127.0.0.1 ${master.port}`, '--replica-read-only', 'no'];
  const replica = await startValkey(t, { args });
  const store = await startPetstore(t, { valkey: { urls: [replica.url], timeoutMs, clock } });
  assert.equal(logged(store, `the server at 127.0.0.1:${replica.port} is a replica`), 1);
  await adminOf(t, replica).replicaof('NO', 'ONE');
  await until(() => isShared(store));
});
