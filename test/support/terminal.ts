import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { needs } from './programs.ts';
import { bin, environment } from './service.ts';

const isInstalled = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');
export const needsTerminal = needs(isInstalled, 'script of util-linux, which makes terminals');

export type AtTerminal = ReturnType<typeof atTerminal>;

/** Starts the command line at a pseudo terminal, in a shell that first runs `before`. */
export function atTerminal(t: TestContext, args: string[], env: Record<string, string>, before = '') {
  const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qefc', `${before} exec ${command}`, '/dev/null'], {
    env: environment({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }),
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk));
  return {
    output: () => output,
    type: (text: string) => child.stdin.write(text),
    /** Stops reading the terminal, so that its output blocks. */
    stall: () => child.stdout.pause(),
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}
