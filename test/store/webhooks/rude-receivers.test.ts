import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { receive, sendTo } from '../../support/receiver.ts';

const within = 'No response within 0.3 s.';
const brokenOff = 'The connection ended before a response.';
const tooLong = 'The head of the response is too long.';
const notHttp = 'The response is not HTTP.';
const returned = (status: number) => `The receiver returned ${status}.`;

type Behaviour = (socket: Socket) => void;

const ok = 'HTTP/1.1 200 OK\r\n';
const upgrade = 'HTTP/1.1 101 x\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
const empty = `${ok}Content-Length: 0\r\n\r\n`;
const xs = 'x'.repeat(999);

const onRequest = (behave: Behaviour) => (socket: Socket) => void socket.once('data', () => behave(socket));
const says = (text: string | Buffer) => (socket: Socket) => void socket.write(text);
const saysAndEnds = (text: string) => (socket: Socket) => void socket.end(text);
const saysAndResets = (text: string) => (socket: Socket) =>
  void socket.write(text, () => socket.resetAndDestroy());

/** Repeats the rest as long as the client reads. */
const saysWithoutEnd = (text: string, rest: string) => (socket: Socket) => {
  const write = () => {
    while (socket.writable && socket.write(rest));
  };
  socket.write(text);
  socket.resume().on('drain', write);
  write();
};

const drips = (text: string, rest: string) => (socket: Socket) => {
  socket.write(text);
  const timer = setInterval(() => socket.write(rest), 20);
  socket.resume().on('close', () => clearInterval(timer));
};

/** The behaviours of receivers, and the error that the owner sees. A status means that it was delivered. */
const behaviours: [what: string, behave: Behaviour, expected: string | number][] = [
  ['resets at once', (socket) => socket.resetAndDestroy(), brokenOff],
  ['closes at once', (socket) => socket.destroy(), brokenOff],
  ['closes its half at once', (socket) => socket.resume().end(), brokenOff],
  ['resets within the request', onRequest((socket) => socket.resetAndDestroy()), brokenOff],
  ['closes within the request', onRequest((socket) => socket.destroy()), brokenOff],
  ['closes within the head', onRequest(saysAndEnds(`${ok}X: `)), brokenOff],
  ['resets within the head', onRequest(saysAndResets('HTTP/1.1 2')), brokenOff],
  ['sends nothing', (socket) => socket.resume(), within],
  ['sends and reads nothing', (socket) => socket.pause(), within],
  ['sends its head byte by byte', drips(`${ok}X: `, 'x'), within],
  ['sends interim responses slowly', drips('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), within],
  ['has fields without end', saysWithoutEnd(ok, `X: ${xs}\r\n`), tooLong],
  ['has empty fields without end', saysWithoutEnd(ok, 'X:\r\n'.repeat(99)), tooLong],
  ['has a field without end', saysWithoutEnd(`${ok}X: `, xs), tooLong],
  ['has a field name without end', saysWithoutEnd(ok, xs), tooLong],
  ['has a reason without end', saysWithoutEnd('HTTP/1.1 200 ', xs), tooLong],
  ['sends early hints without end', saysWithoutEnd('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), tooLong],
  ['continues without end', saysWithoutEnd('', 'HTTP/1.1 100 Continue\r\n\r\n'), tooLong],
  ['sends line breaks without end', saysWithoutEnd('', '\r\n'.repeat(99)), tooLong],
  ['speaks SSH', says('SSH-2.0-OpenSSH_9.9\r\n'), notHttp],
  ['speaks TLS', says(Buffer.from([0x15, 3, 1, 0, 2, 2, 80])), notHttp],
  ['speaks HTTP/2', says(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])), notHttp],
  ['has two lengths', says(`${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`), notHttp],
  ['has a length and chunks', says(`${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`), notHttp],
  ['upgrades', saysWithoutEnd(`${upgrade}Connection: upgrade\r\nUpgrade: x\r\n\r\n`, xs), returned(101)],
  ['upgrades to nothing', says(`${upgrade}\r\n`), returned(101)],
  ['responds before the request', saysAndEnds(empty), 200],
  ['responds and resets', onRequest(saysAndResets(`${ok}\r\n`)), 200],
  ['responds twice', onRequest(saysAndEnds(`${empty}HTTP/1.1 500 x\r\n\r\n`)), 200],
  ['sends garbage after its response', onRequest(saysAndEnds(`${empty}\0\0garbage`)), 200],
  ['responds and continues to send', onRequest(saysWithoutEnd(empty, xs)), 200],
  ['sends less than its Content-Length', onRequest(saysAndEnds(`${ok}Content-Length: 9\r\n\r\n1`)), 200],
  ['sends malformed chunks', onRequest(says(`${chunked}zz`)), 200],
  ['has a body without end', onRequest(saysWithoutEnd(`${ok}\r\n`, xs)), 200],
  ['has chunks without end', onRequest(saysWithoutEnd(chunked, '1\r\nx\r\n')), 200],
  ['has a size without end', onRequest(saysWithoutEnd(chunked, '0'.repeat(999))), 200],
  ['has an extension without end', onRequest(saysWithoutEnd(`${chunked}1;`, xs)), 200],
  ['has trailers without end', onRequest(saysWithoutEnd(`${chunked}0\r\n`, 'X: x\r\n')), 200],
  ['sends its body byte by byte', onRequest(drips(`${ok}\r\n`, 'x')), 200],
  ['fails without end', onRequest(saysWithoutEnd('HTTP/1.1 500 x\r\n\r\n', xs)), returned(500)],
];

for (const [what, behave, expected] of behaviours) {
  test(`a receiver that ${what} gives one outcome, and its connection is released`, async (t) => {
    const receiver = await receive(t, behave);
    // The timeout is long unless it decides the outcome, or ends the body.
    const timeoutMs = expected === within || what.endsWith('byte by byte') ? 300 : 60_000;
    const { status, error } = await sendTo(receiver.url, { timeoutMs });
    assert.equal(error ?? status, expected);
    await receiver.quiet();
    assert.equal(receiver.connections(), 1);
  });
}

test('rude receivers do not affect other webhooks', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  const receivers = await Promise.all(behaviours.map(([, behave]) => receive(t, behave)));
  const { signal } = new AbortController();
  for (let round = 0; round < 3; round++) {
    const sent = receivers.map(({ url }) => sendTo(url, { signal, timeoutMs: 300 }));
    for (const { durationMs, error } of await Promise.all(sent)) {
      assert.ok(durationMs >= 0);
      assert.match(error ?? '.', /^[\w .;,]*\.$/);
    }
  }
  assert.deepEqual(warnings, []);
});
