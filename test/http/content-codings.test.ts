import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import { formsFromThread } from '../../src/http/content-codings.ts';
import { serveDocument } from '../../src/http/document.ts';
import { FairShare } from '../../src/http/fair-share.ts';

const sendText = `import { sendText } from ${JSON.stringify(import.meta.resolve('../../src/http/content-codings.ts'))};`;

/** Modules for a thread, and the status of the response. */
const modules: [string, number][] = [
  ['process.exit(0);', 500],
  ['throw new Error("It fails.");', 500],
  ['setInterval(() => {}, 1_000);', 500],
  ['for (;;);', 500],
  [`${sendText} sendText('made');`, 200],
];

test('a thread that returns no text is ended in time, and the next request tries again', {
  timeout: 20_000,
}, async (t) => {
  const app = fastify();
  app.decorate('fairShare', new FairShare(() => performance.now()));
  t.after(() => app.close());
  const ends: Promise<void>[] = [];
  const watch = (worker: import('node:worker_threads').Worker) =>
    ends.push(new Promise((resolve) => worker.once('exit', resolve)));
  process.on('worker', watch);
  t.after(() => process.off('worker', watch));
  let tries = 0;
  serveDocument(app, {
    path: '/text',
    mediaType: 'text/plain',
    forms: () => {
      const [code] = modules[tries++] as [string, number];
      // Loading a TypeScript module takes a while on a busy machine.
      const limitMs = code.startsWith('import') ? 10_000 : 300;
      return formsFromThread(new URL(`data:text/javascript,${encodeURIComponent(code)}`), undefined, limitMs);
    },
  });
  for (const [code, status] of modules) {
    assert.equal((await app.inject('/text')).statusCode, status, code);
  }
  assert.equal((await app.inject('/text')).body, 'made');
  assert.equal(tries, modules.length);
  await Promise.all(ends);
});
