/**
 * Runs suites of tests: `npm test`, `npm test -- browser postgres`, `npm test -- clients orval`. Arguments after the suites go to
 * their program. Without a suite it goes to the test runner: `npm test -- test/store/resources/pets.test.ts --test-name-pattern=sold`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root, textOf } from './support/tree.ts';

/** The folders that are tested once more on PostgreSQL: all with their own SQL. */
const withSql = [...['access/keys', 'db', 'store/**', 'lab/account', 'lab/recordings', 'lab/rehearsals']].map(
  (folder) => `test/${folder}/*.test.ts`,
);
/** Tests of these folders about the files of SQLite, connections, traces, or the form of responses. */
const notOnPostgres = [
  ...['db/data-folder', 'db/disk', 'store/events/stream-ends', 'store/events/stream-readers'],
  ...['lab/recordings/disconnects', 'lab/recordings/serialize-request', 'lab/rehearsals/description'],
  ...['lab/rehearsals/refusals', 'store/history/trace-context', 'store/workspaces/restore'],
].map((file) => `test/${file}.test.ts`);
const alsoOnPostgres = [
  ...['api/fuzz', 'api/lists', 'api/error-codes', 'http/conditional', 'http/idempotency', 'lab/faults/store'],
  ...['access/limits/after-crash', 'access/limits/bans'],
].map((file) => `test/${file}.test.ts`);

/** Whether a test opens the storage that a run chooses. */
const opensStorage = (file: string) =>
  /support\/(crash\/rounds|lab-store|petstore|storage)\.ts/.test(textOf(file));
/** The files that match patterns, except those of packages. */
const found = (patterns: string | string[], exclude: string[] = []) =>
  globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', ...exclude] }).sort();
const onPostgres = [...found(withSql, notOnPostgres).filter(opensStorage), ...alsoOnPostgres];

const runFolder = join(tmpdir(), `petstore-tests-${process.pid}`);
/**
 * In CI a reporter writes the files with failures, and they run once more. `--test-rerun-failures` of Node.js knows a test by its place in
 * the code. Tests of several files that one helper makes have the same place, so it took failed ones for passed ones.
 */
const failedFiles = join(runFolder, 'failed-files');
const reporterFile = join(runFolder, 'reporter.mjs');
const reporter = `export default async function* (events) {
  const failed = new Set();
  for await (const { type, data } of events) {
    if (type === 'test:fail') failed.add(data.entryFile ?? data.file);
    const isLast = type === 'test:summary' && data.file === undefined;
    if (isLast) yield [...failed].join('\\n');
  }
}
`;
const reporters = ['spec', reporterFile].map((one) => `--test-reporter=${one}`);
const destinations = ['stdout', failedFiles].map((one) => `--test-reporter-destination=${one}`);
/** The last option of the test runner. Its files follow. */
const lastOption = '--test-concurrency=4';

/** Whether a file tests programs. Such a file keeps a process of its own: signals, limits and children belong to a process. */
const startsPrograms = (file: string) =>
  /node:child_process|\/restore\.ts|support\/(certificate|crash\/rounds|load-balancers|programs|service|terminal|valkey)\.ts/.test(
    textOf(file),
  );
/** Tests begin when all files are loaded. Otherwise hooks for the end could run before the last file is there. */
const beginWhenLoaded = `import { before } from 'node:test';
const { promise, resolve: loaded } = Promise.withResolvers();
before(() => promise);
`;
/** Modules that import the test files of a folder, by their paths. */
const groups = new Map<string, string>();

/** Lets the files of a folder share a process: most tests are faster than loading the code. */
function byFolder(suite: string, files: readonly string[]): string[] {
  const [alone = [], shared = []] = [true, false].map((is) =>
    files.filter((file) => startsPrograms(file) === is),
  );
  const paths = [...Map.groupBy(shared, dirname)].map(([folder, files]) => {
    const path = join(runFolder, `${suite}-${folder.replaceAll('/', '-')}.mjs`);
    const imports = files.map((file) => `await import('${join(root, file)}');\n`);
    groups.set(path, `${beginWhenLoaded}${imports.join('')}loaded();\n`);
    return path;
  });
  return [...paths, ...alone];
}

const tests = (...files: string[]) => [
  ...[process.execPath, '--test', '--import', './test/support/compile-cache.js', '--test-timeout=600000'],
  ...(process.env.CI ? [...reporters, ...destinations] : []),
  ...[lastOption, ...files],
];
const install = (folder: string) => ['npm', 'ci', '--ignore-scripts', '--prefix', folder];
const node = (...words: string[]) => [process.execPath, ...words];

/** The commands of each suite, one after the other. */
const suites: Record<string, { about: string; commands: string[][] }> = {
  main: {
    about: 'all that needs Node.js alone, or small programs of Linux',
    commands: [tests(...byFolder('main', found('test/**/*.test.ts')))],
  },
  programs: {
    about: 'README, guides, examples, graded programs and petstore-lab/client, with curl and Python',
    commands: [
      tests('test/**/*.{examples,grade}.ts', ...byFolder('programs', found('test/client/*.client.ts'))),
    ],
  },
  browser: {
    about: 'the pages in Chromium and Firefox',
    commands: [tests('test/**/*.browser.ts')],
  },
  postgres: {
    about: 'several instances, and all that has SQL, on a PostgreSQL that is started and removed',
    commands: [
      node(
        'test/support/with-postgres.ts',
        ...tests(
          'test/**/*.postgres.ts',
          'test/access/limits/instances.valkey.ts',
          ...byFolder('postgres', onPostgres),
        ),
      ),
    ],
  },
  pgbouncer: {
    about: 'the service behind PgBouncer, which scripts/pgbouncer.sh builds',
    commands: [tests('test/**/*.pgbouncer.ts')],
  },
  valkey: {
    about: 'limits shared by a Redis server, a cluster and Sentinels',
    commands: [tests('test/**/*.valkey.ts')],
  },
  package: {
    about: 'the npm package, installed and run on each Node.js that it is for',
    commands: [install('test/nodes'), node('test/support/with-package.ts', ...tests('test/**/*.package.ts'))],
  },
  description: {
    about: "Redocly, Spectral and AsyncAPI's parser on the documents, and the workflows run",
    commands: [install('lint'), tests('lint/*.test.ts')],
  },
  tools: {
    about: 'tools that we did not write, such as Postman and Prism, on the documents; needs pip and Go',
    commands: [install('tools'), ['npm', 'run', '--prefix', 'tools', 'python'], tests('tools/*.test.ts')],
  },
  clients: {
    about: 'every client of the guide "Generate a client", or those named; needs Python, Go, Rust and Java',
    commands: [install('test/clients'), node('test/clients/check.ts')],
  },
  corpus: {
    about: 'verdicts of `petstore grade` on right and wrong programs; needs curl, Python and Go',
    commands: [install('test/grade/corpus'), node('test/grade/verdicts.corpus.ts')],
  },
  image: {
    about: 'the image, built by Podman and run by runc; needs root',
    commands: [node('test/image/check.ts')],
  },
};

const args = process.argv.slice(2);
if (args.includes('--help')) {
  for (const [name, { about }] of Object.entries(suites)) console.log(`${name.padEnd(13)}${about}`);
  process.exit();
}
const count = args.findIndex((arg) => !(arg in suites));
const names = count < 0 ? args : args.slice(0, count);
const rest = args.slice(names.length);
const isFiles = names.length === 0 && rest.some((arg) => !arg.startsWith('-'));
if (isFiles) run(tests(...rest));
else
  for (const name of names.length > 0 ? names : ['main']) {
    const { commands = [] } = suites[name] ?? {};
    for (const command of commands) run(command === commands.at(-1) ? [...command, ...rest] : command);
  }

/** Runs a command. In CI, files with failures run once more: a defect fails again, a machine that was too busy does not. */
function run([program = '', ...words]: string[]): void {
  mkdirSync(runFolder, { recursive: true });
  writeFileSync(reporterFile, reporter);
  for (const [path, text] of groups) if (words.includes(path)) writeFileSync(path, text);
  const attempt = (words: string[]) => spawnSync(program, words, { cwd: root, stdio: 'inherit' }).status;
  let status = attempt(words);
  if (status !== 0 && existsSync(failedFiles)) {
    const failed = readFileSync(failedFiles, 'utf8').split('\n').filter(Boolean);
    const options = words.slice(0, words.indexOf(lastOption) + 1);
    console.log(`\nOnce more, because of failures:\n${failed.join('\n')}\n`);
    // Without a summary the runner itself has failed.
    status = attempt(failed.length > 0 ? [...options, ...failed] : words);
    if (status === 0) console.log(`Unsteady, passed the second time:\n${failed.join('\n')}`);
  }
  rmSync(runFolder, { recursive: true });
  if (status !== 0) process.exit(status ?? 1);
}
