import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { fieldNames } from '../../src/foundation/field-names.ts';
import { fileAt, textOf } from '../support/tree.ts';

interface Service {
  [setting: string]: unknown;
  environment?: Record<string, string>;
}

const compose = parse(textOf('compose.yaml'), { merge: true });
const services = Object.entries<Service>(compose.services);
const instances = services.filter(([, { build }]) => build);

test('the image is built from existing files, and from all that the service needs', () => {
  const dockerfile = textOf('Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files]) =>
    (files as string).split(' '),
  );
  const needed = ['CHANGELOG.md', 'LICENSE', 'bin', 'package-lock.json', 'package.json', 'src'];
  assert.deepEqual(copied.sort(), needed);
  const sent = [...textOf('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, file]) => file);
  assert.deepEqual(sent.sort(), copied);
  for (const file of copied) assert.ok(existsSync(fileAt(file)), file);
});

test('the service reads every setting that the deployment sets', () => {
  const page = textOf('docs/configuration.md');
  const ofImage = [...textOf('Dockerfile').matchAll(/(\w+)=\S+/g)]
    .map(([, name]) => name as string)
    .filter((name) => /^[A-Z_]+$/.test(name));
  assert.ok(ofImage.includes('HOST'));
  assert.equal(instances.length, 3);
  for (const [, { environment = {} }] of instances) {
    for (const name of [...Object.keys(environment), ...ofImage])
      assert.ok(page.includes(`\`${name}\``), name);
  }
});

test('no service runs as root or can become root, and each writes only to memory and its volumes', () => {
  assert.equal(services.length, 6);
  for (const [name, { user, tmpfs, read_only, cap_drop, security_opt, privileged, cap_add }] of services) {
    assert.doesNotMatch(String(user || 'root'), /^(0|root)(:|$)/, name);
    assert.ok([tmpfs].flat().includes('/tmp'), name);
    assert.deepEqual([read_only, privileged, cap_add], [true, undefined, undefined], name);
    assert.deepEqual([cap_drop, security_opt], [['ALL'], ['no-new-privileges:true']], name);
  }
  const [, user] = /^USER (\d+)$/m.exec(textOf('Dockerfile')) ?? [];
  assert.match(textOf('Dockerfile'), new RegExp(`useradd .*--uid ${user} `));
  for (const [name, instance] of instances) assert.equal(instance.user, user, name);
});

test('only the load balancer is published, by default on loopback, and no storage is on its network', () => {
  assert.deepEqual(
    services.flatMap(([name, { ports }]) => (ports ? [[name, ports]] : [])),
    [['load-balancer', [`\${PETSTORE_PUBLISH:-127.0.0.1}:8080:8080`]]],
  );
  const { 'load-balancer': front, postgres, valkey } = compose.services;
  assert.deepEqual(
    [front.networks, postgres.networks, valkey.networks],
    [['front'], ['storage'], ['storage']],
  );
  assert.equal(compose.networks.storage.internal, true);
});

test('Valkey and PostgreSQL require the password that the instances have', () => {
  const { postgres, valkey } = compose.services;
  const [of, ofValkey] = ['POSTGRES', 'VALKEY'].map((name) => `\${${name}_PASSWORD:-petstore}`);
  assert.equal(postgres.environment.POSTGRES_PASSWORD, of);
  assert.equal(valkey.command[valkey.command.indexOf('--requirepass') + 1], ofValkey);
  assert.equal(valkey.environment.REDISCLI_AUTH, ofValkey);
  for (const [name, { environment }] of instances) {
    assert.ok(environment?.DATABASE_URL?.includes(`:${of}@postgres:`), name);
    assert.ok(environment?.VALKEY_URL?.includes(`:${ofValkey}@valkey:`), name);
  }
});

test('the load balancers are configured with every instance', () => {
  const names = instances.map(([name]) => name);
  const namedIn = (file: string, pattern: RegExp) =>
    [...textOf(`deploy/${file}`).matchAll(pattern)].map(([, name]) => name);
  assert.deepEqual(namedIn('nginx.conf', /^ *server ([\w-]+):8080 /gm), names);
  // HAProxy names them once for requests, once for writes, and once for streams.
  const pattern = /^ *server ([\w-]+) \1:8080(?:$| track requests\/\1$)/gm;
  assert.deepEqual(namedIn('haproxy.cfg', pattern), [...names, ...names, ...names]);
});

test('HAProxy has the documented spelling of every response header field', () => {
  const adjusted = [...textOf('deploy/haproxy.cfg').matchAll(/^ *h1-case-adjust (\S+) (\S+)$/gm)];
  assert.deepEqual(
    adjusted.map(([, from, to]) => [from, to]),
    fieldNames.map((name) => [name.toLowerCase(), name]),
  );
});

test('the operations page names every setting for running instances', () => {
  const page = textOf('docs/operations.md');
  const ofStorage = 'DATABASE_URL VALKEY_URL VALKEY_TIMEOUT_MS POSTGRES_PASSWORD VALKEY_PASSWORD'.split(' ');
  for (const name of [...ofStorage, 'TRUST_PROXY', 'PETSTORE_BASE_URL', 'PETSTORE_PUBLISH', 'HOST'])
    assert.ok(page.includes(name), name);
});
