import type { Event } from './description.ts';
import { PetstoreError, unexpected } from './error.ts';
import { type Int64, isObject, parseExactly } from './exact-json.ts';
import type { StreamOptions } from './options.ts';
import { backoffMs } from './retry-delays.ts';
import { type Connection, type Received, send } from './send.ts';

const usualRetryMs = 2_500;
const leastRetryMs = 1_000;
/** An id that a header can hold. */
const sendableId = /^[!-~]{1,128}$/;
const position = /^(?:0|[1-9]\d{0,18})$/;
const usualSilenceMs = 40_000;

/**
 * Yields events without end. When a stream ends or breaks, it continues after the last event: no event is lost or repeated.
 *
 * @throws PetstoreError for a failure that is not temporary, such as `events_expired`.
 */
export async function* follow(
  connection: Connection,
  url: URL,
  { signal, silenceMs = usualSilenceMs, onOpen, onBreak }: StreamOptions = {},
): AsyncGenerator<Event, never, undefined> {
  const { clock, options } = connection;
  let lastId: string | undefined;
  let retryMs = usualRetryMs;
  for (let failures = 1; ; failures++) {
    let waitMs = Math.max(retryMs, backoffMs(failures, clock.random()));
    let failure: PetstoreError | undefined;
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      };
      const received = await send(connection, { method: 'GET', url, headers, isStream: true }, { signal });
      const after = received.headers.get('last-event-id') ?? undefined;
      lastId ??= after;
      try {
        onOpen?.(after && position.test(after) ? (parseExactly(after) as Int64) : undefined);
        for await (const { id, data, retryMs: wantedMs } of blocksOf(received, silenceMs)) {
          failures = 0;
          waitMs = retryMs = Math.max(Math.min(wantedMs ?? retryMs, options.maxWaitMs), leastRetryMs);
          if (id !== undefined && sendableId.test(id)) lastId = id;
          if (data === undefined) continue;
          const event = eventOf(data);
          // Other messages may come, such as signs of life.
          if (event.id !== undefined) yield event;
        }
      } finally {
        received.stream?.deadline.end();
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof PetstoreError && error.isTemporary)) throw error;
      const askedMs = error.retryAt ? error.retryAt.getTime() - clock.now() : 0;
      if (askedMs > options.maxWaitMs) throw error;
      waitMs = Math.max(waitMs, askedMs);
      failure = error;
    }
    onBreak?.(failure);
    await clock.sleep(waitMs, signal ?? new AbortController().signal);
  }
}

function eventOf(data: string): Event {
  let event: unknown;
  try {
    event = parseExactly(data);
  } catch (cause) {
    throw unexpected('An event of the stream is not JSON.', { cause });
  }
  if (!isObject(event)) throw unexpected('An event of the stream is no object.');
  return event as Event;
}

/** The blocks of one stream, until it ends. A broken connection is temporary. */
async function* blocksOf({ stream }: Received, silenceMs: number) {
  if (!stream) return;
  const { body, deadline } = stream;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const blocks = blockReader();
  for (;;) {
    // The deadline is for the service alone: the caller may take long with an event.
    deadline.arm(silenceMs, () => broken(undefined));
    const { value, done } = await reader.read().catch((cause) => {
      throw broken(cause);
    });
    deadline.disarm();
    if (done) return;
    yield* blocks(value);
  }
}

const broken = (cause: unknown) =>
  new PetstoreError({ code: 'no_answer', message: 'The stream broke.', isTemporary: true, cause });

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
