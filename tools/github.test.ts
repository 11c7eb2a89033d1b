/** The files for GitHub: its workflows, the action, the example for users, and the configuration of updates. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import yaml from 'yaml';
import { temporaryFolder } from '../test/support/folder.ts';
import { whyNo } from '../test/support/programs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
const noGo = whyNo('go', 'git');

/** What actionlint says about all workflows of a repository, and about the action that they use. */
function lint(repository: string): string {
  const { status, stdout, stderr, error } = spawnSync('go', ['run', actionlint, '-no-color'], {
    ...{ cwd: repository, encoding: 'utf8' },
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  });
  assert.equal(error, undefined);
  return status === 0 ? '' : stdout || stderr;
}

/** A repository with this action, and one workflow that uses it. */
function repositoryWith(t: { after(work: () => unknown): void }, workflow: string): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, '.github/workflows'), { recursive: true });
  writeFileSync(join(folder, '.github/workflows/grade.yml'), workflow);
  cpSync(join(root, 'action.yml'), join(folder, 'action.yml'));
  spawnSync('git', ['init', '--quiet'], { cwd: folder });
  return folder;
}

const example = textOf('examples/ci/github-actions.yml').replace(/OWNER\/petstore@\S+/, './');

test('actionlint accepts the workflows of this tree', { skip: noGo }, () => assert.equal(lint(root), ''));

test('actionlint accepts the example, with the inputs of the action', { skip: noGo }, (t) => {
  assert.equal(lint(repositoryWith(t, example)), '');
  const wrong = example.replace('command:', 'comand:');
  assert.match(lint(repositoryWith(t, wrong)), /missing input "command"[\s\S]*input "comand" is not defined/);
});

test('the workflow runs .ci/run, and the action on an example', () => {
  const { jobs } = yaml.parse(textOf('.github/workflows/ci.yml'));
  assert.equal(jobs.checks.steps.at(-1).run, '.ci/run');
  assert.equal(jobs.action.steps.at(-1).uses, './');
});

test('the action installs Petstore from its own folder, and grades a program', {
  skip: whyNo('git'),
}, (t) => {
  const [action, project] = [join(temporaryFolder(t), 'action'), temporaryFolder(t)];
  assert.equal(spawnSync('git', ['clone', '--quiet', root, action]).status, 0);
  writeFileSync(
    join(project, 'client.mjs'),
    `if (process.argv[2] !== 'two words') throw new Error('The argument was split.');
const { PETSTORE_BASE_URL: api, PETSTORE_API_KEY: key } = process.env;
const { status } = await fetch(api + '/pets/1', { headers: { Authorization: 'Bearer ' + key } });
if (status !== 200) process.exit(1);`,
  );
  const { steps } = yaml.parse(textOf('action.yml')).runs as { steps: { run: string }[] };
  const outcomes = steps.map(({ run }) =>
    spawnSync('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', run], {
      ...{ cwd: project, encoding: 'utf8' },
      env: {
        ...{ ...process.env, GITHUB_ACTION_PATH: action },
        GRADE_COMMAND: "node client.mjs 'two words'",
        GRADE_OPTIONS: '--fault unavailable --junit grade.xml',
        GRADE_CARD: 'card.json',
      },
    }),
  );
  const { run } = steps.at(-1) as { run: string };
  const injected = spawnSync('bash', ['-e', '-c', run], {
    ...{ cwd: project, encoding: 'utf8' },
    env: {
      PATH: process.env.PATH,
      GITHUB_ACTION_PATH: action,
      GRADE_OPTIONS: '',
      GRADE_COMMAND: 'true; touch harm',
    },
  });
  assert.notEqual(injected.status, 0);
  assert.ok(!existsSync(join(project, 'harm')));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [0, 1],
    outcomes.map(({ stderr }) => stderr).join(),
  );
  const card = JSON.parse(readFileSync(join(project, 'card.json'), 'utf8'));
  assert.equal(card.verdict, 'failed');
  assert.match(readFileSync(join(project, 'grade.xml'), 'utf8'), /<testsuites /);
});

test('Dependabot updates every folder that pins packages, except the pinned versions of Node.js', () => {
  const { updates } = yaml.parse(textOf('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; directories?: string[]; directory?: string }[];
  };
  const listed = (ecosystem: string) => {
    const { directories, directory } = updates.find((one) => one['package-ecosystem'] === ecosystem) ?? {};
    return directories ?? [directory];
  };
  const foldersWith = (file: string) =>
    globSync(`**/${file}`, { cwd: root, exclude: ['**/node_modules/**', 'dist/**'] })
      .map((path) => join('/', dirname(path)))
      .filter((folder) => folder !== '/test/nodes')
      .sort();
  const ofNpm = foldersWith('package.json').filter((folder) => {
    const { dependencies, devDependencies } = JSON.parse(textOf(`${folder}/package.json`));
    return dependencies || devDependencies;
  });
  assert.deepEqual(listed('npm'), ofNpm);
  for (const [ecosystem, file] of [
    ['pip', 'requirements.txt'],
    ['gomod', 'go.mod'],
    ['cargo', 'Cargo.toml'],
    ['maven', 'pom.xml'],
  ] as const)
    assert.deepEqual(listed(ecosystem).toSorted(), foldersWith(file), ecosystem);
  assert.deepEqual([listed('docker'), listed('github-actions')], [['/'], ['/']]);
});
