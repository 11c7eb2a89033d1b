#!/usr/bin/env node
// Plain JavaScript, so that an older Node.js can hand over to the one that npm installed beside this file.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const neededMajor = 26;

if (Number.parseInt(process.versions.node, 10) >= neededMajor) {
  // Stripped and compiled code is kept for the next start, if that can be done.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/petstore', import.meta.url)));
  const { main } = await import('../src/main.ts');
  await main(process.argv);
} else {
  handOver();
}

function handOver() {
  let node;
  try {
    node = module.createRequire(import.meta.url).resolve('node/bin/node');
  } catch {
    console.error(
      `petstore: Node.js ${neededMajor} or newer is needed. "npm ci" installs it beside the service.`,
    );
    process.exit(1);
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
}
