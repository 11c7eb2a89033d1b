import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { withoutKeys } from '../../../src/foundation/redact.ts';
import { readConfig } from '../../../src/foundation/settings/config.ts';
import {
  InstallationKey,
  installationKey,
  loadSecretKey,
} from '../../../src/foundation/settings/secret-key.ts';
import { ConfigError } from '../../../src/foundation/settings/setting.ts';
import { temporaryFolder } from '../../support/folder.ts';

const text = 'k'.repeat(32);
const key = new InstallationKey(text);
const noModes = process.platform === 'win32' && 'Windows has no modes';

test('a secret depends only on the key and its salt', () => {
  const salt = key.newSalt();
  const secret = key.derive(salt);
  assert.match(secret, /^whsec_[A-Za-z\d+/]{43}=$/);
  assert.equal(new InstallationKey(text).derive(salt), secret);
  assert.notEqual(key.derive(key.newSalt()), secret);
  const other = new InstallationKey(`${text}k`);
  assert.notEqual(other.derive(salt), secret);
  assert.deepEqual([key.isFor(salt), other.isFor(salt)], [true, false]);
});

test('secrets, ids and fingerprints stay the same in every version', () => {
  assert.equal(key.derive('salt'), 'whsec_76hp8Buoqr737vEy61XtSHpuE6ZZt2vfgllHu3MEEgg=');
  assert.equal(key.messageId(1, 'x'), 'evt_escq0nxmmr5aai7mruyfngj28');
  assert.equal(key.fingerprint, 'd799befa4c0236d7');
});

test('a message id depends on all its parts, is the same on every instance, and has no dot', () => {
  const id = key.messageId(1, 'a', 23);
  assert.match(id, /^evt_[\da-z]{25}$/);
  assert.equal(new InstallationKey(text).messageId('1', 'a', '23'), id);
  const others = [key.messageId(1, 'a', 2, 3), key.messageId(1, 'a2', 3), key.messageId('1,a', 23)];
  others.push(new InstallationKey(`${text}k`).messageId(1, 'a', 23));
  assert.equal(new Set([id, ...others]).size, 5);
});

test('sealed data can be opened only in its place, unchanged, with the same key', () => {
  for (const plain of ['', '{"secret":"whsec_…"}', 'x'.repeat(100_000)]) {
    const sealed = key.seal(plain, 'workspace 1, key a');
    assert.equal(key.open(sealed, 'workspace 1, key a'), plain);
    assert.equal(new InstallationKey(text).open(sealed, 'workspace 1, key a'), plain);
    assert.notEqual(key.seal(plain, 'workspace 1, key a'), sealed);
    assert.equal(key.open(sealed, 'workspace 1, key b'), undefined);
    assert.equal(new InstallationKey(`${text}k`).open(sealed, 'workspace 1, key a'), undefined);
    const bytes = Buffer.from(sealed, 'base64');
    for (const at of [0, 11, 12, bytes.length - 17, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.equal(key.open(changed.toString('base64'), 'workspace 1, key a'), undefined);
    }
    assert.equal(key.open(bytes.subarray(0, -1).toString('base64'), 'workspace 1, key a'), undefined);
  }
  for (const sealed of ['', 'x', 'plain text that was never sealed by anybody at all'])
    assert.equal(key.open(sealed, ''), undefined);
});

test('the key is created once, only its owner can read it, and it stays', { skip: noModes }, (t) => {
  const folder = join(temporaryFolder(t), 'new');
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const { fingerprint } = loadSecretKey(folder);
  assert.equal(loadSecretKey(folder).fingerprint, fingerprint);
  assert.deepEqual(readdirSync(folder).sort(), ['.gitignore', 'secret.key']);
  const file = join(folder, 'secret.key');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, 'utf8'), /^[\w-]{43}\n$/);
  assert.equal(new InstallationKey(readFileSync(file, 'utf8').trim()).fingerprint, fingerprint);
  assert.notEqual(loadSecretKey(temporaryFolder(t)).fingerprint, fingerprint);
  chmodSync(file, 0o644);
  writeFileSync(`${file}.01234567-89ab-4cde-8f01-23456789abcd.new`, 'left by a crash', { mode: 0o644 });
  loadSecretKey(folder);
  for (const name of readdirSync(folder))
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test('processes that start at once on a new folder get one key', async (t) => {
  const program = (folder: string) =>
    `import { loadSecretKey } from ${JSON.stringify(new URL('../../../src/foundation/settings/secret-key.ts', import.meta.url).href)};
    process.stdout.write(loadSecretKey(${JSON.stringify(folder)}).fingerprint);`;
  for (let round = 0; round < 3; round++) {
    const folder = temporaryFolder(t);
    const args = ['--input-type=module', '-e', program(folder)];
    const starts = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, args));
    const found = (await Promise.all(starts)).map(({ stdout }) => stdout);
    assert.deepEqual(new Set(found), new Set([loadSecretKey(folder).fingerprint]));
    assert.deepEqual(readdirSync(folder).sort(), ['.gitignore', 'secret.key']);
  }
});

test('a damaged key, or one that is no plain file of this user, stops the start and is not changed', {
  skip: noModes,
}, (t) => {
  const bait = join(temporaryFolder(t), 'bait');
  writeFileSync(bait, text);
  for (const [put, reason] of [
    [(file: string) => writeFileSync(file, ''), /secret\.key is damaged/],
    [(file: string) => writeFileSync(file, 'short'), /secret\.key is damaged/],
    [(file: string) => symlinkSync(bait, file), /secret\.key is not a plain file of this user/],
    [(file: string) => symlinkSync(`${bait}-none`, file), /secret\.key is not a plain file of this user/],
  ] as const) {
    const folder = temporaryFolder(t);
    put(join(folder, 'secret.key'));
    assert.throws(
      () => loadSecretKey(folder),
      (error: Error) =>
        error instanceof ConfigError && error.message.includes(folder) && reason.test(error.message),
    );
    assert.deepEqual(readdirSync(folder).sort(), ['.gitignore', 'secret.key']);
  }
  assert.equal(readFileSync(bait, 'utf8'), text);
});

test('the setting takes precedence over the file, and instances that share a database need it', (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = 'postgres://127.0.0.1/petstore';
  const keyOf = (env: Record<string, string>) =>
    installationKey(readConfig({ PETSTORE_DATA_DIR: dataDir, ...env }));
  assert.equal(keyOf({ PETSTORE_SECRET_KEY: text }).fingerprint, key.fingerprint);
  assert.equal(keyOf({ PETSTORE_SECRET_KEY: text, DATABASE_URL: databaseUrl }).fingerprint, key.fingerprint);
  assert.throws(
    () => keyOf({ DATABASE_URL: databaseUrl }),
    (error: Error) => error instanceof ConfigError && /PETSTORE_SECRET_KEY/.test(error.message),
  );
  assert.deepEqual(readdirSync(dataDir), []);
  assert.equal(keyOf({}).fingerprint, loadSecretKey(dataDir).fingerprint);
});

test('secrets of webhooks are removed from any text', () => {
  const [first, second] = [key.derive(key.newSalt()), `whsec_${'+/-_'.repeat(8)}=`];
  assert.equal(withoutKeys(`?a=${first}&b="${second}"`), '?a=whsec_***&b="whsec_***"');
  let encoded = second;
  for (let times = 1; times <= 3; times++) {
    encoded = encodeURIComponent(encoded.replaceAll(/[ws_]/g, (c) => `%${c.charCodeAt(0).toString(16)}`));
    assert.equal(withoutKeys(`?a=${encoded}&b`), '?a=whsec_***&b', encoded);
  }
  assert.equal(withoutKeys('whsec_short, whsec_'), 'whsec_short, whsec_');
});
