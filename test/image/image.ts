import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { textOf } from '../support/tree.ts';
import { until } from '../support/until.ts';
import { attemptPodman, podman, run } from './engine.ts';

const origin = 'http://127.0.0.1:8080';
const uid = 10_001;
const container = 'petstore';
/** The options of compose.yaml. Podman's own limits may exceed those of this machine. */
const options = [
  ...['--read-only', '--read-only-tmpfs=false', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
  ...['--security-opt', 'no-new-privileges', '--volume', 'data:/data', '--network', 'host'],
  ...['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'],
];

const inside = (...command: string[]) => podman(['exec', container, ...command]);
const inspect = (what: string, format: string) => JSON.parse(podman(['inspect', what, '--format', format]));
const isReady = () =>
  fetch(`${origin}/readyz`)
    .then(({ ok }) => ok)
    .catch(() => false);
const demoKey = () => join(podman(['volume', 'inspect', 'data', '--format', '{{.Mountpoint}}']), 'demo.key');

async function start(): Promise<void> {
  podman(['start', container]);
  await until(isReady).catch(() => {
    throw new Error(`The image does not start: ${attemptPodman('logs', container).stderr}`);
  });
}

/** The exit code of the image's own health check. */
function health(): number | null {
  const [kind, ...command] = inspect(container, '{{json .Config.Healthcheck.Test}}');
  assert.equal(kind, 'CMD');
  return attemptPodman('exec', container, ...command).status;
}

before(() => podman(['create', '--name', container, ...options, 'petstore']));

test('the image contains all runtime files, and no npm, tests, types or manuals', () => {
  const files = podman(['mount', container]);
  const contents = ['CHANGELOG.md', 'LICENSE', 'bin', 'node_modules', 'package.json', 'src'];
  assert.deepEqual(readdirSync(join(files, 'app')).sort(), contents);
  const find = (...args: string[]) =>
    run('find', [files, ...args])
      .replaceAll(files, '')
      .split('\n');
  assert.deepEqual(find('-name', 'npm*', '-o', '-name', 'node.h', '-o', '-name', 'node.1*'), ['']);
  const forDevelopers = '.*/app/node_modules/.*/\\(tests?\\|docs\\|.*\\.map\\|.*\\.[cm]?ts\\)';
  assert.deepEqual(find('-regex', forDevelopers), ['']);

  const { packages } = JSON.parse(textOf('package-lock.json'));
  const installed = JSON.parse(readFileSync(join(files, 'app/node_modules/.package-lock.json'), 'utf8'));
  const paths = Object.keys(installed.packages).filter((path) => existsSync(join(files, 'app', path)));
  assert.ok(paths.includes('node_modules/fastify'));
  for (const path of paths) assert.ok(!packages[path].dev, path);
  // Files that its user owns or everybody may write. All others are safe even without a read-only root.
  const writable = find(...`! -type l ! -type c ( -user ${uid} -o -perm -o=w )`.split(' '));
  assert.deepEqual(writable.sort(), ['/data', '/run/lock', '/tmp', '/var/tmp']);
});

test('it starts as its own user without capabilities, and writes only to its volume and /tmp', async () => {
  await start();
  const status = inside('cat', '/proc/1/status');
  assert.match(status, new RegExp(`^Uid:\\s${uid}\\s${uid}\\s${uid}\\s${uid}$`, 'm'));
  for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
    assert.match(status, new RegExp(`^Cap${set}:\\s0+$`, 'm'));
  assert.match(status, /^NoNewPrivs:\s1$/m);
  const { scripts } = JSON.parse(textOf('package.json'));
  const likeNpmStart = scripts.start
    .replace('exec node ', '/app/node_modules/.bin/node ')
    .replace(' bin/', ' /app/bin/');
  assert.deepEqual(inside('cat', '/proc/1/cmdline').split('\0'), [...likeNpmStart.split(' '), '']);

  const search = '/ ( -path /proc -o -path /sys -o -path /dev ) -prune -o -writable ! -type l -print';
  const { stdout } = attemptPodman('exec', container, 'find', ...search.split(' '));
  const folders = new Set(stdout.match(/^\/[^/\n]+/gm));
  assert.deepEqual([...folders].sort(), ['/data', '/tmp']);

  const { uid: owner, mode } = statSync(demoKey());
  assert.deepEqual([owner, mode & 0o777], [uid, 0o600]);
});

test('SIGTERM ends it with 0 after the request in progress, and a restart keeps the data', async (t) => {
  const key = readFileSync(demoKey(), 'utf8').trim();
  const headers = { 'x-api-key': key };
  assert.equal((await fetch(`${origin}/v1/pets`, { headers })).status, 200);
  assert.equal((await fetch(`${origin}/reference/page.js`)).status, 200);
  assert.equal(health(), 0);

  const body = '{"name":"Dragons"}';
  const socket = connect(8080, '127.0.0.1');
  t.after(() => socket.destroy());
  let answer = '';
  socket.setEncoding('utf8').on('data', (text) => (answer += text));
  socket.write(
    `POST /v1/categories HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await until(() => answer.startsWith('HTTP/1.1 100 '));
  podman(['kill', '--signal', 'TERM', container]);
  await until(async () => !(await isReady()));
  assert.equal(health(), 1);
  socket.write(body);
  await once(socket, 'end');
  assert.match(answer, /\r\n\r\nHTTP\/1\.1 201 /);
  assert.equal(podman(['wait', container]), '0');

  await start();
  assert.equal(readFileSync(demoKey(), 'utf8').trim(), key);
  const [, location] = /^location: (\S+)/im.exec(answer) ?? [];
  const category = await fetch(new URL(location as string, origin), { headers });
  assert.equal(((await category.json()) as { name: string }).name, 'Dragons');
  podman(['stop', container]);
  assert.equal(inspect(container, '{{.State.ExitCode}}'), 0);
});
