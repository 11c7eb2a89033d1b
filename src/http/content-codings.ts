import { hash } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { startThread } from '../foundation/call-thread.ts';
import { memoize } from '../foundation/promises.ts';
import type { Coding } from './negotiation.ts';

/** A text in a form that can be sent. */
export interface Form {
  etag: string;
  bytes: Uint8Array;
}

/** A text in all its codings. Each has an ETag of its own (RFC 9110, section 8.8.3.3). */
export interface Forms {
  /** A hash of the text. */
  tag: string;
  /** The text in a coding. It is compressed once, at the first request, in another thread. */
  in(coding: Coding): Promise<Form>;
}

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** For brotli: 4 MB take half a second. The best quality would take ten, and save a tenth of the bytes. */
const brotliQuality = 9;

const compress = (bytes: Uint8Array, coding: keyof typeof compressors): Promise<Uint8Array> =>
  coding === 'gzip'
    ? compressors.gzip(bytes)
    : compressors.br(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      });

/** The hash and the bytes of a text. To make them takes a few milliseconds for each MB. */
interface Hashed {
  tag: string;
  bytes: Uint8Array<ArrayBuffer>;
}

function hashed(text: string): Hashed {
  const bytes = new TextEncoder().encode(text);
  return { tag: hash('sha1', bytes, 'base64url'), bytes };
}

function formsOfHashed({ tag, bytes }: Hashed): Forms {
  const compressed = (coding: keyof typeof compressors) =>
    memoize(async () => ({ etag: `"${tag}.${coding}"`, bytes: await compress(bytes, coding) }));
  const made: Record<Coding, () => Promise<Form>> = {
    br: compressed('br'),
    gzip: compressed('gzip'),
    identity: async () => ({ etag: `"${tag}"`, bytes }),
  };
  return { tag, in: (coding) => made[coding]() };
}

/** The forms of a text. */
export const formsOf = (text: string): Forms => formsOfHashed(hashed(text));

/** Many times what a thread needs on a slow machine. */
const longestMs = 30_000;

/** The forms of a text that a thread makes, by a module that calls `sendText`. Rejects when it fails or takes more than `limitMs`. */
export async function formsFromThread(module: URL, workerData?: string, limitMs = longestMs): Promise<Forms> {
  const worker = startThread(module, { workerData });
  const limit = setTimeout(() => worker.terminate(), limitMs);
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`${module} ended with ${code} before it made its text, or took more than ${limitMs} ms.`);
  });
  try {
    const [text] = await Promise.race([once(worker, 'message'), ended]);
    return formsOfHashed(text);
  } finally {
    clearTimeout(limit);
  }
}

/** Sends a text to the thread that started this one. */
export function sendText(text: string): void {
  const { tag, bytes } = hashed(text);
  parentPort?.postMessage({ tag, bytes }, [bytes.buffer]);
}
