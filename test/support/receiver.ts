import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { type AttemptOutcome, type SendOptions, sendRequest } from '../../src/store/webhooks/send-request.ts';
import type { NameResolver, TargetPolicy } from '../../src/store/webhooks/target-policy.ts';

export const policy: TargetPolicy = {
  allowLoopback: false,
  ownHosts: ['pets.example'],
  ownPorts: [8080, 443],
};
export const demonstration: TargetPolicy = { allowLoopback: true, ownHosts: ['localhost'], ownPorts: [8080] };

/** A listener on loopback that ends with the test. */
export async function listen(t: TestContext, server: Server, host = '127.0.0.1', port = 0) {
  let connections = 0;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server.listen(port, host), 'listening');
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://localhost:${address.port}/`,
    connections: () => connections,
    /** Waits until no connection is left. */
    async quiet(): Promise<void> {
      // A socket that is not read does not notice the end.
      for (const socket of sockets) await new Promise((resolve) => socket.on('close', resolve).resume());
    },
  };
}

const answers = (_request: IncomingMessage, response: ServerResponse) => response.end();

/** A receiver that answers each request with 200, over TLS if it has a certificate. */
export const listenWell = (t: TestContext, tls?: { cert: string; key: string }, host?: string) =>
  listen(t, tls ? createTlsServer(tls, answers) : createHttpServer(answers), host);

/** A receiver that handles each raw connection with `behave`. */
export const receive = (t: TestContext, behave: (socket: Socket) => void) => listen(t, createServer(behave));

export type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server that reads each request and then responds. An aborted request has no body. Returns its port. */
export async function serve(t: TestContext, respond: Respond): Promise<number> {
  const server = createHttpServer(async (request, response) => {
    request.on('error', () => {});
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>).catch(() => []);
    respond(request, response, Buffer.concat(chunks).toString());
  });
  return (await listen(t, server)).port;
}

/** A listener on both loopback addresses, with its number of connections. */
export async function listenOnBoth(t: TestContext) {
  const first = await listenWell(t);
  const second = await listen(t, createHttpServer(answers), '::1', first.port).catch(() => undefined);
  return { port: first.port, connections: () => first.connections() + (second?.connections() ?? 0) };
}

/** A resolver with a table of names. Other names have no address. */
export function nameServer(table: Record<string, string[]>): NameResolver & { asked: string[] } {
  const asked: string[] = [];
  const answer = async (name: string, isIn: (address: string) => boolean) => {
    asked.push(name);
    const addresses = table[name]?.filter(isIn) ?? [];
    if (addresses.length === 0) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
    return addresses;
  };
  return {
    asked,
    resolve4: (name) => answer(name, (address) => !address.includes(':')),
    resolve6: (name) => answer(name, (address) => address.includes(':')),
  };
}

/** Sends a small body. By default loopback is allowed, and no name has an address. */
export const sendTo = (url: string, options: Partial<SendOptions> = {}): Promise<AttemptOutcome> =>
  sendRequest(
    { url, headers: { 'content-type': 'application/json' }, body: '{"id":1}' },
    { policy: demonstration, resolver: nameServer({}), ...options },
  );
