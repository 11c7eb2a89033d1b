import type { FastifyInstance, FastifyRequest } from 'fastify';
import { memoize } from '../foundation/promises.ts';
import type { Forms } from './content-codings.ts';
import { preferredCoding } from './content-codings.ts';
import type { DocumentSender } from './document-sender.ts';
import { isKnown, parseEntityTags } from './etag.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Sends all documents of the service. */
    documents: DocumentSender;
  }
}

/** A public text that does not change until the next start. */
interface TextDocument {
  path: string;
  mediaType: string;
  /** Called once, at the first request for the document. */
  forms(): Forms | Promise<Forms>;
  headers?: Record<string, string>;
  /** Further headers, which depend on the request. */
  headersFor?(request: FastifyRequest): Promise<Record<string, string>>;
}

/** Serves a document in the coding that the client prefers, with its ETag. */
export function serveDocument(app: FastifyInstance, document: TextDocument): void {
  const { path, mediaType, headers } = document;
  const forms = memoize(() => document.forms());
  app.get(path, async (request, reply) => {
    // Read first: a refusal must not carry what the document has.
    const ifNoneMatch = request.headers['if-none-match'];
    const tags = ifNoneMatch === undefined ? [] : parseEntityTags('If-None-Match', ifNoneMatch);
    await app.documents.answer(request, reply.raw, async (send) => {
      const coding = preferredCoding(request.headers['accept-encoding']);
      const { etag, bytes } = await (await forms()).in(coding);
      const own = { ...headers, ...(await document.headersFor?.(request)) };
      reply.headers({ etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding', ...own });
      if (isKnown(tags, etag)) {
        reply.code(304).send();
        return;
      }
      if (coding !== 'identity') reply.header('content-encoding', coding);
      reply.header('content-length', bytes.length).type(mediaType).hijack();
      reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
      await send(request.method === 'HEAD' ? new Uint8Array() : bytes);
    });
    // Its client has left.
    if (!reply.sent) reply.hijack();
    return reply;
  });
}
