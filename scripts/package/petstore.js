#!/usr/bin/env node
// The program of the npm package. Every Node.js must understand this file, to say that it is too old.
import './protect.js';
import './stop-with-npm.js';

import('../lib/client/needed-node.js').then(start, ({ message }) => {
  console.error(message);
  process.exitCode = 1;
});

async function start() {
  keepQuietOfSqlite();
  const { main } = await import('../lib/main.js');
  await main(process.argv);
}

/** Until 24.14 Node.js calls its SQLite experimental, at each start. */
function keepQuietOfSqlite() {
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('SQLite is an experimental')) emitWarning(warning, ...rest);
  };
}
