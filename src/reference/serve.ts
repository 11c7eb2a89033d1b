import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { serveDocument } from '../http/document.ts';
import { formsFromThread, formsOf } from '../http/forms.ts';

const folder = new URL('./page/', import.meta.url);

const script = 'text/javascript; charset=utf-8';
const style = 'text/css; charset=utf-8';

/** The files of the pages, by path. */
const files: Record<string, { mediaType: string; url: URL }> = {
  '/reference/key.js': { mediaType: script, url: new URL('key.js', folder) },
  '/reference/page.js': { mediaType: script, url: new URL('page.js', folder) },
  '/reference/search.js': { mediaType: script, url: new URL('search.js', folder) },
  '/reference/search-index.js': { mediaType: script, url: new URL('search-index.js', folder) },
  '/reference/minisearch.js': { mediaType: script, url: new URL(import.meta.resolve('minisearch')) },
  '/reference/page.css': { mediaType: style, url: new URL('page.css', folder) },
  '/reference/search.css': { mediaType: style, url: new URL('search.css', folder) },
  '/reference/changelog.css': { mediaType: style, url: new URL('changelog.css', folder) },
  '/reference/icon.svg': { mediaType: 'image/svg+xml', url: new URL('icon.svg', folder) },
};

/** The paths that the reference answers. */
export const referencePaths = [
  '/',
  '/reference',
  '/reference/',
  '/reference/scalar.js',
  ...Object.keys(files),
];

/**
 * Serves the interactive reference. It loads nothing from elsewhere and sends requests only to the API at `baseUrl`. It
 * is the same for every user and holds no key: each tab has its own.
 */
export function serveReference(app: FastifyInstance, baseUrl: string): void {
  app.get('/', async (_request, reply) => reply.redirect('reference'));
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference'));
  serveDocument(app, {
    path: '/reference',
    mediaType: 'text/html; charset=utf-8',
    forms: async () => formsOf(await readFile(new URL('index.html', folder), 'utf8')),
    headers: {
      'content-security-policy': policy(new URL(baseUrl).origin),
      'referrer-policy': 'no-referrer',
    },
  });
  for (const [path, { mediaType, url }] of Object.entries(files)) {
    serveDocument(app, {
      path,
      mediaType,
      forms: async () => formsOf(await readFile(url, 'utf8')),
      headers: { 'cache-control': 'max-age=60' },
    });
  }
  serveDocument(app, {
    path: '/reference/scalar.js',
    mediaType: 'text/javascript; charset=utf-8',
    forms: () => formsFromThread(new URL('./program-thread.ts', import.meta.url)),
  });
}

/** Scalar writes styles into the page, so styles may be inline; scripts may not. */
const policy = (apiOrigin: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    `connect-src 'self' ${apiOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
