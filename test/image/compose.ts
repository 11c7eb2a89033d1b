import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileAt, textOf } from '../support/tree.ts';
import { folder } from './engine.ts';

/** The resolved form of a file, by Compose's own loader. */
function load(env: Record<string, string> = {}, path = fileAt('compose.yaml')) {
  const { status, stdout, stderr } = spawnSync(join(folder, 'load-compose'), [path], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
  return { status, stderr, project: status === 0 ? JSON.parse(stdout) : undefined };
}

test('Compose accepts compose.yaml, and resolves it as intended', () => {
  const { stderr, project } = load();
  assert.equal(stderr, '');
  const { 'load-balancer': front, postgres, valkey, ...instances } = project.services;
  assert.deepEqual(Object.keys(instances), ['petstore-1', 'petstore-2', 'petstore-3']);
  for (const { build, volumes } of Object.values<(typeof instances)[string]>(instances)) {
    assert.deepEqual(build, { context: '.', dockerfile: 'Dockerfile' });
    const [{ type, source, target }, ...others] = volumes;
    assert.deepEqual([type, source, target, others], ['volume', 'data', '/data', []]);
  }
  for (const service of [front, postgres, valkey, ...Object.values(instances)])
    assert.deepEqual(
      [service.read_only, service.cap_drop, service.security_opt, service.stop_grace_period],
      [true, ['ALL'], ['no-new-privileges:true'], '30s'],
    );
  assert.equal(front.ports[0].host_ip, '127.0.0.1');
});

test('the variables that compose.yaml names reach the services', () => {
  const { project } = load({
    POSTGRES_PASSWORD: 'one',
    VALKEY_PASSWORD: 'two',
    PETSTORE_SECRET_KEY: 'three',
    PETSTORE_PUBLISH: '0.0.0.0',
  });
  const { 'load-balancer': front, 'petstore-2': instance, postgres, valkey } = project.services;
  assert.equal(front.ports[0].host_ip, '0.0.0.0');
  assert.equal(instance.environment.DATABASE_URL, 'postgres://petstore:one@postgres:5432/petstore');
  assert.equal(instance.environment.VALKEY_URL, 'redis://:two@valkey:6379');
  assert.equal(instance.environment.PETSTORE_SECRET_KEY, 'three');
  assert.equal(postgres.environment.POSTGRES_PASSWORD, 'one');
  assert.equal(valkey.command.at(-1), 'two');
});

test('Compose refuses unknown properties', () => {
  const misspelt = join(folder, 'misspelt.yaml');
  writeFileSync(misspelt, textOf('compose.yaml').replaceAll('read_only: true', 'readonly: true'));
  const { status, stderr } = load({}, misspelt);
  assert.equal(status, 1);
  assert.match(stderr, /readonly/);
});
