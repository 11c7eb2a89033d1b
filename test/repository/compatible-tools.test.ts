import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { introOf } from '../../tools/support/page.ts';
import { clients } from '../clients/clients.ts';
import { pinnedVersion } from '../clients/pins.ts';
import { root, textOf } from '../support/tree.ts';

const page = textOf('docs/compatible-tools.md');
const rows = [...page.matchAll(/^\| \[(.+?)\]\((.+?)\)( ✓)? \| (?:`(\S+)` )?(.+?) \|/gm)].map(
  ([, name = '', url = '', ran, from, version]) => ({ name, url, ran: ran !== undefined, from, version }),
);
const again = 'run "npm run proof -- tools"';

test('the page of compatible tools counts its rows, and links repositories', () => {
  const date = /\d{4}-\d\d-\d\d/.exec(page)?.[0] as string;
  const intro = introOf(rows.length, rows.filter(({ ran }) => ran).length, date);
  assert.ok(page.includes(`\n\n${intro}\n\n`), again);
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  for (const { url } of rows)
    assert.match(url, /^https:\/\/(?:github|gitlab|codeberg|bitbucket)\.(?:com|org)\/[^/]+\/[^/]+/);
});

test('each version on the page of compatible tools equals its pin', () => {
  const pinned = rows.filter(({ from }) => from);
  assert.ok(pinned.length >= 20, String(pinned.length));
  for (const { from = '', version } of pinned)
    assert.equal(version, pinnedVersion(from), `${from}: ${again}`);
});

test('the page of compatible tools has a row for each tool that a test names literally', () => {
  const files = globSync('{lint,test,tools}/**/*.*.ts', { cwd: root, exclude: ['**/node_modules/**'] });
  const named = files.flatMap((file) =>
    [...textOf(file).matchAll(/pinnedTool\(\s*(['"])(.+?)\1/g)].map(([, , name]) => name as string),
  );
  assert.ok(named.length >= 10);
  for (const name of [...named, ...clients.map(({ heading }) => heading)])
    assert.ok(
      rows.some((row) => row.name === name),
      `${name}: ${again}`,
    );
});
