import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { isKnown, parseEntityTags } from './etag.ts';

const compress = promisify(gzip);

/** A public text that does not change until the next start. */
export interface TextDocument {
  path: string;
  mediaType: string;
  /** Called once, at the first request for the document. */
  text(): string | Promise<string>;
  headers?: Record<string, string>;
}

/** Serves a document with an ETag for each of its forms, plain and gzip (RFC 9110, section 8.8.3.3). */
export function serveDocument(app: FastifyInstance, { path, mediaType, text, headers }: TextDocument): void {
  let forms: ReturnType<typeof formsOf> | undefined;
  app.get(path, async (request, reply) => {
    forms ??= formsOf(text);
    const { plain, gzipped } = await forms.catch((error) => {
      forms = undefined;
      throw error;
    });
    const isGzip = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(request.headers['accept-encoding']));
    const { etag, bytes } = isGzip ? gzipped : plain;
    reply.headers({ etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding', ...headers });
    const ifNoneMatch = request.headers['if-none-match'];
    if (ifNoneMatch !== undefined && isKnown(parseEntityTags('If-None-Match', ifNoneMatch), etag)) {
      return reply.code(304).send();
    }
    if (isGzip) reply.header('content-encoding', 'gzip');
    return reply.type(mediaType).send(bytes);
  });
}

async function formsOf(read: TextDocument['text']) {
  const text = await read();
  const tag = hash('sha1', text, 'base64url');
  const bytes = Buffer.from(text);
  return {
    plain: { etag: `"${tag}"`, bytes },
    gzipped: { etag: `"${tag}.gzip"`, bytes: await compress(bytes) },
  };
}
