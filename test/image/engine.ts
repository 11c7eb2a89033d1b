import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
/** Images, containers and volumes of these checks, and whatever else they make. */
export const folder = join(root, 'node_modules/.cache/image');
const timeoutMs = 300_000;

/** Needs no daemon, no file system but a plain one, and nothing of another Podman on this machine. */
const ownStorage = [
  ...['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--tmpdir', join(folder, 'state')],
  ...[
    '--storage-driver',
    'vfs',
    '--cgroup-manager',
    'cgroupfs',
    '--events-backend',
    'file',
    '--runtime',
    'runc',
  ],
];

interface Options {
  /** Shows what the program says while it runs. */
  isShown?: boolean;
}

/** Runs a program to its end. What fails is for the caller to judge. */
export function attempt(program: string, args: string[], { isShown = false }: Options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, TMPDIR: folder },
    encoding: 'utf8',
    timeout: timeoutMs,
    maxBuffer: 2 ** 26,
    stdio: ['pipe', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** Runs a program that must end well, and gives back what it wrote to standard output. */
export function run(program: string, args: string[], options: Options = {}): string {
  const { status, stdout, stderr } = attempt(program, args, options);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr ?? ''}`);
  return stdout?.trim() ?? '';
}

export const podman = (args: string[], options: Options = {}) =>
  run('podman', [...ownStorage, ...args], options);

export const attemptPodman = (...args: string[]) => attempt('podman', [...ownStorage, ...args]);

/** Begins with nothing, also after a run that was cut off. */
export function prepare(): void {
  clear();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Ends the containers and removes all that these checks have made. */
export function clear(): void {
  if (existsSync(folder)) attemptPodman('rm', '--all', '--force', '--time', '0');
  rmSync(folder, { recursive: true, force: true });
}
