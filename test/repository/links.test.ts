import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { root, textOf } from '../support/tree.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'DECISIONS.md',
  'test/clients/README.md',
  ...globSync('docs/**/*.md', { cwd: root }),
];

test('every file that the README and the pages link to or show exists', () => {
  let links = 0;
  for (const page of pages) {
    for (const [, linked, shown] of textOf(page).matchAll(/\]\(([^)#]+)[^)]*\)|src(?:set)?="([^"]+)"/g)) {
      const path = (linked ?? shown) as string;
      if (/^https?:/.test(path)) continue;
      assert.ok(existsSync(join(root, dirname(page), path)), `${page}: ${path}`);
      links++;
    }
  }
  assert.ok(links >= 10, String(links));
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

test('every heading that the README and the pages link to exists', () => {
  let links = 0;
  for (const page of pages) {
    for (const [, path = '', anchor = ''] of textOf(page).matchAll(/\]\(([^)#]*)#([^)]+)\)/g)) {
      if (/^https?:/.test(path)) continue;
      const target = path ? join(dirname(page), path) : page;
      assert.ok(anchorsOf(target).includes(anchor), `${page}: ${path}#${anchor}`);
      links++;
    }
  }
  assert.ok(links >= 10, String(links));
});
