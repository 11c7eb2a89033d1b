import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LogOutput } from '../../src/observe/log/output.ts';
import { temporaryStorage } from '../support/storage.ts';
import { until } from '../support/until.ts';

const needsPipe = { skip: process.platform === 'win32' && 'it needs named pipes' };

/** A pipe that does not block, and its output. The system buffers 64 KiB of unread bytes. */
async function pipe(t: TestContext) {
  const path = join(await temporaryStorage(t), 'log');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(fd));
  const bytes = Buffer.alloc(64 * 1024);
  const parts: Buffer[] = [];
  const readSome = () => {
    try {
      parts.push(Buffer.from(bytes.subarray(0, readSync(fd, bytes))));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  };
  return { fd, readSome, text: () => Buffer.concat(parts).toString() };
}

test("lines that exceed a pipe's buffer reach a slow reader complete and in order", needsPipe, async (t) => {
  const { fd, readSome, text } = await pipe(t);
  const output = new LogOutput(fd);
  const lines = Array.from({ length: 12 }, (_, i) => `${i} ${'é🐕'.repeat(i % 3 === 0 ? 30_000 : i)}\n`);
  for (const line of lines) {
    output.write(line);
    await nextTurn();
  }
  await until(() => {
    readSome();
    return text().split('\n').length > lines.length;
  });
  assert.equal(text(), lines.join(''));
  assert.equal(output.dropped, 0);
});
