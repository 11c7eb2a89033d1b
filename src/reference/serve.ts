import type { FastifyInstance } from 'fastify';
import { serveDocument } from '../http/document.ts';
import { formsFromThread } from '../http/forms.ts';
import { referencePrograms } from '../pages/programs.ts';
import { serveFiles, servePage, servePrograms } from '../pages/serve.ts';

const folder = new URL('./page/', import.meta.url);

/** The files of the pages, by path. */
const files = {
  '/reference/page.js': new URL('page.js', folder),
  '/reference/search.js': new URL('search.js', folder),
  '/reference/search-index.js': new URL('search-index.js', folder),
  '/reference/minisearch.js': new URL(import.meta.resolve('minisearch')),
  '/reference/page.css': new URL('page.css', folder),
  '/reference/search.css': new URL('search.css', folder),
  '/reference/changelog.css': new URL('changelog.css', folder),
  '/reference/icon.svg': new URL('icon.svg', folder),
};

/** The paths that the reference answers. */
export const referencePaths = [
  '/',
  '/reference',
  '/reference/',
  '/reference/scalar.js',
  ...Object.keys({ ...referencePrograms, ...files }),
];

/**
 * Serves the interactive reference. It loads nothing from elsewhere and sends requests only to the API at `baseUrl`. It
 * is the same for every user and holds no key: each tab has its own.
 */
export function serveReference(app: FastifyInstance, baseUrl: string): void {
  app.get('/', async (_request, reply) => reply.redirect('reference'));
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference'));
  servePage(app, '/reference', new URL('index.html', folder), policy(new URL(baseUrl).origin));
  serveFiles(app, files);
  servePrograms(app, referencePrograms);
  serveDocument(app, {
    path: '/reference/scalar.js',
    mediaType: 'text/javascript; charset=utf-8',
    forms: () => formsFromThread(new URL('./program-thread.ts', import.meta.url)),
  });
}

/** Scalar writes styles into the page, so styles may be inline; scripts may not. */
const policy = (apiOrigin: string) => [
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  `connect-src 'self' ${apiOrigin}`,
];
