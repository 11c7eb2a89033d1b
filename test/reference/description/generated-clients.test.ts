import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checksVersion } from '../../../src/lab/checks/list.ts';
import { faultNames } from '../../../src/lab/faults/list.ts';
import { guides } from '../../../src/reference/description/guides.ts';
import { clients } from '../../clients/clients.ts';
import { fetchedPackages, headings, wordsOfUse } from '../../clients/guide.ts';
import { gradedWith, shownVerdicts } from '../../clients/page.ts';
import { pinnedVersion } from '../../clients/pins.ts';
import { remedies } from '../../clients/remedies.ts';
import { baseUrl } from '../../support/description.ts';
import { fileAt, textOf } from '../../support/tree.ts';

const tours = fileAt('test/clients/tours');

test('each client of the guide is tested by a program, its tour', () => {
  assert.deepEqual(headings().sort(), clients.map(({ heading }) => heading).sort());
  const folders = globSync('*/', { cwd: tours });
  assert.deepEqual(folders.sort(), clients.map(({ name }) => name).sort());
});

test('the tour of each client contains the code that the guide shows', () => {
  for (const { name, heading } of clients) {
    const [program = ''] = globSync(`${name}/**/*.{ts,py,go,rs,java}`, { cwd: tours });
    const tour = readFileSync(join(tours, program), 'utf8');
    const words = wordsOfUse(heading);
    assert.ok(words.length >= 8, heading);
    for (const word of words) assert.ok(tour.includes(word), `${heading}: ${word}`);
  }
});

test('the guide names the clients that are also generated from OpenAPI 3.1', () => {
  const { description = '' } = guides(baseUrl).find(({ name }) => name === 'Generate a client') ?? {};
  const [, names = ''] = /All of them read OpenAPI 3\.0\.3\. (.+?) also work/s.exec(description) ?? [];
  const made = clients.filter(({ readsJsonSchema }) => readsJsonSchema).map(({ heading }) => heading);
  const named = names
    .split(/,\s+|\s+and\s+/)
    .map((name) => clients.find(({ heading }) => heading.startsWith(name))?.heading);
  assert.deepEqual(named.sort(), made.sort());
});

test('each package that the guide installs is tested in a pinned version', () => {
  const packages = fetchedPackages();
  assert.ok(packages.length >= 8);
  for (const name of packages) {
    // npm names may end with a version, and PyPI names with extras.
    assert.ok(pinnedVersion(name.replace(/\[.*|(?<=.)@\d.*/g, '')), `${name} is not pinned`);
  }
});

test('the page of graded clients has each client of the guide with its pinned version, and says how it was made', () => {
  const page = textOf('docs/graded-clients.md');
  const [head, , ...rows] = [...page.matchAll(/^\| (.*) \|$/gm)].map(([, cells = '']) => cells.split(' | '));
  const headings = clients.map(({ heading }) => heading);
  assert.deepEqual(head?.slice(1), headings);
  // Generating the page is slow, so it may be older than the newest faults and checks. Then it says so.
  const [, version] = /by version (\d+) of the checks/.exec(page) ?? [];
  assert.ok(Number(version) <= checksVersion);
  assert.ok(page.includes(`${gradedWith(Number(version), rows.length)}.`), 'the rows are as many as it says');
  const graded = rows.map(([fault]) => fault?.match(/[a-z-]+/)?.[0] ?? '');
  assert.equal(new Set(graded).size, rows.length);
  const unknown = graded.filter((fault) => !faultNames.includes(fault));
  assert.deepEqual(unknown, [], 'run "npm run generate -- graded-clients"');
  for (const [fault = '', ...cells] of rows) {
    assert.equal(cells.length, clients.length, fault);
    for (const cell of cells) assert.ok(Object.values(shownVerdicts).includes(cell), `${fault}: ${cell}`);
  }
  for (const { heading, generator } of clients) {
    const begin = `\n## ${heading}\n\nMade by \`${generator}\` ${pinnedVersion(generator)}.`;
    assert.ok(page.includes(begin), heading);
  }
  const remedied = remedies.flatMap(({ faults }) => faults).sort();
  assert.deepEqual(remedied, faultNames.toSorted(), 'name each fault in test/clients/remedies.ts');
});
