import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { listen as listenHere } from './receiver.ts';

/** A message in the format of PostgreSQL. */
export function message(type: string, body: number[] | string = []): Buffer {
  const bytes = Buffer.from(body as string, 'latin1');
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(4 + bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

export const loggedIn = Buffer.concat([message('R', [0, 0, 0, 0]), message('Z', 'I')]);
/** The request of a server with `gss` in pg_hba.conf. */
export const oddLogin = message('R', [0, 0, 0, 7]);

/** The address of a server that never closes a connection by itself, and runs `answer` on each. */
export async function listen(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const { port } = await listenHere(t, createServer({ allowHalfOpen: true }, answer));
  return `postgres://me:hush-hush@127.0.0.1:${port}/db`;
}

/** Sends one message after the other, each after the client has sent something. */
export const saying = (words: (Buffer | string)[]) => (socket: Pick<Socket, 'on' | 'write'>) => {
  const left = [...words];
  socket.on('data', () => {
    const word = left.shift();
    if (word) socket.write(word);
  });
};
