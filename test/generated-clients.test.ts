import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clients } from './clients/clients.ts';
import { fetchedPackages, headings, wordsOfUse } from './clients/guide.ts';

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
  const pins = [
    'package.json',
    'clients/package.json',
    'clients/requirements.txt',
    'clients/tours/oapi-codegen/go.mod',
    'clients/tours/openapi-generator-go/go.mod',
    'clients/tours/orval/package.json',
  ].map((path) =>
    readFileSync(new URL(path === 'package.json' ? `../${path}` : path, import.meta.url), 'utf8'),
  );
  const packages = fetchedPackages();
  assert.ok(packages.length >= 8);
  for (const name of packages) {
    // A path of Go may name a program within its module; a name of npm may come with a version.
    const pinned = name.replace(/\[.*|(?<=.)@\d.*|\/cmd\/.*/g, '');
    assert.ok(
      pins.some((text) => new RegExp(`(?:^|[\\s"])${RegExp.escape(pinned)}(?:"|==| v)`, 'm').test(text)),
      `${pinned} is not pinned`,
    );
  }
});
