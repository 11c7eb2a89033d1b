#!/usr/bin/env node
// The program of the npm package. Every Node.js must understand this file, to say that it is too old.
import './protect.js';
import './stop-with-npm.js';
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const neededMajor = Number.parseInt(engines.node.replace('>=', ''), 10);

if (Number.parseInt(process.versions.node, 10) >= neededMajor) {
  keepQuietOfSqlite();
  import('../lib/main.js').then(({ main }) => main(process.argv));
} else {
  console.error(`petstore: Node.js ${neededMajor} or newer is needed. This is ${process.versions.node}.`);
  process.exitCode = 1;
}

/** Until 24.14 Node.js calls its SQLite experimental, at each start. */
function keepQuietOfSqlite() {
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('SQLite is an experimental')) emitWarning(warning, ...rest);
  };
}
