/**
 * Makes the pictures of the README and the tour: the reference and the lab's page in a browser, and curl in a terminal. They show a service that
 * this program starts. `npm run generate -- pictures` writes them to docs/pictures.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { clockThatGoesBack } from '../../test/support/clock.ts';
import { asCheckout, below, blocksOf } from '../../test/support/pasted.ts';
import { freePort } from '../../test/support/port.ts';
import { photographLab, photographOrders } from './pictures/lab.ts';
import { photographReference } from './pictures/reference.ts';
import { drawTerminal, record } from './pictures/terminal.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** How much of the minute is left when curl begins. */
const leftMs = 6_300;
const startTimeoutMs = 20_000;

const folder = mkdtempSync(join(tmpdir(), 'petstore-pictures-'));
asCheckout(folder);
const port = await freePort();
const clock = clockThatGoesBack(leftMs);
const env = {
  ...{ PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port) },
  // The pictures show the address that readers will use.
  PETSTORE_BASE_URL: 'http://localhost:8080/v1',
};
const service = spawn(process.execPath, ['bin/petstore.js', 'serve'], {
  cwd: folder,
  env: { ...env, ...clock.env },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(service, 'exit');
let output = '';
service.stdout.on('data', (chunk) => (output += chunk));

try {
  await until(isReady, 'get ready');
  save('limits.svg', drawTerminal(await recordLimits()));
  const key = readFileSync(join(folder, 'petstore-data/demo.key'), 'utf8').trim();
  const origin = `http://localhost:${port}`;
  for (const [scheme, picture] of await photographReference(`${origin}/reference#key=${key}`))
    save(`reference-${scheme}.webp`, picture);
  for (const [scheme, picture] of await photographLab(origin, key)) save(`lab-${scheme}.webp`, picture);
  for (const [scheme, picture] of await photographOrders(origin, key)) save(`orders-${scheme}.webp`, picture);
} finally {
  service.kill();
  await ended;
  rmSync(folder, { recursive: true });
}

/** Runs what the tour says about a key with few requests. */
async function recordLimits() {
  const tour = readFileSync(join(root, 'docs/tour.md'), 'utf8');
  const [create, ask] = blocksOf(below('## Limits', tour))
    .map(({ code }) => code)
    .filter((code) => code.includes('SMALL')) as [string, string];
  const setUp = `${create}\nprintf %s "$SMALL"`;
  const SMALL = execFileSync('bash', ['-ec', setUp], { cwd: folder, env, encoding: 'utf8' });
  service.kill(clock.signal);
  await until(() => output.includes(clock.said), 'turn its clock back');
  const shown = ['# This key has 3 requests per minute.', ...ask.trimEnd().split('\n')];
  return {
    shown,
    printed: await record(ask.replace('localhost:8080', `localhost:${port}`), { ...env, SMALL }),
  };
}

async function isReady(): Promise<boolean> {
  const answer = await fetch(`http://localhost:${port}/readyz`).catch(() => undefined);
  return answer?.ok === true;
}

/** Waits until the service does what it should. */
async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const endMs = Date.now() + startTimeoutMs; Date.now() < endMs; await sleep(20)) {
    if (await holds()) return;
  }
  throw new Error(`The service did not ${what}:\n${output}`);
}

function save(name: string, content: string | Buffer): void {
  writeFileSync(join(root, 'docs/pictures', name), content);
  console.log(`docs/pictures/${name}: ${(content.length / 1024).toFixed(1)} KiB`);
}
