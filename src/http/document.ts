import type { FastifyInstance, FastifyRequest } from 'fastify';
import { memoize } from '../foundation/promises.ts';
import { addressGroupOf } from './address.ts';
import type { Forms } from './content-codings.ts';
import { isKnown, parseEntityTags } from './etag.ts';
import { preferredCoding } from './negotiation.ts';

/** The path and the headers of a document. */
interface Served {
  path: string;
  mediaType: string;
  headers?: Record<string, string>;
  /** Further headers, which depend on the request. */
  headersFor?(request: FastifyRequest): Promise<Record<string, string>>;
}

/** A public text that does not change until the next start. */
interface TextDocument extends Served {
  /** Called once, at the first request for the document. */
  forms(): Forms | Promise<Forms>;
}

/** Texts whose paths begin the same. One route for all of them keeps the start short. */
interface TextDocuments extends Served {
  /** The ends of the paths: letters, digits, `_` and `-`. */
  names: readonly string[];
  /** Called once for each name. */
  formsOf(name: string): Forms | Promise<Forms>;
}

/** Serves a document in the coding that the client prefers, with its ETag. */
export function serveDocument(app: FastifyInstance, document: TextDocument): void {
  const forms = memoize(() => document.forms());
  serve(app, document, forms);
}

/** The route of documents below `path`. */
export const pathOfEach = ({ path, names }: Pick<TextDocuments, 'path' | 'names'>) =>
  `${path}/:name(^(?:${names.join('|')})$)`;

/** Serves a document for each name. */
export function serveDocuments(app: FastifyInstance, documents: TextDocuments): void {
  const { names, formsOf } = documents;
  const made = new Map(names.map((name) => [name, memoize(async () => formsOf(name))]));
  serve(app, { ...documents, path: pathOfEach(documents) }, ({ params }) =>
    (made.get((params as { name: string }).name) as () => Promise<Forms>)(),
  );
}

function serve(
  app: FastifyInstance,
  { path, mediaType, headers, headersFor }: Served,
  formsFor: (request: FastifyRequest) => Promise<Forms>,
): void {
  app.get(path, async (request, reply) => {
    // Read before the document, so that a refusal has none of its headers.
    const ifNoneMatch = request.headers['if-none-match'];
    const tags = ifNoneMatch === undefined ? [] : parseEntityTags('If-None-Match', ifNoneMatch);
    await app.fairShare.enter(addressGroupOf(request), reply.raw, 0);
    const coding = preferredCoding(request.headers['accept-encoding']);
    const { etag, bytes } = await (await formsFor(request)).in(coding);
    const own = { ...headers, ...(await headersFor?.(request)) };
    reply.headers({ etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding', ...own });
    if (isKnown(tags, etag)) return reply.code(304).send();
    if (coding !== 'identity') reply.header('content-encoding', coding);
    // All responses share these bytes, so they may wait unread.
    return reply.header('content-length', bytes.length).type(mediaType).send(bytes);
  });
}
