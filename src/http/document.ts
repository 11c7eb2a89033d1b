import type { FastifyInstance } from 'fastify';
import { isKnown, parseEntityTags } from './etag.ts';
import type { Forms } from './forms.ts';

/** A public text that does not change until the next start. */
export interface TextDocument {
  path: string;
  mediaType: string;
  /** Called once, at the first request for the document. */
  forms(): Promise<Forms>;
  headers?: Record<string, string>;
}

/** Serves a document in the form that the client takes, with its ETag. */
export function serveDocument(app: FastifyInstance, document: TextDocument): void {
  const { path, mediaType, headers } = document;
  let forms: Promise<Forms> | undefined;
  app.get(path, async (request, reply) => {
    // Read first: a refusal must not carry what the document has.
    const ifNoneMatch = request.headers['if-none-match'];
    const tags = ifNoneMatch === undefined ? [] : parseEntityTags('If-None-Match', ifNoneMatch);
    forms ??= document.forms();
    const { plain, gzipped } = await forms.catch((error) => {
      forms = undefined;
      throw error;
    });
    const isGzip = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(request.headers['accept-encoding']));
    const { etag, bytes } = isGzip ? gzipped : plain;
    reply.headers({ etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding', ...headers });
    if (isKnown(tags, etag)) return reply.code(304).send();
    if (isGzip) reply.header('content-encoding', 'gzip');
    return reply.type(mediaType).send(bytes);
  });
}
