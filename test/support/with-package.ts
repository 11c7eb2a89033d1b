/**
 * Builds the package, packs it and installs it in an empty project, runs a command with
 * PETSTORE_TEST_PACKAGE set to that folder, and removes it:
 * `node test/support/with-package.ts npx node --test test/repository/installing.package.ts`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePackage } from './installed-package.ts';

const [command, ...args] = process.argv.slice(2) as [string, ...string[]];
const folder = mkdtempSync(join(tmpdir(), 'petstore-package-'));
try {
  makePackage(folder);
  const env = { ...process.env, PETSTORE_TEST_PACKAGE: folder };
  process.exitCode = spawnSync(command, args, { env, stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
