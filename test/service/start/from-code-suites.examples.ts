import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fakeNodeVersion } from '../../support/fake-node-version.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { blocksOf } from '../../support/pasted.ts';
import { bin } from '../../support/service.ts';
import { root, textOf } from '../../support/tree.ts';

const { name } = JSON.parse(textOf('package.json'));
/** The package that programs import: this tree, or an installed package. */
const petstore = process.env.PETSTORE_TEST_PACKAGE ?? root;
const examples = join(root, 'examples');
/** The folder in which `.ci/run` installs the Python packages. */
const pythonPath = join(root, 'node_modules/.cache/python');
// Within a test run, Node.js would report to the outer run.
const { NODE_TEST_CONTEXT: _, ...env } = process.env;
const pythonEnv = { ...env, PYTHONPATH: pythonPath, PETSTORE_COMMAND: `${process.execPath} ${bin}` };

/** A folder in which the package can be imported, with the files of an example. */
function folderWith(t: TestContext, example?: string): string {
  const folder = temporaryFolder(t);
  if (example) cpSync(join(examples, example), folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(petstore, join(folder, 'node_modules', name));
  return folder;
}

const run = (
  [program, ...args]: readonly [string, ...string[]],
  cwd: string,
  environment: NodeJS.ProcessEnv,
) => spawnSync(program, args, { cwd, encoding: 'utf8', env: environment });

function succeeds(
  command: readonly [string, ...string[]],
  cwd: string,
  environment: NodeJS.ProcessEnv = env,
) {
  const { status, stdout, stderr } = run(command, cwd, environment);
  assert.equal(status, 0, stdout + stderr);
  return stdout + stderr;
}

test('the example for node:test passes', (t) => {
  const output = succeeds([process.execPath, '--test', '--test-reporter=tap'], folderWith(t, 'node-test'));
  assert.match(output, /^# pass 4$/m);
});

const vitest = join(examples, 'vitest/node_modules/vitest/vitest.mjs');
const noVitest = !existsSync(vitest) && !process.env.CI && '"npm ci --prefix examples/vitest" installs it';

test('the example for Vitest passes', { skip: noVitest }, () => {
  const cwd = join(examples, 'vitest');
  rmSync(join(cwd, 'node_modules/petstore-lab'), { force: true });
  symlinkSync(petstore, join(cwd, 'node_modules/petstore-lab'));
  assert.match(succeeds([process.execPath, vitest, 'run', '--reporter=tap'], cwd), /^1\.\.1$/m);
});

const hasPytest = spawnSync('python3', ['-c', 'import pytest'], { env: pythonEnv }).status === 0;
const noPytest = !hasPytest && !process.env.CI && 'pytest is not installed';

const runPytest = ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'] as const;

test('the example for pytest passes', { skip: noPytest }, (t) => {
  assert.match(succeeds(runPytest, folderWith(t, 'pytest'), pythonEnv), /4 passed/);
});

test('where the package is not installed, an example says so', { skip: noPytest }, (t) => {
  const [nodeTest, pytest] = [temporaryFolder(t), temporaryFolder(t)];
  cpSync(join(examples, 'node-test'), nodeTest, { recursive: true });
  cpSync(join(examples, 'pytest'), pytest, { recursive: true });
  const { PETSTORE_COMMAND: _, ...unset } = pythonEnv;
  const offline = { ...unset, npm_config_offline: 'true', npm_config_cache: temporaryFolder(t) };
  const ended = /Error: Petstore ended\. docs\/from-code\.md says how to install it\.[\s\S]*npm error code/;
  for (const [cwd, said, command] of [
    [nodeTest, /Cannot find package 'petstore-lab'/, [process.execPath, '--test']],
    [pytest, ended, runPytest],
  ] as const) {
    const { status, stdout } = run(command, cwd, offline);
    assert.equal(status, 1, stdout);
    assert.match(stdout, said);
  }
});

test('in this tree an older Node.js says what it needs, in one sentence', (t) => {
  const sentence =
    /Error: Here Petstore is not built, and needs Node\.js 26, which "npm ci" installs: begin the command with npx\. This is \d+\./;
  const folder = folderWith(t, 'node-test');
  const example = [process.execPath, '--import', fakeNodeVersion, join(folder, 'shop.test.js')] as const;
  const { status, stdout, stderr } = run(example, folder, env);
  assert.notEqual(status, 0);
  assert.match(stdout + stderr, sentence);
});

for (const [i, { language, code }] of blocksOf(textOf('docs/from-code.md')).entries()) {
  test(`code block ${i + 1} of docs/from-code.md runs`, (t) => {
    assert.equal(language, 'js');
    assert.match(code, /assert\./);
    succeeds([process.execPath, '--input-type=module', '--eval', code], folderWith(t));
  });
}
