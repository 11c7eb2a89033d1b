#!/usr/bin/env node
// Plain JavaScript, so that an older Node.js can hand over to the one that npm installed beside this file.
import './protect.js';
import './stop-with-npm.js';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { isTooOld, neededMajor } from './needed-node.js';

/** How long this process may take to end after its starter is gone. "grade" must first end its programs. */
const endWithinMs = process.argv[2] === 'grade' ? 3_000 : 600;

if (isTooOld) {
  handOver();
} else {
  endWithStarter();
  keepCompiledCode();
  const { main } = await import('../src/main.ts');
  await main(process.argv);
}

/** Keeps compiled code for the next start, in a folder that only its owner can write. */
function keepCompiledCode() {
  const folder = fileURLToPath(new URL('../node_modules/.cache/petstore', import.meta.url));
  try {
    mkdirSync(folder, { recursive: true });
    if (process.geteuid && statSync(folder).uid !== process.geteuid()) return;
    chmodSync(folder, 0o700);
    module.enableCompileCache(folder);
  } catch {
    // Without it a start takes a quarter longer.
  }
}

/** Runs this program by the Node.js that npm installed. */
function handOver() {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  // The system closes the channel when this process ends, however it ends.
  const child = spawn(installedNode(), [...process.execArgv.filter(isSize), ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', ({ message }) => fail(`The Node.js that npm installed does not start: ${message}.`));
  child.on('exit', (code, signal) => {
    // An older Node.js crashes at its end if its terminal is gone. A shell ends a loop only if the signal itself ended the program.
    const last = terminals.every((fd) => isatty(fd)) ? signal : 'SIGHUP';
    if (last === 'SIGINT' || last === 'SIGHUP') process.removeAllListeners(last).kill(process.pid, last);
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}

/** Memory sizes, as in "npm start", work in every Node.js. Other options depend on its version. */
function isSize(option) {
  return /^--max[-_][\w-]+[-_]size=/.test(option);
}

/** Each optional dependency is Node.js for one platform. npm installs the one for this platform. */
function installedNode() {
  const { resolve } = module.createRequire(import.meta.url);
  const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
  for (const name of Object.keys(read(resolve('../package.json')).optionalDependencies)) {
    try {
      return resolve(`${name}/${read(resolve(`${name}/package.json`)).bin.node}`);
    } catch {
      // It is for another platform.
    }
  }
  return fail(`Node.js ${neededMajor} or newer is needed. "npm ci" installs it beside the service.`);
}

function fail(message) {
  console.error(`petstore: ${message}`);
  process.exit(1);
}

/** Ends this process when the channel to its starter closes. The channel alone does not keep it running. */
function endWithStarter() {
  if (process.connected === false) end();
  process.once('disconnect', end);
  process.channel?.unref();
}

/** Lets a command that handles SIGTERM end in order, and ends any other at once. */
function end() {
  setTimeout(() => process.exit(1), endWithinMs).unref();
  if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(1);
}
