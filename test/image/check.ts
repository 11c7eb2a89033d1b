import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { geteuid } from 'node:process';
import { fileAt } from '../support/tree.ts';
import { buildImage, makeBases } from './build.ts';
import { clear, folder, prepare, run } from './engine.ts';

/*
 * Builds the image and tries it, by Podman and runc, without a registry of images. See docs/operations/containers.md.
 */
const programs = ['podman', 'runc', 'mmdebstrap', 'unshare', 'ip', 'go'];
const missing = programs.filter((program) => spawnSync(program, [], { stdio: 'ignore' }).error);
const why = [
  ...(geteuid?.() === 0 ? [] : ['to be run by root']),
  ...(missing.length > 0 ? [`programs that are missing: ${missing.join(', ')}`] : []),
];
if (why.length > 0) {
  console.error(`npm test -- image needs ${why.join(', and ')}.`);
  process.exit(1);
}

// Ending this also ends the programs that it runs, and then their results are removed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
try {
  prepare();
  makeBases();
  buildImage('petstore');
  run('go', ['build', '-C', fileAt('test/image/compose'), '-o', join(folder, 'load-compose'), '.']);
  const tests = ['compose.ts', 'image.ts'].map((file) => fileAt(`test/image/${file}`));
  // In its own network, port 8080 is free, and nobody else can reach it.
  const command = 'ip link set lo up && exec "$@"';
  const args = ['--net', 'sh', '-c', command, 'sh', process.execPath, '--test', ...tests];
  process.exitCode = spawnSync('unshare', args, { stdio: 'inherit' }).status ?? 1;
} finally {
  clear();
}
