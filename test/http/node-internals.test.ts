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
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  answerHalfClosed,
  endAfter,
  pendingResponse,
  replaceEnd,
  sendReadyLines,
} from '../../src/http/node-internals.ts';

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function serve(
  t: TestContext,
  listener: RequestListener,
  prepare = (_server: Server) => {},
  options: ServerOptions<typeof IncomingMessage, typeof ServerResponse<IncomingMessage>> = {},
) {
  const server = createServer(options, listener);
  prepare(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return {
    server,
    open: () => connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {}),
  };
}

/** All bytes until the connection ends. */
async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('the pending response of a socket is the one that is sent next', async (t) => {
  const responses: ServerResponse[] = [];
  const { open } = await serve(t, ({ socket }, response) => {
    responses.push(response);
    assert.equal(pendingResponse(socket), responses[0]);
    if (responses.length === 2) for (const each of responses.toReversed()) each.end();
  });
  const socket = open();
  socket.end(get + get);
  assert.equal((await readToEnd(socket)).split('HTTP/1.1 200').length, 3);
});

test('a connection closes after a response that is marked as its last, whatever its fields say', async (t) => {
  const { open } = await serve(t, (_request, response) => {
    endAfter(response);
    response.writeHead(200, ['Connection', 'keep-alive', 'Content-Length', '2']).end('ok');
  });
  const socket = open();
  socket.write(get);
  assert.match(await readToEnd(socket), /keep-alive[\s\S]*ok$/);
});

test('after the last response the given end function is called instead of that of Node.js', async (t) => {
  const { open } = await serve(
    t,
    (_request, response) => response.setHeader('Connection', 'close').end('ok'),
    (server) => server.on('connection', (socket) => replaceEnd(socket, () => socket.end(' and more'))),
  );
  const socket = open();
  socket.write(get);
  assert.match(await readToEnd(socket), /ok\r?\n?[\s\S]* and more$/);
});

test('a client that has closed its half of the connection gets its response', async (t) => {
  const { open } = await serve(
    t,
    (request, response) => request.socket.once('end', () => response.end('ok')),
    answerHalfClosed,
  );
  const socket = open();
  socket.end(get);
  assert.match(await readToEnd(socket), /200 OK/);
});

test('the raw lines of a response are placed between its status line and the fields of writeHead', async (t) => {
  class Ready extends ServerResponse<IncomingMessage> {
    readyLines = 'A: 1\r\nB: 2\r\n';
  }
  sendReadyLines(Ready.prototype);
  const answer: RequestListener = (_request, response) =>
    response.writeHead(200, ['C', '3', 'Content-Length', '0']).end();
  const { open } = await serve(t, answer, () => {}, { ServerResponse: Ready });
  const socket = open();
  socket.end(get);
  assert.match(await readToEnd(socket), /^HTTP\/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\n/);
});
