import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { Petstore } from './petstore.ts';
import { until } from './until.ts';

/** How a connection ended: by a FIN, by a reset, or not yet. */
type End = 'FIN' | 'RST' | undefined;

export type RawClient = ReturnType<typeof openRaw>;

/** Opens a connection to a store that listens. It shows its exact bytes. */
export function openRaw(t: TestContext, store: Pick<Petstore, 'connect'>) {
  const socket = store.connect();
  t.after(() => socket.destroy());
  const client = {
    socket,
    /** The text and the number of pieces received since the last request. */
    text: '',
    pieces: 0,
    end: undefined as End,
    send(text: string): void {
      client.text = '';
      client.pieces = 0;
      socket.write(text);
    },
    /** Sends a request and waits for a response with a complete body. */
    async ask(text: string): Promise<string> {
      client.send(text);
      await until(() => isWhole(client.text, text.startsWith('HEAD ')));
      return client.text;
    },
    /** Waits for the end of the connection. */
    async ended(): Promise<End> {
      await until(() => client.end !== undefined);
      return client.end;
    },
  };
  socket.setEncoding('latin1').on('data', (chunk) => {
    client.text += chunk;
    client.pieces++;
  });
  socket.on('end', () => {
    client.end = 'FIN';
    socket.end();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') client.end = 'RST';
  });
  return client;
}

/** The head, its Content-Length, and the body. */
export function partsOf(text: string) {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  return { head, announced: length === undefined ? undefined : Number(length), body: rest.join('\r\n\r\n') };
}

/** The statuses of the responses in a text. */
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

/** Sends a piece again and again, until the test ends. */
export function drip(t: TestContext, socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.writable && socket.write(piece), 20);
  t.after(() => clearInterval(timer));
}

function isWhole(text: string, isHead: boolean): boolean {
  const { announced = 0, body } = partsOf(text);
  return text.includes('\r\n\r\n') && (isHead || body.length >= announced);
}

/** The text of a request. A body is sent as JSON. */
export function rawRequest(
  { key }: Pick<Petstore, 'key'>,
  method: string,
  path: string,
  { body, fields = {} }: { body?: unknown; fields?: Record<string, string> } = {},
): string {
  const content = body === undefined ? '' : JSON.stringify(body);
  const all = {
    Host: 'x',
    'X-API-Key': key,
    ...(content && { 'Content-Type': 'application/json', 'Content-Length': String(content.length) }),
    ...fields,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} /v1${path} HTTP/1.1\r\n${lines.join('')}\r\n${content}`;
}
