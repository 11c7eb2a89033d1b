import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/tree.ts';

/** The folder for images, containers, volumes and other files of these checks. */
export const folder = join(root, 'node_modules/.cache/image');
const timeoutMs = 300_000;

/** Needs no daemon and only a plain file system, and shares nothing with another Podman on this machine. */
const ownStorage = [
  ...['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--tmpdir', join(folder, 'state')],
  ...'--storage-driver vfs --cgroup-manager cgroupfs --events-backend file --runtime runc'.split(' '),
];

interface Options {
  /** Prints the program's output while it runs. */
  isShown?: boolean;
}

/** Runs a program to its end. The caller handles failures. */
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

/** Runs a program that must succeed, and returns its standard output. */
export function run(program: string, args: string[], options: Options = {}): string {
  const { status, stdout, stderr } = attempt(program, args, options);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr ?? ''}`);
  return stdout?.trim() ?? '';
}

export const podman = (args: string[], options: Options = {}) =>
  run('podman', [...ownStorage, ...args], options);

export const attemptPodman = (...args: string[]) => attempt('podman', [...ownStorage, ...args]);

/** Starts empty, also after an aborted run. */
export function prepare(): void {
  clear();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Ends the containers and removes everything that these checks created. */
export function clear(): void {
  if (existsSync(folder)) attemptPodman('rm', '--all', '--force', '--time', '0');
  rmSync(folder, { recursive: true, force: true });
}
