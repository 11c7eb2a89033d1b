import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { startPetstore } from '../../src/index.ts';
import { temporaryFolder } from '../support/folder.ts';
import { whyNo } from '../support/programs.ts';
import { listen } from '../support/receiver.ts';
import { bin } from '../support/service.ts';
import { root } from '../support/tree.ts';

const skip = process.platform === 'win32' ? 'it needs a shell' : whyNo('npm');
const timeoutMs = 120_000;
/** The PATH entries that npm of this run has added. */
const isOfNpm = (name: string) => /^npm_|^(INIT_CWD|NODE|NODE_TEST_CONTEXT)$/.test(name);

/** Creates a program `node` that prints its owner. This Node.js does everything else. */
function nodeOf(folder: string, owner: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'node');
  writeFileSync(
    file,
    `#!/bin/sh\n[ "$1" = --whose ] && echo "node of the ${owner}: $npm_lifecycle_event" || exec '${process.execPath}' "$@"\n`,
  );
  chmodSync(file, 0o755);
  return folder;
}

const run = promisify(execFile);

/** Runs npm for a user who has another Node.js. The graded program fails, so npm may fail too. */
async function npm(t: TestContext, cwd: string, args: string[]) {
  const own = Object.entries(process.env).filter(([name]) => !isOfNpm(name));
  const users = nodeOf(join(temporaryFolder(t), 'bin'), 'user');
  const entries = (process.env.PATH ?? '').split(delimiter);
  const path = [users, ...entries.filter((entry) => !entry.includes('node_modules'))].join(delimiter);
  const env = { ...Object.fromEntries(own), PATH: path };
  return run('npm', args, { cwd, env, timeout: timeoutMs }).catch(
    (failed: { stdout: string; stderr: string }) => failed,
  );
}

const graded = ['grade', '--fault', 'reset', '--verbose', '--', 'node', '--whose'];

test('a program that a script of this tree grades or records runs on the Node.js of its user', {
  skip,
}, async (t) => {
  const petstore = ['run', '-s', 'petstore', '--'];
  const { stderr } = await npm(t, root, [...petstore, ...graded]);
  assert.match(stderr, /^without faults: node of the user: ?$/m);
  await using store = await startPetstore();
  const recorded = ['lab', 'record', '--url', store.baseUrl, '--key', store.key, '--', 'node', '--whose'];
  const { stdout } = await npm(t, root, [...petstore, ...recorded]);
  assert.match(stdout, /^node of the user: ?$/m);
});

test('a program that a script of its own project grades keeps the PATH entries that npm added', {
  skip,
}, async (t) => {
  const project = temporaryFolder(t);
  const folder = nodeOf(join(project, 'node_modules/.bin'), 'project');
  symlinkSync(bin, join(folder, 'petstore'));
  const scripts = { test: `petstore ${graded.join(' ')}` };
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, scripts }));
  const { stderr } = await npm(t, project, ['test']);
  assert.match(stderr, /^without faults: node of the project: test$/m);
});

/** A project of somebody else, whose tests say where they run. */
function foreignProject(t: TestContext): string {
  const project = realpathSync(temporaryFolder(t));
  const where = `await fetch(process.env.PETSTORE_BASE_URL + '/pets', { headers: { 'x-api-key': process.env.PETSTORE_API_KEY } });
console.log('in ' + process.cwd());`;
  writeFileSync(join(project, 'where.mjs'), where);
  writeFileSync(join(project, 'levels.txt'), 'unavailable=recommended\n');
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ private: true, scripts: { test: 'node where.mjs' } }),
  );
  return project;
}

/** Calls the command line of this tree from another folder. */
const petstoreIn = (t: TestContext, cwd: string, line: string) =>
  npm(t, cwd, ['run', '-s', '--prefix', root, 'petstore', '--', ...line.split(' ')]);

test('a graded program runs in the folder of its user, and files are written there', { skip }, async (t) => {
  const project = foreignProject(t);
  const files = '--levels levels.txt --junit card.xml --html card.html';
  const line = `grade --fault unavailable --verbose ${files} -- npm test`;
  const { stdout, stderr } = await petstoreIn(t, project, line);
  assert.match(stderr, new RegExp(`^without faults: in ${RegExp.escape(project)}$`, 'm'));
  assert.match(readFileSync(join(project, 'card.xml'), 'utf8'), /<testsuites name="petstore grade"/);
  assert.match(readFileSync(join(project, 'card.html'), 'utf8'), /^<!doctype html>/);
  assert.ok(stdout.includes(`npm run -s --prefix ${relative(project, root)} petstore -- grade`), stdout);

  const sub = join(project, 'sub');
  mkdirSync(sub);
  const under = 'grade --fault unavailable';
  const { stdout: card } = await petstoreIn(t, sub, `${under} --json -- node ../where.mjs`);
  writeFileSync(join(project, 'card.json'), card);
  const compared = await petstoreIn(t, sub, `${under} --compare ../card.json -- node ../where.mjs`);
  assert.match(compared.stdout, /since/i);
  writeFileSync(join(project, 'goal.json'), '{"goal": 1}');
  const { stderr: refusal } = await petstoreIn(t, sub, 'grade --goal ../goal.json -- node ../where.mjs');
  assert.match(refusal, /^error: \.\.\/goal\.json is not a goal: /);
});

test('a recorded client runs in the folder of its user', { skip }, async (t) => {
  const project = foreignProject(t);
  await using store = await startPetstore();
  const service = `--url ${store.baseUrl} --key ${store.key}`;
  const line = `lab record ${service} --junit report.xml -- node where.mjs`;
  const { stdout } = await petstoreIn(t, project, line);
  assert.match(stdout, new RegExp(`^in ${RegExp.escape(project)}$`, 'm'));
  assert.match(readFileSync(join(project, 'report.xml'), 'utf8'), /<testsuites/);
});

test('the state of a graded receiver is read in the folder of its user', { skip }, async (t) => {
  const project = foreignProject(t);
  const receiver = createServer((_, response) => response.writeHead(500).end());
  const { port } = await listen(t, receiver);
  const options = [
    '--secret',
    `whsec_${'A'.repeat(43)}=`,
    '--junit',
    'receiver.xml',
    '--state',
    'cat levels.txt',
  ];
  const args = ['run', '-s', '--prefix', root, 'petstore', '--', 'grade-receiver', ...options];
  const { stderr } = await npm(t, project, [...args, `http://127.0.0.1:${port}`]);
  assert.doesNotMatch(stderr, /levels\.txt/);
  assert.match(readFileSync(join(project, 'receiver.xml'), 'utf8'), /<testsuites/);
});
