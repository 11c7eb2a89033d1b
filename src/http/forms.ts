import { hash } from 'node:crypto';
import { once } from 'node:events';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { parentPort, Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';

/** A text in a form that can be sent. */
export interface Form {
  etag: string;
  bytes: Uint8Array;
}

/** The forms of a text, plain and gzip. Each has an ETag of its own (RFC 9110, section 8.8.3.3). */
export interface Forms {
  plain: Form;
  gzipped: Form;
}

const compress = promisify(gzip);

/** The forms of a text. To hash and copy it takes a millisecond for each MB; the rest is done beside the event loop. */
export async function formsOf(text: string): Promise<Forms> {
  const bytes = Buffer.from(text);
  const tag = hash('sha1', bytes, 'base64url');
  return {
    plain: { etag: `"${tag}"`, bytes },
    gzipped: { etag: `"${tag}.gzip"`, bytes: await compress(bytes) },
  };
}

/** Many times what a thread needs on a slow machine. */
const longestMs = 30_000;

/**
 * The forms of a text that takes long to make. It is made in a thread of its own, by a module that calls `sendForms`.
 * Rejects when the thread fails, ends without them, or takes more than `limitMs`, after which it is ended.
 */
export async function formsFromThread(module: URL, workerData?: string, limitMs = longestMs): Promise<Forms> {
  const worker = new Worker(asBuilt(module), { workerData });
  const limit = setTimeout(() => worker.terminate(), limitMs);
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`${module} ended with ${code} before it made its text, or took more than ${limitMs} ms.`);
  });
  try {
    const [forms] = await Promise.race([once(worker, 'message'), ended]);
    return forms;
  } finally {
    clearTimeout(limit);
  }
}

/** The package has JavaScript where the tree has TypeScript. */
const asBuilt = ({ href }: URL) => new URL(href.replace(/\.ts$/, extname(import.meta.url)));

/** Hands the forms of a text to who started this thread. */
export async function sendForms(text: string): Promise<void> {
  const { plain, gzipped } = await formsOf(text);
  parentPort?.postMessage({ plain, gzipped });
}
