import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { root } from './tree.ts';

const packedFile = 'packed.json';
const commandTimeoutMs = 60_000;

/** The description of a tarball by npm. */
interface Packed {
  name: string;
  filename: string;
  size: number;
  files: { path: string }[];
}

/** Builds the package, and puts its tarball into a folder. */
export function packPackage(folder: string): Packed {
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: root, stdio: 'inherit' });
  return JSON.parse(npm(folder, 'pack', '--json', join(root, 'dist')))[0];
}

/** Fills an empty folder: with the tarball, and a project in which it is installed. */
export function makePackage(folder: string): void {
  const packed = packPackage(folder);
  writeFileSync(join(folder, packedFile), JSON.stringify(packed));
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  npm(project, 'install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed.filename));
}

const npm = (cwd: string, ...args: string[]) =>
  execFileSync('npm', args, {
    cwd,
    env: { ...process.env, PATH: pathWith(process.execPath) },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** The package that was built for this test run, as its users install it. All tests share the project, so they write nothing there. */
export function installedPackage() {
  const { PETSTORE_TEST_PACKAGE: made } = process.env;
  if (!made) throw new Error('The package is not there: "npm test -- package" makes it.');
  const project = join(made, 'project');
  const packed: Packed = JSON.parse(readFileSync(join(made, packedFile), 'utf8'));
  return {
    packed,
    tarball: join(made, packed.filename),
    project,
    /** The folder of the package itself. */
    folder: join(project, 'node_modules', packed.name),
  };
}

/** The Node.js from test/nodes, or why it is missing. */
export function otherNode(name: 'node-20' | 'node-22' | 'node-24'): { node: string; skip: string | false } {
  const node = join(root, 'test/nodes/node_modules', name, 'bin/node');
  return { node, skip: !existsSync(node) && !process.env.CI && `test/nodes has no ${name} for this machine` };
}

/** A search path on which this Node.js is found first. */
const pathWith = (node: string) => `${dirname(node)}${delimiter}${process.env.PATH}`;

/** Without the environment of the npm that runs the tests, and without settings. */
export const environment = (node: string) => ({
  ...{ PATH: pathWith(node), HOME: process.env.HOME },
  NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
});

/** Runs a command in the project by npx, and waits for its end. */
export function npx(node: string, ...args: string[]) {
  const { project: cwd } = installedPackage();
  const options = { cwd, env: environment(node), encoding: 'utf8', timeout: commandTimeoutMs } as const;
  const { status, stdout, stderr } = spawnSync('npx', args, options);
  // npm may warn about its own settings.
  return { status, stdout, stderr: stderr.replaceAll(/^npm .*\n/gm, '') };
}

/** Starts the service by npx on a free port with a folder for its data, and waits until it is ready. `log`: its output on standard error. */
export async function serveByNpx(t: TestContext, node: string, dataDir: string) {
  const { project: cwd } = installedPackage();
  const env = { ...environment(node), PORT: '0', PETSTORE_DATA_DIR: dataDir };
  const child = spawn('npx', ['petstore-lab', 'serve', '--json'], { cwd, env });
  t.after(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  const ended = once(child, 'exit').then(() =>
    Promise.reject(new Error(`The service did not start: ${log}`)),
  );
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  const told: { baseUrl: string; key: string; pid: number } = JSON.parse(line);
  return { ...told, npx: child, log: () => log };
}
