/**
 * Runs on the database of PETSTORE_TEST_DATABASE_URL the tests of several instances, and once more those that `npm test` runs on SQLite,
 * but for those to which the storage makes no difference: `node test/support/with-postgres.ts node test/support/again-on-postgres.ts`.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files of tests to which the storage makes no difference, by the reason. One that is not named here runs again. */
const apart: Record<string, string> = {
  'they read code and pages, and store nothing':
    'deploy generated-clients layers links packages security-page told-numbers',
  'what is served or shown is the same text on any storage': 'guides lab-page openapi reference texts',
  'they call functions that know no storage':
    'grade-difference grade-plan key lab-attempts lab-check-retries lab-check-rules lab-check-waiting lab-page-limits lab-page-requests lab-rehearsals-progress limit-decision log-line postgres-transaction steady-clock webhook-addresses webhook-schedule webhook-signature',
  'they are about a process and its output': 'log-output log-pretty log-reader',
  'they bring a storage or a server of their own':
    'from-code from-code-time odd-postgres shared-decision valkey-answers',
  'what they send is answered before anything is stored':
    'bad-json bad-values early-refusals request-target slow-clients time-limits',
};
const namesApart = new Set(Object.values(apart).flatMap((names) => names.split(' ')));

const files = globSync('test/*.test.ts', { cwd: root });
const nameOf = (file: string) => /([\w-]+)\.test\.ts$/.exec(file)?.[1] as string;
const gone = namesApart.difference(new Set(files.map(nameOf)));
if (gone.size > 0) throw new Error(`No such tests: ${[...gone].join(', ')}.`);

const again = files.filter((file) => !namesApart.has(nameOf(file)));
const ofInstances = ['test/*.postgres.ts', 'test/limits-over-instances.ts'];
const { status } = spawnSync('npm', ['run', 'test:files', '--', ...ofInstances, ...again], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
