import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { root, textOf } from '../support/tree.ts';

const pages = globSync(['*.md', 'test/clients/README.md', 'docs/**/*.md'], {
  cwd: root,
  exclude: ['CHANGELOG.md'],
});

/** The anchors that a viewer of Markdown gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  const prose = textOf(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every source file that a page names exists', () => {
  const folders = ['', 'src', ...globSync(['src/*', 'src/lab/faults'], { cwd: root })];
  let count = 0;
  for (const page of [...pages, ...globSync('src/*/README.md', { cwd: root })])
    for (const [, path = ''] of textOf(page).matchAll(/`([a-z\d./-]+\/[a-z\d.-]+\.(?:ts|lua|sql|sh|py))`/g)) {
      // A resource that the page only imagines.
      if (path.includes('suppliers')) continue;
      assert.ok(
        folders.some((folder) => existsSync(join(root, folder, path))),
        `${page}: ${path}`,
      );
      count++;
    }
  assert.ok(count > 100, `${count}`);
});

test('every file and every heading that the README and the pages link to or show exists', () => {
  const counts = { files: 0, headings: 0 };
  for (const page of pages) {
    const links = textOf(page).matchAll(/\]\(([^)#]*)(?:#([^)]+))?\)|src(?:set)?="([^"]+)"/g);
    for (const [, linked = '', anchor, shown = linked] of links) {
      if (/^https?:/.test(shown)) continue;
      const target = shown ? join(dirname(page), shown) : page;
      assert.ok(existsSync(join(root, target)), `${page}: ${shown}`);
      counts.files++;
      if (anchor === undefined) continue;
      assert.ok(anchorsOf(target).includes(anchor), `${page}: ${shown}#${anchor}`);
      counts.headings++;
    }
  }
  assert.ok(counts.files >= 20 && counts.headings >= 10, JSON.stringify(counts));
});
