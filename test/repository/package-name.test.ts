import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { command as installed } from '../../src/foundation/distribution/package.ts';
import { root, textOf } from '../support/tree.ts';

const { name, bin } = JSON.parse(textOf('package.json'));

/** The files that readers see, and those in the package. Earlier entries of the changelog do not change. */
const shipped = globSync(
  [
    ...['{README,CHANGELOG,CONTRIBUTING,SECURITY}.md', 'openapi.json', 'Dockerfile', 'compose.yaml'],
    'deploy/**/*.*',
    ...['docs/**/*.{md,svg}', 'examples/**/*.*', 'scripts/**/*.*', 'bin/*', 'src/**/*.{ts,md,html,css}'],
  ],
  { cwd: root, exclude: (path) => path.endsWith('node_modules') },
).filter((file) => !file.endsWith('package-lock.json'));

const ofNpm = [
  // Runs the npm package of this name.
  /\b(?:npx|npm exec|npm x|pnpx|bunx|(?:pnpm|yarn) dlx)(?: -\S+)* petstore(?![-\w])/,
  /\b(?:npm|pnpm|yarn|bun) (?:i|install|add|ci)\b[^\n`"]*[ "'`]petstore(?![-\w./])/,
  /\bnpm:petstore\b|(?:unpkg\.com|jsdelivr\.net\/npm|esm\.sh)\/petstore\b/,
  /"petstore": "[\^~]?\d/,
];

const leadToNpm = (text: string) =>
  text.split('\n').filter((line) => ofNpm.some((pattern) => pattern.test(line)));

test('the search finds each command that would install the other package of this name from npm', () => {
  for (const line of [
    'npx petstore serve',
    'npx --no-install petstore serve',
    '`npx -y petstore grade`',
    'npm exec petstore',
    'Install it: npm install --save-dev petstore',
    'npm i petstore@latest',
    "import { createPetstore } from 'npm:petstore/client';",
    '"petstore": "^2019.9.14"',
  ])
    assert.deepEqual(leadToNpm(line), [line]);
  for (const line of [
    `${installed} serve`,
    'npm install --save-dev petstore-lab',
    'npm install --save-dev PATH/petstore-lab-VERSION.tgz',
    'npm run -s petstore -- serve',
    'npm install --save-dev orval',
  ])
    assert.deepEqual(leadToNpm(line), []);
});

test('no text, example or program installs the other package of this name from npm', () => {
  assert.ok(shipped.length > 300);
  const found = shipped.flatMap((file) => leadToNpm(textOf(file)).map((line) => `${file}: ${line}`));
  assert.deepEqual(found, []);
});

test('texts and examples import the package by its name in package.json, and call its program', () => {
  const imported = shipped
    .filter((file) => /^(docs|examples|README)|^src\/client\/index\.ts/.test(file))
    .flatMap((file) =>
      [...textOf(file).matchAll(/(?:from|import\()\s*'((?:@[\w-]+\/)?petstore[^']*)'/g)].map(
        ([, specifier = '']) => ({ file, specifier }),
      ),
    );
  assert.ok(imported.length > 8);
  const others = imported.filter(({ specifier }) => specifier !== name && !specifier.startsWith(`${name}/`));
  assert.deepEqual(others, []);
  assert.equal(installed, `npx ${name}`);
  assert.deepEqual(Object.keys(bin), [name, 'petstore']);
  assert.equal(new Set(Object.values(bin)).size, 1);
});
