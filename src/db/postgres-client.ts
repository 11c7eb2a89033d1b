import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { Client, type ClientConfig, type Connection } from 'pg';

/** The longest message is a row. A row has a few bodies of at most 64 KiB each. Escapes may make them several times longer. */
const maxBytes = 4 * 1024 * 1024;
/** One byte for the type, and four for the length of the rest. */
const headBytes = 5;
/** ErrorResponse and NoticeResponse. The library searches for the end of these messages without a bound. */
const fielded = [0x45, 0x4e];

/** The library calls `attachListeners` with the socket that carries the protocol. Under TLS that is not the connected socket. */
type Attaching = Connection & { attachListeners(stream: EventEmitter): void };

/** A connection that closes with an error at a malformed message. The library would throw inside socket events, which ends the process. */
export class GuardedClient extends Client {
  /** The id that the other side names. PgBouncer names another one than the server. */
  declare readonly processID: number;

  constructor(settings?: ClientConfig) {
    super(settings);
    const connection = this.connection as Attaching;
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream) => attach(guarded(stream as Duplex));
    let isReady = false;
    connection.once('readyForQuery', () => (isReady = true));
    connection.on('errorMessage', ({ code, message }: { code?: string; message: string }) => {
      // Errors of a server have a code. Without one, the library reports a message of unknown type.
      if (code === undefined) throw new Error(message);
      if (!isReady) connection.stream.destroy();
    });
    connection.on('error', () => connection.stream.destroy());
    // The running statement reports the same error.
    this.on('error', () => {});
  }
}

/** Emits the whole messages from a socket. Closes the socket at the first malformed message, and when our side has ended. */
function guarded(stream: Duplex): EventEmitter {
  const emitter = new EventEmitter();
  const messages = new PostgresMessages();
  stream.on('data', (bytes: Buffer) => {
    try {
      const whole = messages.push(bytes);
      if (whole) emitter.emit('data', whole);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
  stream.once('finish', () => stream.destroy());
  return emitter;
}

/** Cuts the bytes of a server into whole messages: https://www.postgresql.org/docs/current/protocol-message-formats.html */
class PostgresMessages {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The number of bytes needed for the next step. */
  #wanted = headBytes;

  /** Adds bytes, and returns the messages that are complete. Throws on a malformed message. */
  push(part: Buffer): Buffer | undefined {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes < this.#wanted) return undefined;
    const bytes = this.#parts.length === 1 ? part : Buffer.concat(this.#parts);
    const end = this.#endOfWhole(bytes);
    this.#parts = end < bytes.length ? [bytes.subarray(end)] : [];
    this.#bytes = bytes.length - end;
    return end > 0 ? bytes.subarray(0, end) : undefined;
  }

  #endOfWhole(bytes: Buffer): number {
    let start = 0;
    this.#wanted = headBytes;
    while (start + headBytes <= bytes.length) {
      const length = bytes.readUInt32BE(start + 1);
      if (length < 4 || length > maxBytes)
        throw new Error('The server sent what is not a PostgreSQL message.');
      const end = start + 1 + length;
      if (end > bytes.length) {
        this.#wanted = end - start;
        break;
      }
      if (fielded.includes(bytes[start] as number)) assertEnds(bytes.subarray(start + headBytes, end));
      start = end;
    }
    return start;
  }
}

/** Each field and the list of fields end with a zero byte. */
function assertEnds(fields: Buffer): void {
  const isEnded = fields.at(-1) === 0 && (fields.length === 1 || fields.at(-2) === 0);
  if (!isEnded) throw new Error('The server sent an error without an end.');
}
