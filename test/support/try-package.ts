import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from './installed-package.ts';
import { until } from './until.ts';

const maxInstalledBytes = 60_000_000;

/** A program that never sends a request again. */
const program = `const { PETSTORE_BASE_URL, PETSTORE_API_KEY } = process.env;
const response = await fetch(PETSTORE_BASE_URL + '/pets/1', {
  headers: { Authorization: 'Bearer ' + PETSTORE_API_KEY },
  signal: AbortSignal.timeout(2_000),
});
if (!response.ok) throw new Error(String(response.status));
console.log((await response.json()).name);
`;

/**
 * Uses the package as a new user does, in an empty folder with a repository of their own: installs the tarball, starts the service, sends it
 * a request, and grades a program. Then git may see no other files than those of npm.
 */
export async function tryPackage(tarball: string, folder: string, node = process.execPath): Promise<void> {
  const options = { cwd: folder, env: { ...environment(node), PORT: '0' } };
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, { ...options, encoding: 'utf8' });
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@b.example'];
  const git = (...args: string[]) => {
    const { status, stdout, stderr } = run('git', ...author, ...args);
    assert.equal(status, 0, stderr);
    return stdout;
  };
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/own.txt'), 'my own data\n');
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  writeFileSync(join(folder, 'my-program.mjs'), program);
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');

  const installed = run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball);
  assert.equal(installed.status, 0, installed.stderr);
  assert.doesNotMatch(installed.stderr, /warn/i);
  assert.ok(bytesIn(join(folder, 'node_modules')) < maxInstalledBytes);

  await serve(options);

  const graded = run('npx', 'petstore-lab', 'grade', '--', 'node', 'my-program.mjs');
  assert.equal(graded.status, 1, graded.stderr);
  assert.match(graded.stdout, /^Survived +.*moved/m);
  assert.match(graded.stdout, /^Verdict: failed {2}Not survived: \d+ of \d+ required faults/m);
  assert.match(graded.stdout, /^Run again: npx petstore-lab grade --fault .* -- node my-program\.mjs$/m);

  assert.deepEqual(git('status', '--porcelain').trimEnd().split('\n'), [
    ' M package.json',
    '?? node_modules/',
    '?? package-lock.json',
  ]);
}

/** Starts the service, sends a request with the key of the demonstration, and stops the service. */
async function serve(options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<void> {
  const child = spawn('npx', ['petstore-lab'], options);
  try {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    await until(() => output.includes('Petstore is ready.') && output.includes('A first request'));
    assert.match(output, /^Starting the demonstration\. "npx petstore-lab --help" lists the commands\.\n/);
    const [, baseUrl] = /API {10}(\S+)/.exec(output) as unknown as [string, string];
    const key = readFileSync(join(options.cwd, 'petstore-data/demo.key'), 'utf8').trim();
    const pet = await fetch(`${baseUrl}/pets/1`, { headers: { Authorization: `Bearer ${key}` } });
    assert.equal(pet.status, 200);
    assert.equal(((await pet.json()) as { name: string }).name, 'Bella');
    child.kill('SIGTERM');
    await until(() =>
      fetch(baseUrl).then(
        () => false,
        () => true,
      ),
    );
  } finally {
    const ended = child.exitCode ?? child.signalCode ?? once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

const bytesIn = (folder: string) =>
  globSync('**/*', { cwd: folder })
    .map((file) => lstatSync(join(folder, file)))
    .filter((stat) => stat.isFile())
    .reduce((sum, { size }) => sum + size, 0);
