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
  let rest = '';
  return (piece) => {
    // A return at the end may be half of a line break.
    const text = (rest + piece).replace(/\r\n|\r(?!$)/g, '\n');
    const blocks = text.split('\n\n');
    rest = blocks.pop() as string;
    if (rest.length > longestBlock) throw unexpected('A block of the stream is too long.');
    return blocks.map(blockOf);
  };
}

function blockOf(text: string): Block {
  const block: Block = {};
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === 'data') block.data = block.data === undefined ? value : `${block.data}\n${value}`;
    if (name === 'id' && !value.includes('\0')) block.id = value;
    if (name === 'retry' && /^\d+$/.test(value)) block.retryMs = Number(value);
  }
  return block;
}
