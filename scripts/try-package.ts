/**
 * Makes the tarball of the npm package, and uses it as a new user does, in an empty folder: `npm run try-package`. Publishes nothing. The
 * tarball stays in this folder, and its SHA-256 is printed for the release.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packPackage } from '../test/support/installed-package.ts';
import { tryPackage } from '../test/support/try-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { filename } = packPackage(root);
const tarball = join(root, filename);
const folder = mkdtempSync(join(tmpdir(), 'petstore-try-'));
try {
  await tryPackage(tarball, folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const hash = createHash('sha256').update(readFileSync(tarball)).digest('hex');
console.log(`It can be installed, started and used to grade a program.\n${hash}  ${filename}`);
