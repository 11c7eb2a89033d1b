import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';

const fileAt = (path: string) => new URL(`../${path}`, import.meta.url);
const textOf = (path: string) => readFileSync(fileAt(path), 'utf8');

interface Compose {
  services: Record<string, { environment?: Record<string, string>; volumes?: string[]; build?: string }>;
}

const compose: Compose = parse(textOf('compose.yaml'), { merge: true });
const instances = Object.entries(compose.services).filter(([, service]) => service.build);

test('the image is made of files that exist, and of all that the service needs', () => {
  const dockerfile = textOf('Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files]) =>
    (files as string).split(' '),
  );
  assert.deepEqual(copied.sort(), [
    'bin',
    'package-lock.json',
    'package.json',
    'src',
    'test/clients/package.json',
  ]);
  const sent = [...textOf('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, file]) => file);
  assert.deepEqual(sent.sort(), copied);
  for (const file of copied) assert.ok(existsSync(fileAt(file)), file);
});

test('every setting of an instance is one that the service reads', () => {
  const readme = textOf('README.md');
  const ofImage = [...textOf('Dockerfile').matchAll(/(\w+)=\S+/g)]
    .map(([, name]) => name as string)
    .filter((name) => /^[A-Z_]+$/.test(name));
  assert.ok(ofImage.includes('HOST'));
  assert.equal(instances.length, 3);
  for (const [, { environment = {} }] of instances) {
    for (const name of [...Object.keys(environment), ...ofImage])
      assert.ok(readme.includes(`\`${name}\``), name);
  }
});

test('the load balancer knows every instance, and lets no caller choose its address', () => {
  const nginx = textOf('deploy/nginx.conf');
  const upstreams = [...nginx.matchAll(/^ *server ([\w-]+):8080 /gm)].map(([, name]) => name);
  assert.deepEqual(
    upstreams,
    instances.map(([name]) => name),
  );
  assert.match(nginx, /proxy_set_header X-Forwarded-For \$remote_addr;/);
});

test('the operations page names every setting that decides how instances run', () => {
  const page = textOf('docs/operations.md');
  for (const name of [
    'DATABASE_URL',
    'VALKEY_URL',
    'VALKEY_TIMEOUT_MS',
    'TRUST_PROXY',
    'PETSTORE_BASE_URL',
    'HOST',
  ])
    assert.ok(page.includes(name), name);
});
