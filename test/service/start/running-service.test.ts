import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { withService } from '../../../src/service/start/running-service.ts';

/** The message of a command that requests the account of a key. */
async function messageFrom(t: TestContext, serve: RequestListener): Promise<string> {
  const server = createServer(serve).listen(0, '127.0.0.1');
  t.after(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { baseUrl: `${origin}/v1`, key: 'k', addressSetBy: '--url' };
  const error: Error = await withService(access, ({ lab }) => lab.getAccount()).then(
    () => assert.fail('it must reject'),
    (error) => error,
  );
  return error.message.replaceAll(origin, 'ORIGIN');
}

const refusal = (status: number, message: string): RequestListener => {
  const body = JSON.stringify({ code: 'a_code', message, status });
  return (_request, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body);
};

test('an error response of the service is reported with its message, and with what the user can do', async (t) => {
  assert.equal(await messageFrom(t, refusal(409, 'Try later.')), 'Try later.');
  assert.equal(
    await messageFrom(t, refusal(401, 'Unknown key.')),
    'Unknown key. It is not a key of the service at ORIGIN/v1.',
  );
  assert.equal(
    await messageFrom(t, refusal(404, 'No such path.')),
    'There is no lab at ORIGIN/lab. Start the service with PETSTORE_LAB=on.',
  );
});

test('a response of another program is reported with its status and address', async (t) => {
  const message = await messageFrom(t, (_request, response) => response.writeHead(502).end('<p>Bad</p>'));
  assert.equal(message, 'ORIGIN/lab/account returned 502.');
  const moved = await messageFrom(t, (_request, response) =>
    response.writeHead(302, { location: '/elsewhere' }).end(),
  );
  assert.equal(moved, 'ORIGIN/lab/account returned 302.');
});

test('a service that does not respond, or responds without end, is reported as unreachable', async (t) => {
  const none = await messageFrom(t, (request) => request.socket.destroy());
  assert.match(
    none,
    /^ORIGIN\/v1 cannot be reached \(\w+\)\. Is the service running\? --url sets its address\.$/,
  );
  const endless = await messageFrom(t, (_request, response) => {
    const chunk = Buffer.alloc(1_048_576, ' ');
    const write = () => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', write);
    };
    write();
  });
  assert.match(endless, /^ORIGIN\/v1 cannot be reached \(its response is longer than 67108864 bytes\)\. /);
});
