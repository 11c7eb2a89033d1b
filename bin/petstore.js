#!/usr/bin/env node
// Plain JavaScript, so that an older Node.js can hand over to the one that npm installed beside this file.
import './protect.js';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

const neededMajor = 26;
/** Who was handed over to gets this long to end once the process that did it is gone. What runs for "grade" has to end before. */
const endWithinMs = process.argv[2] === 'grade' ? 3_000 : 600;

if (Number.parseInt(process.versions.node, 10) >= neededMajor) {
  endWithStarter();
  keepCompiledCode();
  const { main } = await import('../src/main.ts');
  await main(process.argv);
} else {
  handOver();
}

/** Stripped and compiled code is kept for the next start, where that can be done and nobody else could write it. */
function keepCompiledCode() {
  const folder = fileURLToPath(new URL('../node_modules/.cache/petstore', import.meta.url));
  try {
    mkdirSync(folder, { recursive: true });
    if (process.geteuid && statSync(folder).uid !== process.geteuid()) return;
    chmodSync(folder, 0o700);
    module.enableCompileCache(folder);
  } catch {
    // A start takes a quarter longer.
  }
}

function handOver() {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  // The system closes the channel when this process ends, however it ends.
  const child = spawn(installedNode(), [...process.execArgv.filter(isSize), ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', ({ message }) => fail(`The Node.js that npm installed does not start: ${message}.`));
  child.on('exit', (code, signal) => {
    // At its own end an older Node.js crashes where its terminal is gone. A shell ends its loop only by the signal itself.
    const last = terminals.every((fd) => isatty(fd)) ? signal : 'SIGHUP';
    if (last === 'SIGINT' || last === 'SIGHUP') process.removeAllListeners(last).kill(process.pid, last);
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}

/** Sizes of memory, such as that of "npm start", are known to every Node.js. Other options come and go with its versions. */
function isSize(option) {
  return /^--max[-_][\w-]+[-_]size=/.test(option);
}

/** The optional dependencies are Node.js for one platform each. npm installs the one that fits. */
function installedNode() {
  const { resolve } = module.createRequire(import.meta.url);
  const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
  for (const name of Object.keys(read(resolve('../package.json')).optionalDependencies)) {
    try {
      return resolve(`${name}/${read(resolve(`${name}/package.json`)).bin.node}`);
    } catch {
      // It is another platform's.
    }
  }
  return fail(`Node.js ${neededMajor} or newer is needed. "npm ci" installs it beside the service.`);
}

function fail(message) {
  console.error(`petstore: ${message}`);
  process.exit(1);
}

/** Ends this process when its channel to the one that handed over closes. The channel itself keeps nothing running. */
function endWithStarter() {
  if (process.connected === false) end();
  process.once('disconnect', end);
  process.channel?.unref();
}

/** The service listens to SIGTERM and lets answers under way finish; other commands do not. */
function end() {
  setTimeout(() => process.exit(1), endWithinMs).unref();
  if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(1);
}
