import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { Client, type ClientConfig, type Connection } from 'pg';
import { PostgresMessages } from './postgres-messages.ts';

/** What the library calls with the socket on which the server speaks: under TLS another than the one that it connected. */
type Attaching = Connection & { attachListeners(stream: EventEmitter): void };

/**
 * A connection that ends alone, with an error, when the server says what makes no sense or refuses the login. The library throws
 * within events of the socket, which would end the process, and only ends its own half of a connection that it gives up.
 */
export class GuardedClient extends Client {
  constructor(settings?: ClientConfig) {
    super(settings);
    const connection = this.connection as Attaching;
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream) => attach(guarded(stream as Duplex));
    let isReady = false;
    connection.once('readyForQuery', () => (isReady = true));
    connection.on('errorMessage', ({ code, message }: { code?: string; message: string }) => {
      // Every error of a server has a code. This one is the library's own, about a message that it does not know.
      if (code === undefined) throw new Error(message);
      if (!isReady) connection.stream.destroy();
    });
    connection.on('error', () => connection.stream.destroy());
    // An error of the connection also fails the running statement, which reports it.
    this.on('error', () => {});
  }
}

/** What is heard on a socket, in whole messages. It ends with the first that cannot be read, and as soon as we said all. */
function guarded(stream: Duplex): EventEmitter {
  const heard = new EventEmitter();
  const messages = new PostgresMessages();
  stream.on('data', (bytes: Buffer) => {
    try {
      const whole = messages.take(bytes);
      if (whole) heard.emit('data', whole);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
  stream.once('finish', () => stream.destroy());
  return heard;
}
