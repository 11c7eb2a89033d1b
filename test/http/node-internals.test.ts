import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { endAfter, pendingResponse, replaceEnd, sendReadyLines } from '../../src/http/node-internals.ts';

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const lastGet = get.replace('Host', 'Connection: close\r\nHost');

/** Sends text to a server, and returns all that it sends until the connection ends. */
async function exchange(
  t: TestContext,
  sent: string,
  listener: RequestListener,
  {
    prepare = (_server: Server) => {},
    ...options
  }: ServerOptions<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>> & {
    prepare?: (server: Server) => void;
  } = {},
): Promise<string> {
  const server = createServer(options, listener);
  prepare(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  socket.write(sent);
  return text(socket);
}

test('the pending response of a socket is the one that is sent next', async (t) => {
  const responses: ServerResponse[] = [];
  const received = await exchange(t, get + lastGet, ({ socket }, response) => {
    responses.push(response);
    assert.equal(pendingResponse(socket), responses[0]);
    if (responses.length === 2) for (const each of responses.toReversed()) each.end();
  });
  assert.equal(received.split('HTTP/1.1 200').length, 3);
});

test('a connection closes after a response that is marked as its last, whatever its fields say', async (t) => {
  const received = await exchange(t, get, (_request, response) => {
    endAfter(response);
    response.writeHead(200, ['Connection', 'keep-alive', 'Content-Length', '2']).end('ok');
  });
  assert.match(received, /keep-alive[\s\S]*ok$/);
});

test('after the last response the given end function is called instead of that of Node.js', async (t) => {
  const prepare = (server: Server) =>
    server.on('connection', (socket) => replaceEnd(socket, () => socket.end(' and more')));
  const received = await exchange(t, lastGet, (_request, response) => response.end('ok'), { prepare });
  assert.match(received, /ok\r?\n?[\s\S]* and more$/);
});

test('the raw lines of a response are placed between its status line and the fields of writeHead', async (t) => {
  class Ready extends ServerResponse<IncomingMessage> {
    readyLines = 'A: 1\r\nB: 2\r\n';
  }
  sendReadyLines(Ready.prototype);
  const answer: RequestListener = (_request, response) =>
    response.writeHead(200, ['C', '3', 'Content-Length', '0']).end();
  const received = await exchange(t, lastGet, answer, { ServerResponse: Ready });
  assert.match(received, /^HTTP\/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\n/);
});
