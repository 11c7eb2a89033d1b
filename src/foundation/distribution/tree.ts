// Values for the source tree. In the npm package, `#distribution` is package.ts instead.

import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The oldest supported major version of Node.js. It starts the Node.js that npm installs. */
export const neededNode = 20;

/** Calls the command line. */
export const command = 'npm run -s petstore --';

/** Start the service for the first time, and later. */
export const firstStart = 'npm ci && npm start';
export const start = 'npm start';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[\\/]$/, '');

/** The variables that npm sets for a script and its package. */
const npmVariables =
  /^(npm_(lifecycle|package)_.*|npm_(command|execpath|node_execpath)|npm_config_(local_prefix|loglevel)|INIT_CWD|NODE)$/;

/** The environment of the user, without what npm adds for a script of this tree: variables, and to PATH folders with a Node.js. */
export function userEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folder = dirname(env.npm_package_json ?? '');
  if (!isTree(folder)) return env;
  const added = binFoldersFrom(folder).join(delimiter) + delimiter;
  const kept = Object.entries(env).filter(([name]) => !npmVariables.test(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, /^path$/i.test(name) ? value && withoutEach(added, value) : value]),
  );
}

/** The folder in which the user called this program. npm runs a script of this tree in the tree, and names the folder of its user. */
export const userFolder = (
  { npm_package_json: manifest = '', INIT_CWD }: NodeJS.ProcessEnv = process.env,
): string => (isTree(dirname(manifest)) && INIT_CWD) || process.cwd();

function isTree(folder: string): boolean {
  try {
    return realpathSync(folder) === root;
  } catch {
    return false;
  }
}

const binFoldersFrom = (folder: string): string[] => [
  join(folder, 'node_modules', '.bin'),
  ...(dirname(folder) === folder ? [] : binFoldersFrom(dirname(folder))),
];

/** Removes from PATH each occurrence of npm's folders, and of its node-gyp folder behind them. */
function withoutEach(added: string, path: string): string {
  const [before = '', ...others] = path.split(added);
  const isOfNpm = (folder: string | undefined) => folder?.endsWith('node-gyp-bin');
  return [
    before,
    ...others.map((rest) => {
      const [first, ...more] = rest.split(delimiter);
      return isOfNpm(first) ? more.join(delimiter) : rest;
    }),
  ].join('');
}

const run = promisify(execFile);
const maxBytes = 16 * 1024 * 1024;

/** Bundles a program or style sheet for browsers by esbuild. Only its packages for single platforms need no install script. */
export async function browserProgram(file: string): Promise<string> {
  const esbuild = esbuildProgram();
  const entry = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  // Keeps the licences of dependencies at the end.
  const options = ['--bundle', '--minify', '--format=esm', '--target=es2024', '--legal-comments=eof'];
  const { stdout } = await run(esbuild, [entry, ...options, '--log-level=error'], { maxBuffer: maxBytes });
  return stdout;
}

function esbuildProgram(): string {
  const { platform, arch } = process;
  const name = platform === 'win32' ? 'esbuild.exe' : 'bin/esbuild';
  const ofPlatform = `@esbuild/${platform}-${arch}`;
  try {
    return fileURLToPath(import.meta.resolve(`${ofPlatform}/${name}`));
  } catch (cause) {
    throw new Error(
      `esbuild builds the scripts of the pages, but its package ${ofPlatform} is missing. Run "npm ci" with optional dependencies.`,
      { cause },
    );
  }
}
