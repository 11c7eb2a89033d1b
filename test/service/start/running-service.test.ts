import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { withService } from '../../../src/service/start/running-service.ts';
import { listen } from '../../support/receiver.ts';

/** The message of a command that requests the account of a key. */
async function messageFrom(t: TestContext, serve: RequestListener): Promise<string> {
  const { port } = await listen(t, createServer(serve));
  const origin = `http://127.0.0.1:${port}`;
  const access = { baseUrl: `${origin}/v1`, key: 'k', addressSetBy: '--url' };
  const error: Error = await withService(access, ({ lab }) => lab.getAccount()).then(
    () => assert.fail('it must reject'),
    (error) => error,
  );
  return error.message.replaceAll(origin, 'ORIGIN');
}

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

const refusal = (status: number, message: string) =>
  answering(status, JSON.stringify({ code: 'a_code', message, status }), {
    'content-type': 'application/json',
  });

for (const [what, serve, message] of [
  ['an error of the service', refusal(409, 'Try later.'), 'Try later.'],
  [
    'a refusal of the key',
    refusal(401, 'Unknown key.'),
    'Unknown key. It is not a key of the service at ORIGIN/v1.',
  ],
  [
    'a service without a lab',
    refusal(404, 'No such path.'),
    'There is no lab at ORIGIN/lab. Start the service with PETSTORE_LAB=on.',
  ],
  ['an error of another program', answering(502, '<p>Bad</p>'), 'ORIGIN/lab/account returned 502.'],
  ['a redirect', answering(302, '', { location: '/elsewhere' }), 'ORIGIN/lab/account returned 302.'],
] as const)
  test(`${what} is reported as: ${message}`, async (t) => assert.equal(await messageFrom(t, serve), message));

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
