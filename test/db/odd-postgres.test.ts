import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { openPostgres } from '../../src/db/postgres.ts';
import { makeCertificate, needsOpenssl } from '../support/certificate.ts';
import { listen, loggedIn, message, oddLogin, saying } from '../support/odd-postgres.ts';
import { startCommand } from '../support/service.ts';

const refusal = message('E', 'SERROR\0C42601\0Mno such thing\0\0');
const refused = Buffer.concat([refusal, message('Z', 'I')]);
const endlessRow = Buffer.from('D\x7f\xff\xff\xff', 'latin1');

const nonsense: [string, RegExp, (Buffer | string)[]][] = [
  ['an unknown kind of login', /authenticationOk message type 7/, [oddLogin]],
  ['a message of an unknown type', /received invalid response/, [message('?')]],
  ['another protocol', /not a PostgreSQL message/, ['HTTP/1.1 400 Bad Request\r\n\r\n']],
  ['a message without an end', /not a PostgreSQL message/, [loggedIn, endlessRow]],
  ['a row with a negative number of columns', /array length/, [loggedIn, message('D', [0xff, 0xff])]],
  ['an error without an end', /without an end/, [message('E', 'M')]],
  ['a notice with an endless last text', /without an end/, [message('N', 'Moh\0')]],
];

for (const [what, pattern, words] of nonsense) {
  test(`a server that sends ${what} fails a start with that error`, async (t) => {
    const url = await listen(t, saying(words));
    await assert.rejects(openPostgres(url, 1_000), (error: Error) => {
      assert.match(error.message, /^DATABASE_URL cannot be used: /);
      assert.match(error.message, pattern);
      return true;
    });
  });
}

test('a server behind TLS that sends a malformed message fails a start, too', needsOpenssl, async (t) => {
  const certificate = makeCertificate(t, 'postgres.example.com');
  const url = await listen(t, (socket) => {
    socket.once('data', () => {
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, ...certificate });
      saying([oddLogin])(secure.on('error', () => {}));
    });
  });
  await assert.rejects(openPostgres(`${url}?sslmode=no-verify`, 1_000), /authenticationOk message type 7/);
});

test('a failed start ends with one line, even if the server leaves a connection open', async (t) => {
  const start = async (query: string, words: (Buffer | string)[]) => {
    const env = { DATABASE_URL: `${await listen(t, saying(words))}${query}`, NODE_NO_WARNINGS: '1' };
    const { ended, written } = startCommand(t, ['workspaces', 'list'], env);
    assert.deepEqual(await ended, [1, null]);
    assert.match(written.stderr, /^petstore: DATABASE_URL cannot be used: .+\n$/);
  };
  await Promise.all([
    start('?sslmode=verify-full', ['N']),
    start('?sslmode=verify-full', ['SSH-2.0-OpenSSH\r\n']),
    start('', [refusal]),
    start('', [loggedIn, Buffer.concat([refused, refused, refused])]),
  ]);
});
