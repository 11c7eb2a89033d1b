import type { Socket } from 'node:net';
import { StandaloneConnector } from 'iovalkey/built/connectors/index.js';

/** More than any answer here is long: the longest are those about the slots of a cluster. */
const maxUnaskedBytes = 1024 * 1024;
/** How many bytes of answers are expected at most for each byte that was sent. */
const answerFactor = 16;
/**
 * The beginning of an array of 10,000 elements, of a text of 100,000 bytes, or of more. The parser makes room for all elements
 * before the first is there, and the room that it made for a long text keeps a process from ending.
 */
const longPart = /\n(?:\*[^\r]{5}|\$[^\r]{6})/;
const longPartLength = 8;

/**
 * Opens connections that a server cannot use to end this process: when what it sends cannot be parsed, or is far more than was
 * asked for, the connection ends with an error. Without this, what the parser throws is caught by nobody.
 */
export class GuardedConnector extends StandaloneConnector {
  override async connect(emit: Parameters<StandaloneConnector['connect']>[0]) {
    const stream = (await super.connect(emit)) as Socket;
    guard(stream);
    return stream;
  }
}

function guard(stream: Socket): void {
  const check = checkerOf(stream);
  const emit = stream.emit.bind(stream) as (event: string | symbol, ...args: unknown[]) => boolean;
  stream.emit = (event: string | symbol, ...args: unknown[]) => {
    if (event !== 'data') return emit(event, ...args);
    try {
      check(args[0] as Buffer);
      return emit(event, ...args);
    } catch (error) {
      stream.destroy(new Error(`what the server sent cannot be read: ${(error as Error).message}`));
      return true;
    }
  };
}

/** What looks at each piece that a server sends, and throws where the parser would take too much memory for it. */
function checkerOf(stream: Socket): (chunk: Buffer) => void {
  let roomBytes = maxUnaskedBytes;
  let sentBytes = 0;
  let last = '\n';
  return (chunk) => {
    const askedBytes = (stream.bytesWritten - sentBytes) * answerFactor;
    sentBytes = stream.bytesWritten;
    roomBytes = Math.min(roomBytes + askedBytes, maxUnaskedBytes) - chunk.length;
    if (roomBytes < 0) throw new Error('it is too long');
    const text = last + chunk.toString('latin1');
    if (longPart.test(text)) throw new Error('a part of it is too long');
    last = text.slice(1 - longPartLength);
  };
}
