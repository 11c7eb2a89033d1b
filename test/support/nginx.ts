import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from './folder.ts';
import { freePort } from './port.ts';

/** Where Debian has it is not in everybody's PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const isInstalled = spawnSync('nginx', ['-v'], { env }).status === 0;
const startTimeoutMs = 20_000;

/** For the options of tests that need nginx. Where everything must be tested, none is skipped. */
export const needsNginx = {
  skip: isInstalled || process.env.CI === 'true' ? false : 'there is no nginx',
};

export const nginxConf = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');

/**
 * Starts nginx with `deploy/nginx.conf` on a free port, which it gives back, before instances on these ports. What
 * keeps a test waiting may be changed to something shorter.
 */
export async function startNginx(
  t: TestContext,
  instances: [number, number, number],
  changes: Record<string, string> = {},
): Promise<number> {
  const port = await freePort();
  const folder = temporaryFolder(t);
  const ofMachine = {
    'listen 8080;': `listen 127.0.0.1:${port};`,
    '/tmp/': `${folder}/`,
    ...Object.fromEntries(instances.map((at, i) => [`petstore-${i + 1}:8080`, `127.0.0.1:${at}`])),
  };
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, Object.entries({ ...ofMachine, ...changes }).reduce(replace, nginxConf));
  const child = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', file, '-g', 'daemon off;'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk));
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  const deadline = Date.now() + startTimeoutMs;
  while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`nginx did not start: ${errors}`);
    await sleep(20);
  }
  return port;
}

function replace(conf: string, [from, to]: [string, string]): string {
  if (!conf.includes(from)) throw new Error(`deploy/nginx.conf does not say "${from}".`);
  return conf.replaceAll(from, to);
}
