import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** What is answered to a command, given its words. */
export type Answers = (words: string[]) => string;

const text = (words: string) => `$${words.length}\r\n${words}\r\n`;
/** An answer of several texts. */
export const texts = (...all: string[]) => `*${all.length}\r\n${all.map(text).join('')}`;

/** What a server that is not odd tells of itself. */
export const infoOf = (mode: string) => text(`redis_mode:${mode}\r\nrole:master\r\n`);

/** A server that speaks the protocol of Valkey, answers whatever a test likes, and ends with it. */
export async function startOddValkey(t: TestContext, answers: Answers): Promise<{ port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let unread = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      unread += bytes.toString('latin1');
      for (let command = takeCommand(unread); command; command = takeCommand(unread)) {
        unread = command.rest;
        socket.write(answers(command.words));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port };
}

function takeCommand(text: string): { words: string[]; rest: string } | undefined {
  const count = /^\*(\d+)\r\n/.exec(text);
  if (!count) return undefined;
  let rest = text.slice(count[0].length);
  const words: string[] = [];
  for (let i = 0; i < Number(count[1]); i++) {
    const [head, length] = /^\$(\d+)\r\n/.exec(rest) ?? [];
    if (!head || rest.length < head.length + Number(length) + 2) return undefined;
    words.push(rest.slice(head.length, head.length + Number(length)));
    rest = rest.slice(head.length + Number(length) + 2);
  }
  return { words, rest };
}
