import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { joinPrograms } from '../../src/accounts/join-page.ts';
import * as ofPackage from '../../src/foundation/distribution/package.ts';
import * as ofTree from '../../src/foundation/distribution/tree.ts';
import { labPagePaths, labPrograms } from '../../src/lab/serve-lab-page.ts';
import { tracePackages } from '../../src/observe/traces.ts';
import { referencePaths, referencePrograms } from '../../src/reference/pages/interactive-page.ts';
import { textPaths } from '../../src/reference/pages/texts.ts';
import { temporaryFolder } from '../support/folder.ts';
import { environment, installedPackage, npx, otherNode, serveByNpx } from '../support/installed-package.ts';
import { blocksOf } from '../support/pasted.ts';
import { isAlive } from '../support/programs.ts';
import { openStream } from '../support/streams.ts';
import { root } from '../support/tree.ts';
import { tryPackage } from '../support/try-package.ts';
import { until } from '../support/until.ts';

const programs = { ...labPrograms, ...referencePrograms, ...joinPrograms };

/** Less than the duration of a stop that waits for requests in progress. */
const endsWithinMs = 8_000;

const { packed, tarball, project, folder } = installedPackage();
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');
const manifest = JSON.parse(textOf('package.json'));
const paths = packed.files.map(({ path }) => path);
/** The exported modules and data. */
const exported = Object.keys(manifest.exports).map((path) => path.replace('.', manifest.name));

const isDeclaration = (path: string) => path.endsWith('.d.ts');

const pythonEnv = {
  ...process.env,
  PYTHONPATH: [join(root, 'node_modules/.cache/python'), join(root, 'examples/pytest')].join(delimiter),
  PYTHONDONTWRITEBYTECODE: '1',
};
const hasPytest = spawnSync('python3', ['-c', 'import pytest'], { env: pythonEnv }).status === 0;

/** Each Node.js that the package is for. */
const nodes = [
  ['the oldest Node.js that it runs on', otherNode('node-22')],
  ['the next', otherNode('node-24')],
  ['the Node.js of the tree', { node: process.execPath, skip: false }],
] as const;
const tooOld = otherNode('node-20');

test('the tarball has the built code, the files that it reads, and nothing else', () => {
  const built = globSync('**/*.*', { cwd: join(root, 'src') })
    .filter((file) => file !== 'foundation/distribution/tree.ts' && !/(?:\.d\.ts|README\.md)$/.test(file))
    // Bundles contain these.
    .filter(
      (file) =>
        !/^(?:lab\/page\/(?!pets\/)|reference\/pages\/page\/|accounts\/page\/|access\/keys\/browser-key|http\/pages\/pretty-json)/.test(
          file,
        ),
    )
    .map((file) => `lib/${file.replace(/\.ts$/, '.js')}`);
  const others = [
    'bin/petstore.js',
    'bin/protect.js',
    'bin/stop-with-npm.js',
    'lib/accounts/page/join.html',
    'lib/lab/page/index.html',
    'lib/reference/pages/page/icon.svg',
    ...Object.values(programs).map((file) => `lib/${file.replace(/\.ts$/, '.js')}`),
    'openapi.json',
    'package.json',
  ];
  assert.deepEqual(
    paths.filter((path) => !isDeclaration(path)).sort(),
    [...built, ...others, 'CHANGELOG.md', 'LICENSE', 'NOTICE.md', 'README.md'].sort(),
  );
  for (const path of paths.filter(isDeclaration))
    assert.ok(built.includes(path.replace('.d.ts', '.js')), path);
});

test('the dependencies of the package are exactly the packages that its code imports', () => {
  const {
    dependencies,
    optionalDependencies,
    devDependencies,
    overrides,
    engines,
    scripts,
    private: isPrivate,
  } = manifest;
  assert.equal(isPrivate, undefined);
  assert.ok(packed.size < 1_000_000);
  assert.deepEqual([optionalDependencies, devDependencies, overrides, scripts], Array(4).fill(undefined));
  assert.deepEqual(engines, { node: '^22.16 || >=24' });
  const code = paths.filter((path) => /^lib\/.*\.js$/.test(path)).map(textOf);
  const imported = code
    .flatMap((text) => [
      ...text.matchAll(/(?:^(?:import|export) .*from |import\(|resolve\()'([^'.#][^']*)'/gm),
    ])
    .map(([, name = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] as string)
    .filter((name) => !name.startsWith('node:'));
  // Users who turn traces on install their packages. The service names them.
  const needed = [...Object.keys(dependencies), ...Object.keys(tracePackages)];
  assert.deepEqual([...new Set(imported)].sort(), needed.sort());
});

test('installing the package installs no Node.js, and runs no script', () => {
  const { packages } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  const brought = Object.entries<{ hasInstallScript?: boolean; bin?: object }>(packages);
  assert.ok(brought.length > 50);
  for (const [path, { hasInstallScript, bin = {} }] of brought)
    assert.ok(!hasInstallScript && !('node' in bin), path);
});

test('the description and the guides show the commands of the package', () => {
  const { command, firstStart, neededNode } = ofPackage;
  const golden = readFileSync(join(root, 'openapi.json'), 'utf8')
    .replaceAll(ofTree.command, command)
    .replaceAll(ofTree.firstStart, firstStart)
    .replaceAll(`Node.js ${ofTree.neededNode} or newer`, `Node.js ${neededNode} or newer`);
  assert.match(golden, /npx petstore-lab lab rehearse/);
  assert.doesNotMatch(golden, /npm (run|start|ci)\b/);
  assert.equal(textOf('openapi.json'), golden);
});

test('the tree itself cannot be packed', () => {
  const args = ['pack', '--dry-run', '--loglevel', 'error'];
  const { status, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /must have name and version/);
});

for (const [name, { node, skip }] of nodes) {
  describe(`installed by ${name}`, { skip, concurrency: true }, () => {
    const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout;

    test('npx runs its commands with the Node.js of the user', () => {
      assert.deepEqual(npx(node, 'petstore-lab', '--version'), {
        status: 0,
        stdout: `${manifest.version}\n`,
        stderr: '',
      });
      assert.equal(npx(node, 'node', '--version').stdout, version);
      assert.equal(npx(node, 'petstore', 'fly').status, 2);
    });

    test('all exports can be imported', () => {
      const program = exported.map((name) =>
        name.endsWith('.json')
          ? `await import('${name}', { with: { type: 'json' } });`
          : `await import('${name}');`,
      );
      const args = ['--input-type=module', '--eval', program.join('\n')];
      const { stderr } = spawnSync(node, args, { cwd: project, encoding: 'utf8' });
      assert.equal(stderr.replaceAll(/^\(.*\n/gm, ''), '');
    });

    test('require() loads what import loads', () => {
      const program = `for (const name of ${JSON.stringify([manifest.name, `${manifest.name}/client`])})
        console.log(Object.keys(require(name)).sort().join());`;
      const { stdout, stderr } = spawnSync(node, ['--input-type=commonjs', '--eval', program], {
        ...{ cwd: project, encoding: 'utf8' },
      });
      assert.equal(stderr, '');
      assert.match(stdout, /^startPetstore\n.*createLab,createPetstore.*\n$/);
    });

    test('the programs of docs/from-code.md run', () => {
      for (const { code } of blocksOf(readFileSync(join(root, 'docs/from-code.md'), 'utf8'))) {
        const args = ['--input-type=module', '--eval', node === process.execPath ? code : withoutUsing(code)];
        const options = { cwd: project, env: environment(node), encoding: 'utf8' } as const;
        const { status, stdout, stderr } = spawnSync(node, args, options);
        assert.deepEqual([status, stderr], [0, ''], stdout);
      }
    });

    test('in an empty folder it is installed, answers a request and grades a program', (t) =>
      tryPackage(tarball, temporaryFolder(t), node));

    test('npx serves the API, a stream, the reference, the lab page and all texts, and stops at once', async (t) => {
      const service = await serveByNpx(t, node, join(temporaryFolder(t), 'data'));
      const { origin, port } = new URL(service.baseUrl);
      const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
      const stream = await openStream(t, origin, { key: service.key });
      const body = JSON.stringify({ name: 'Dragons' });
      const made = await fetch(`${service.baseUrl}/categories`, { method: 'POST', headers, body });
      assert.equal(made.status, 201);
      await until(() => stream.events.some(({ type }) => type === 'category.created'));

      const others = [
        ...Object.keys(programs),
        '/v1/openapi.yaml',
        '/lab/openapi.json',
        '/accounts/openapi.json',
      ];
      const paths = new Set([...referencePaths, ...labPagePaths, ...textPaths(true), ...others]);
      const answers = [...paths].map(async (path) => ({ path, answer: await fetch(`${origin}${path}`) }));
      const texts = new Map<string, string>();
      for (const { path, answer } of await Promise.all(answers)) {
        assert.equal(answer.status, 200, path);
        texts.set(path, await answer.text());
      }
      assert.match(texts.get('/v1/openapi.yaml') as string, /^openapi: 3\.0\.3\n/);
      for (const [path, file] of Object.entries(programs))
        assert.equal(texts.get(path), await ofTree.browserProgram(file), path);
      assert.match(texts.get('/changelog') as string, /<h1>Changelog<\/h1>/);
      assert.match(texts.get('/llms-full.txt') as string, /npx petstore-lab keys create/);
      assert.doesNotMatch(service.log(), /Warning/);

      const silent = connect(Number(port), '127.0.0.1').on('error', () => {});
      t.after(() => silent.destroy());
      await once(silent, 'connect');
      service.npx.kill('SIGTERM');
      await until(() => !isAlive(service.pid), endsWithinMs);
    });
  });
}

test('an unsupported Node.js is reported in one sentence', { skip: tooOld.skip }, () => {
  const version = spawnSync(tooOld.node, ['--version'], { encoding: 'utf8' }).stdout.slice('v'.length).trim();
  const sentence = `Petstore needs Node.js 22.16 or newer (not 23). This is ${version}.`;
  assert.deepEqual(npx(tooOld.node, 'petstore-lab'), { status: 1, stdout: '', stderr: `${sentence}\n` });
  for (const name of [manifest.name, `${manifest.name}/client`]) {
    const args = ['--input-type=module', '--eval', `import '${name}'`];
    const { status, stderr } = spawnSync(tooOld.node, args, { cwd: project, encoding: 'utf8' });
    assert.equal(status, 1);
    assert.ok(stderr.includes(`\nError: ${sentence}\n`), stderr);
  }
});

test('the fixture for pytest passes on what an unsupported Node.js says', {
  skip: tooOld.skip || (!hasPytest && !process.env.CI && 'pytest is not installed'),
}, () => {
  const args = ['-c', 'import conftest; conftest.Petstore()'];
  const PETSTORE_COMMAND = `${tooOld.node} ${join(folder, 'bin/petstore.js')}`;
  const env = { ...pythonEnv, PETSTORE_COMMAND };
  const { stderr } = spawnSync('python3', args, { env, encoding: 'utf8' });
  assert.match(stderr, /RuntimeError: Petstore ended\.[^\n]*\nPetstore needs Node\.js 22\.16 or newer/);
});

/** The output of a strict type check of a program that imports modules of the package. The check must pass. */
function checkTypes(
  t: TestContext,
  modules: readonly string[],
  options: { module: string; moduleResolution: string; types: string[] },
): string {
  const consumer = temporaryFolder(t);
  symlinkSync(join(project, 'node_modules'), join(consumer, 'node_modules'));
  const program = modules.map((name, i) =>
    name.endsWith('.json')
      ? `import part${i} from '${name}' with { type: 'json' };\nexport const used${i}: object = part${i};\n`
      : `import * as part${i} from '${name}';\nexport const used${i}: object = part${i};\n`,
  );
  writeFileSync(join(consumer, 'program.mts'), program.join(''));
  const compilerOptions = {
    ...{ strict: true, noEmit: true, resolveJsonModule: true, skipLibCheck: false },
    ...{ target: 'esnext', lib: ['esnext', 'dom'], typeRoots: [join(root, 'node_modules/@types')] },
    ...options,
  };
  writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const args = [compiler, '--project', consumer, '--listFiles'];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  return stdout;
}

for (const [module, moduleResolution] of [
  ['nodenext', 'nodenext'],
  ['preserve', 'bundler'],
] as const) {
  test(`a program that imports everything passes a strict type check, and every declaration is used: ${moduleResolution}`, (t) => {
    // A store runs in Node.js, so its programs have the types of Node.js.
    const files = checkTypes(t, exported, { module, moduleResolution, types: ['node'] });
    for (const path of paths.filter(isDeclaration))
      assert.ok(files.includes(`/${manifest.name}/${path}\n`), path);
  });

  test(`the client passes a strict type check without the types of Node.js: ${moduleResolution}`, (t) => {
    checkTypes(t, ['petstore-lab/client'], { module, moduleResolution, types: [] });
  });
}

/** Node.js 22 lacks the syntax, and 24.0 may forget to dispose. */
const withoutUsing = (code: string) =>
  code.includes('await using store')
    ? `${code.replaceAll('await using', 'const')}\nawait store.stop();`
    : code;
