import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cache = fileURLToPath(new URL('../node_modules/.cache/bundles', import.meta.url));

/** The folder of a package of npm in a version, without the packages that it needs. It is fetched once. */
export function packageFolder(name: string, version: string): string {
  const folder = join(cache, `${name.replaceAll('/', '+')}-${version}`);
  if (existsSync(folder)) return folder;
  const fetched = `${folder}.new`;
  rmSync(fetched, { recursive: true, force: true });
  mkdirSync(fetched, { recursive: true });
  const run = (program: string, ...words: string[]) => {
    const { status, stderr } = spawnSync(program, words, { cwd: fetched, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  run('npm', 'pack', '--silent', `${name}@${version}`);
  run('tar', '-xzf', globSync('*.tgz', { cwd: fetched })[0] as string);
  renameSync(join(fetched, 'package'), folder);
  rmSync(fetched, { recursive: true });
  return folder;
}
