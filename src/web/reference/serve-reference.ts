import type { FastifyInstance } from 'fastify';
import { formsFromThread } from '../../http/content-codings.ts';
import { bundles, filesAt, servePage } from '../serve-page.ts';

/** The entry of the program that handles the key, by the path at which it is served. */
export const referencePrograms = { '/reference/key.js': 'web/tab-key.ts' };

const folder = new URL('./page/', import.meta.url);

/** The files of the reference and of the changelog, by path. */
const files = {
  ...filesAt({
    '/reference/page.js': new URL('page.js', folder),
    '/reference/search.js': new URL('search.js', folder),
    '/reference/search-index.js': new URL('search-index.js', folder),
    '/reference/minisearch.js': new URL(import.meta.resolve('minisearch')),
    '/reference/page.css': new URL('page.css', folder),
    '/reference/search.css': new URL('search.css', folder),
    '/reference/changelog.css': new URL('changelog.css', folder),
    '/reference/icon.svg': new URL('icon.svg', folder),
  }),
  ...bundles(referencePrograms),
  '/reference/scalar.js': () => formsFromThread(new URL('./scalar-thread.ts', import.meta.url)),
};

export const referenceFiles = Object.keys(files);

/** The paths of the reference and its files. */
export const referencePaths = ['/', '/reference', '/reference/', ...referenceFiles];

/**
 * Serves the interactive reference. It loads only its own files and sends requests only to the API at `baseUrl`. It is the same for
 * every user and contains no key: each tab has its own.
 */
export function serveReference(app: FastifyInstance, baseUrl: string): void {
  app.get('/', async (_request, reply) => reply.redirect('reference'));
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference'));
  servePage(app, {
    path: '/reference',
    html: new URL('index.html', folder),
    policy: policy(new URL(baseUrl).origin),
    files,
  });
}

/** Scalar adds inline styles, so these are allowed. Inline scripts are not. */
const policy = (apiOrigin: string) => [
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  `connect-src 'self' ${apiOrigin}`,
];
