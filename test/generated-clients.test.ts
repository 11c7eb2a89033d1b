import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { faultNames } from '../src/lab/rehearsals/faults.ts';
import { clients } from './clients/clients.ts';
import { fetchedPackages, headings, wordsOfUse } from './clients/guide.ts';
import { shownVerdicts } from './clients/page.ts';
import { pinnedVersion } from './clients/pins.ts';
import { remedies } from './clients/remedies.ts';

test('every command of the guide is tried, by a client that has a tour', () => {
  assert.deepEqual(headings().sort(), clients.map(({ heading }) => heading).sort());
  const tours = fileURLToPath(new URL('clients/tours', import.meta.url));
  const folders = readdirSync(tours).filter((name) => statSync(join(tours, name)).isDirectory());
  assert.deepEqual(folders.sort(), clients.map(({ name }) => name).sort());
});

test('what the guide says of the key and of first calls stands in the tour that is taken', () => {
  for (const { name, heading } of clients) {
    const [program] = globSync('**/*.{ts,py,go,rs,java}', {
      cwd: new URL(`clients/tours/${name}/`, import.meta.url),
    });
    const tour = readFileSync(new URL(`clients/tours/${name}/${program}`, import.meta.url), 'utf8');
    const words = wordsOfUse(heading);
    assert.ok(words.length >= 8, heading);
    for (const word of words) assert.ok(tour.includes(word), `${heading}: ${word}`);
  }
});

test('each package that the guide fetches is tried in the version that is pinned', () => {
  const packages = fetchedPackages();
  assert.ok(packages.length >= 8);
  for (const name of packages) {
    // A name of npm may come with a version, and one of PyPI with extras.
    assert.ok(pinnedVersion(name.replace(/\[.*|(?<=.)@\d.*/g, '')), `${name} is not pinned`);
  }
});

test('the page of graded clients has each client of the guide, in the version that is pinned, under each fault', () => {
  const page = readFileSync(new URL('../docs/graded-clients.md', import.meta.url), 'utf8');
  const [head, , ...rows] = [...page.matchAll(/^\| (.*) \|$/gm)].map(([, cells = '']) => cells.split(' | '));
  const headings = clients.map(({ heading }) => heading);
  assert.deepEqual(head?.slice(1), headings);
  assert.deepEqual(
    rows.map(([fault]) => fault?.match(/[a-z-]+/)?.[0]),
    faultNames,
  );
  for (const [fault = '', ...cells] of rows) {
    assert.equal(cells.length, clients.length, fault);
    assert.deepEqual(
      cells.filter((cell) => !Object.values(shownVerdicts).includes(cell)),
      [],
      fault,
    );
  }
  for (const { heading, generator } of clients)
    assert.ok(
      page.includes(`\n## ${heading}\n\nMade by \`${generator}\` ${pinnedVersion(generator)}.`),
      heading,
    );
  assert.deepEqual(remedies.flatMap(({ faults }) => faults).sort(), faultNames.toSorted());
});
