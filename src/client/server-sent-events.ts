import { unexpected } from './error.ts';

/** A block of a stream of Server-Sent Events (HTML, section 9.2). */
interface Block {
  id?: string;
  data?: string;
  retryMs?: number;
}

/** In characters. No event of the API is nearly as long. */
const longestBlock = 1_048_576;

/**
 * Returns a function that takes a piece of a stream and returns the blocks that it completes. Blocks without data are returned, too:
 * their ids say how far the stream has come. A reconnection time is returned at once, without waiting for the end of its block.
 *
 * @throws PetstoreError if a block is too long.
 */
export function blockReader(): (piece: string) => Block[] {
  let line = '';
  let block: string[] = [];
  let length = 0;
  let endedByReturn = false;
  return (piece) => {
    // CR and LF of one line break may come in two pieces.
    const lines = (endedByReturn ? piece.replace(/^\n/, '') : piece).split(/\r\n|\n|\r/);
    if (piece) endedByReturn = piece.endsWith('\r');
    lines[0] = line + lines[0];
    line = lines.pop() as string;
    const blocks: Block[] = [];
    for (const complete of lines) {
      if (/^retry(?::|$)/.test(complete)) blocks.push(blockOf([complete]));
      else if (complete.startsWith(':')) continue;
      else if (complete) {
        block.push(complete);
        length += complete.length;
      } else if (block.length > 0) {
        blocks.push(blockOf(block));
        block = [];
        length = 0;
      }
    }
    if (length + line.length > longestBlock) throw unexpected('A block of the stream is too long.');
    return blocks;
  };
}

function blockOf(lines: string[]): Block {
  const block: Block = {};
  for (const line of lines) {
    const [, name, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === 'data') block.data = block.data === undefined ? value : `${block.data}\n${value}`;
    if (name === 'id' && !value.includes('\0')) block.id = value;
    if (name === 'retry' && /^\d+$/.test(value)) block.retryMs = Number(value);
  }
  return block;
}
