import { unexpected } from './error.ts';

/** A block of a stream of Server-Sent Events (HTML, section 9.2). Its fields are there if it has them. */
export interface Block {
  id?: string;
  data?: string;
  retryMs?: number;
}

/** No event of the API is nearly as long. */
const longestBlock = 1_048_576;

/**
 * Returns a function that takes a piece of a stream, and gives the blocks that have ended with it. Unlike a library it also gives
 * those without data, whose ids tell how far the stream has come.
 *
 * @throws PetstoreError if a block is too long to be kept.
 */
export function blockReader(): (piece: string) => Block[] {
  let line = '';
  let block: string[] = [];
  let length = 0;
  let endedByReturn = false;
  return (piece) => {
    // A line feed after a return is the other half of one line break. No piece is looked at again with the next one.
    const lines = (endedByReturn ? piece.replace(/^\n/, '') : piece).split(/\r\n|\n|\r/);
    if (piece) endedByReturn = piece.endsWith('\r');
    lines[0] = line + lines[0];
    line = lines.pop() as string;
    const blocks: Block[] = [];
    for (const ended of lines) {
      length += ended.length;
      if (ended) block.push(ended);
      else if (block.length > 0) {
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
