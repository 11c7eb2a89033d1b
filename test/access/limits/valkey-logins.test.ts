import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from '../../support/petstore.ts';
import { receive } from '../../support/receiver.ts';
import { clock, logged } from '../../support/sharing.ts';

const patienceMs = 60_000;

/** An error that repeats the words of a command, plain and percent-encoded. */
function repeated(command: string): string {
  const [name, ...words] = command.split('\r\n').filter((_, i) => i % 2 === 1);
  const args = words.map((word) => `'${Buffer.from(word, 'latin1').toString().slice(0, 100)}' `);
  const plain = `-ERR unknown command '${name}', with args beginning with: ${args.join('')}`;
  return `${plain}${args.map(encodeURIComponent).join('')}\r\n`;
}

test('no user or password gets into the log or the output, even if a server repeats its input', async (t) => {
  const { port } = await receive(t, (socket) => {
    socket.on('data', (bytes) => {
      const commands = bytes.toString('latin1').split(/^\*\d+\r\n/m);
      socket.write(commands.filter(Boolean).map(repeated).join(''));
    });
  });
  const long = `s3cr3t-${'0123456789'.repeat(20)}`;
  const logins = [':s3cr3t-one', 'bobby:bobby-s3cr3t', 's3cr3t-bob:s3cr3t%2Fp%23%C3%BCss', `:${long}`];
  const urls = logins.map((login) => `redis://${login}@127.0.0.1:${port}`);
  const query = '?sentinel_username=s3cr3t-ann&sentinel_password=s3cr3t%2B1';
  urls.push(`redis+sentinel://:s3cr3t@127.0.0.1:${port}/pets-1${query}`);
  for (const url of urls) {
    const valkey = { urls: [url], timeoutMs: patienceMs, connectWithinMs: patienceMs, clock };
    const store = await startPetstore(t, { valkey });
    assert.equal(logged(store, "unknown command 'auth'"), 1, url);
    assert.doesNotMatch(store.log.join(''), /s3cr3t|bobby|0123|p#|%C3/, url);
  }
});
