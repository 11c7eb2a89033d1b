import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/folder.ts';
import { bin } from '../support/service.ts';
import { root, textOf } from '../support/tree.ts';

const parsed = (file: string) => parse(textOf(file));
const exampleOf = (name: string) => parsed(`examples/ci/${name}`);
const action = parsed('action.yml');

/** Adds a pet, and sends the POST again when the connection breaks: with the same key, or with a new one. */
const client = (isCareful: boolean) =>
  `const key = crypto.randomUUID();
   const add = (left) => fetch(process.env.PETSTORE_BASE_URL + '/pets', { method: 'POST', body: '{"name":"Smaug","categoryId":1}', headers: {
       authorization: 'Bearer ' + process.env.PETSTORE_API_KEY, 'content-type': 'application/json',
       'idempotency-key': ${isCareful ? 'key' : 'crypto.randomUUID()'} } })
     .catch((error) => { if (left === 0) throw error; return add(left - 1); });
   add(2).then(({ status }) => console.log('status', status));`;

/** A project with a client, and programs that replace those of a runner. */
function project(t: TestContext, programs: Record<string, string>) {
  const folder = temporaryFolder(t);
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  // One fault is enough here.
  const npx = `[ "$1 $2" = "petstore-lab grade" ] || exit 9\nshift 2\nexec ${process.execPath} ${bin} grade --fault lost-answer "$@"`;
  for (const [name, script] of Object.entries({ npx, ...programs })) {
    writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(tools, name), 0o755);
  }
  const run = (script: string, env: Record<string, string>) => {
    const path = [tools, dirname(process.execPath), process.env.PATH].join(':');
    return spawnSync('bash', ['-e', '-o', 'pipefail', '-c', script], {
      ...({ cwd: folder, encoding: 'utf8', timeout: 120_000 } as const),
      env: { PATH: path, HOME: folder, ...env },
    });
  };
  return {
    ...{ folder, run },
    useClient: (isCareful: boolean) => writeFileSync(join(folder, 'client.mjs'), client(isCareful)),
    /** The files that were kept. They are then removed. */
    kept: (paths: string[]) => paths.filter((path) => existsSync(join(folder, path))),
    clear: (paths: string[]) => paths.forEach((path) => void rmSync(join(folder, path), { force: true })),
  };
}

/** Grades a careful client on the main branch, then a careless one in a merge request, and compares. */
function gradeTwice(
  { run, useClient, kept, clear, folder }: ReturnType<typeof project>,
  files: string[],
  onMain: () => ReturnType<typeof run>,
  onRequest: () => ReturnType<typeof run>,
) {
  useClient(true);
  const main = onMain();
  assert.equal(main.status, 0, main.stderr);
  assert.deepEqual(kept(files), files);
  writeFileSync(join(folder, 'kept.json'), readFileSync(join(folder, 'card.json')));
  clear(files);
  useClient(false);
  const compared = onRequest();
  assert.equal(compared.status, 1, compared.stderr);
  assert.match(compared.stdout, /^worse .*lost-answer, first use: survived → did it twice/m);
  assert.deepEqual(kept(files), ['grade.xml', 'grade.html']);
  clear([...files, 'kept.json']);
}

test('the steps for GitHub Actions grade the program, keep the card, and compare it with that of the main branch', (t) => {
  const { jobs, on, permissions } = exampleOf('github-actions.yml');
  assert.deepEqual([Object.keys(on), permissions.actions], [['push', 'pull_request'], 'read']);
  const { steps } = jobs.grade as {
    steps: { name?: string; run?: string; if?: string; with?: Record<string, string> }[];
  };
  const find = (name: string) => steps.find((step) => step.name === name);
  const [fetch, grade, keep] = ['Get the card of the main branch', 'Grade', 'Keep the card'].map(find);
  const files = keep?.with?.path?.trim().split('\n') ?? [];
  assert.deepEqual([files.length, keep?.if, keep?.with?.name], [3, 'always()', 'grade-card']);
  const gh = `case "$1 $2" in
  'run list') echo 42;;
  'run download') [ "$3 $4 $5" = '42 --name grade-card' ] && [ -f kept.json ] && mkdir -p "$7" && cp kept.json "$7/card.json";;
  esac`;
  const { run, ...rest } = project(t, { gh });
  const runAction = (branch: string) => {
    const inputs = Object.entries(grade?.with ?? {}).map(([name, text]) => [
      `GRADE_${name.toUpperCase()}`,
      filledIn(text, { branch, hasCard: existsSync(join(rest.folder, 'main-card/card.json')) }),
    ]);
    const env: Record<string, string> = { GRADE_CARD: '', ...Object.fromEntries(inputs) };
    // One fault is enough here.
    env.GRADE_OPTIONS += ' --fault lost-answer';
    return run(action.runs.steps.at(-1).run, { ...env, GITHUB_ACTION_PATH: root });
  };
  const env = { GITHUB_REF_NAME: '12/merge' };
  gradeTwice(
    { run, ...rest },
    files,
    () => runAction('main'),
    () => {
      assert.equal(run(fetch?.run as string, env).status, 0);
      return runAction('12/merge');
    },
  );
  rmSync(join(rest.folder, 'main-card'), { recursive: true });
  assert.notEqual(run(fetch?.run as string, env).status, 0);
  const alone = runAction('12/merge');
  assert.deepEqual([alone.status, alone.stdout.includes('Since')], [1, false], alone.stderr);
});

/** Replaces the expressions of the example by their values. */
function filledIn(text: string, { branch, hasCard }: { branch: string; hasCard: boolean }): string {
  return text.replaceAll(/\$\{\{ (.*?) && '(.*?)' \|\| '' \}\}/g, (_, condition, value) => {
    const holds = new Map([
      ["github.ref_name == 'main'", branch === 'main'],
      ["hashFiles('main-card/card.json') != ''", hasCard],
    ]).get(condition);
    assert.notEqual(holds, undefined, condition);
    return holds ? value : '';
  });
}

test('the job for GitLab grades the program, keeps the card, and compares it with that of the default branch', (t) => {
  const { grade } = exampleOf('gitlab-ci.yml');
  const { paths, reports, when } = grade.artifacts;
  assert.deepEqual([when, reports.junit], ['always', 'grade.xml']);
  const script = grade.script.join('\n');
  const curl = `while [ "$1" != --output ]; do shift; done
  case "$3" in https://gitlab.example/api/v4/projects/7/jobs/artifacts/trunk/raw/card.json?job=grade) cp kept.json "$2";; *) exit 22;; esac`;
  const { run, ...rest } = project(t, { curl });
  const env = {
    CI_DEFAULT_BRANCH: 'trunk',
    CI_API_V4_URL: 'https://gitlab.example/api/v4',
    CI_PROJECT_ID: '7',
  };
  gradeTwice(
    { run, ...rest },
    paths,
    () => run(script, { ...env, CI_COMMIT_BRANCH: 'trunk' }),
    () => run(script, env),
  );
  const alone = run(script, env);
  assert.deepEqual([alone.status, alone.stdout.includes('Since')], [1, false], alone.stderr);
});
