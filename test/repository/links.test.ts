import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('every file that the README and the pages link to or show is there', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  let links = 0;
  for (const page of ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]) {
    const text = readFileSync(join(root, page), 'utf8');
    for (const [, linked, shown] of text.matchAll(/\]\(([^)#]+)[^)]*\)|src(?:set)?="([^"]+)"/g)) {
      const path = (linked ?? shown) as string;
      if (/^https?:/.test(path)) continue;
      assert.ok(existsSync(join(root, dirname(page), path)), `${page}: ${path}`);
      links++;
    }
  }
  assert.ok(links >= 10, String(links));
});
