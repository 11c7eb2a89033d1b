/** Makes the npm package in `dist/`: `npm run build`, and then `npm pack ./dist`. */

import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { joinPrograms } from '../src/accounts/join-page.ts';
import { neededNode } from '../src/client/needed-node.ts';
import { browserProgram } from '../src/foundation/distribution/tree.ts';
import { version } from '../src/foundation/version.ts';
import { labPrograms } from '../src/lab/serve-lab-page.ts';
import { referencePrograms } from '../src/reference/pages/interactive-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');
const dist = join(root, 'dist');
const lib = join(dist, 'lib');

/** The modules that others may import: an index.ts in `src` or in a folder of it. */
const entries = globSync('{,*/}index.ts', { cwd: src }).sort();

rmSync(dist, { recursive: true, force: true });
run('node_modules/typescript/bin/tsc', '--project', 'tsconfig.package.json');
keepDeclarations();
cpSync(src, lib, {
  recursive: true,
  filter: (path) => !/(?:\.ts|README\.md|\/lab\/page\/.*\.css)$/.test(path),
});
mkdirSync(join(dist, 'bin'));
copy('scripts/package/petstore.js', 'bin/petstore.js');
copy('bin/protect.js');
copy('bin/stop-with-npm.js');
copy('scripts/package/README.md', 'README.md');
copy('CHANGELOG.md');
copy('LICENSE');
await carryPrograms();
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
writeFileSync(join(dist, 'openapi.json'), run('dist/bin/petstore.js', 'openapi'));

/** What a program of JavaScript writes. If it fails, that is told, and this ends. */
function run(...args: string[]): string {
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status === 0) return stdout;
  console.error(stdout);
  process.exit(1);
}

function copy(from: string, to = from): void {
  copyFileSync(join(root, from), join(dist, to));
}

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Removes the declarations that no entry refers to. */
function keepDeclarations(): void {
  const kept = new Set(entries.map((entry) => join(lib, entry.replace(/ts$/, 'd.ts'))));
  for (const file of kept) {
    const references = readFileSync(file, 'utf8').matchAll(/(?:from |import\()["'](\.[^"']+)\.ts["']/g);
    for (const [, reference] of references) kept.add(join(dirname(file), `${reference}.d.ts`));
  }
  const all = globSync('**/*.d.ts', { cwd: lib }).map((file) => join(lib, file));
  for (const file of all) if (!kept.has(file)) rmSync(file);
}

/** Bundles the programs for browsers. */
async function carryPrograms(): Promise<void> {
  for (const file of Object.values({ ...referencePrograms, ...labPrograms, ...joinPrograms })) {
    const target = join(lib, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, await browserProgram(file));
  }
  const notices = [
    notice('node_modules/lit-html/LICENSE', '`lib/lab/page/main.js` contains parts of'),
    notice('node_modules/minisearch/LICENSE.txt', '`lib/reference/pages/page/page.js` contains'),
  ];
  writeFileSync(join(dist, 'NOTICE.md'), `# Third-party code\n\n${notices.join('\n')}`);
}

function notice(licence: string, what: string): string {
  const { name, version } = JSON.parse(textOf(`${dirname(licence)}/package.json`));
  return `${what} ${name} ${version}, minified. Its licence:\n\n${textOf(licence)}`;
}

/**
 * The package.json of the package: that of the tree, without what only the tree needs. The owner adds `repository`, `bugs` and `homepage`
 * to the tree's. npm needs `repository` for the proof where the package was built.
 */
function manifest(): object {
  const {
    private: _,
    scripts,
    optionalDependencies,
    devDependencies,
    overrides,
    ...shared
  } = JSON.parse(textOf('package.json'));
  const code = globSync('**/*.js', { cwd: lib }).map((file) => readFileSync(join(lib, file), 'utf8'));
  const isImported = (name: string) => code.some((text) => new RegExp(`(from |\\()'${name}['/]`).test(text));
  const modules = entries.map((entry) => [dirname(`./${entry}`), `./lib/${entry.replace(/ts$/, 'js')}`]);
  const dependencies = Object.entries(shared.dependencies).filter(([name]) => isImported(name));
  return {
    ...shared,
    version,
    exports: {
      ...Object.fromEntries(modules),
      './openapi.json': './openapi.json',
      './package.json': './package.json',
    },
    imports: { '#distribution': './lib/foundation/distribution/package.js' },
    engines: { node: `^${neededNode} || >=24` },
    files: ['bin', 'lib', 'openapi.json', 'CHANGELOG.md', 'NOTICE.md'],
    dependencies: Object.fromEntries(dependencies),
    publishConfig: { access: 'public', provenance: true },
  };
}
