import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { serveDocument } from '../http/document.ts';
import { formsFromThread, formsOf } from '../http/forms.ts';

const folder = new URL('./page/', import.meta.url);

/** The files of the page, by path. */
const files = {
  '/reference/key.js': 'text/javascript; charset=utf-8',
  '/reference/page.js': 'text/javascript; charset=utf-8',
  '/reference/page.css': 'text/css; charset=utf-8',
  '/reference/changelog.css': 'text/css; charset=utf-8',
  '/reference/icon.svg': 'image/svg+xml',
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
  for (const [path, mediaType] of Object.entries(files)) {
    const file = new URL(path.replace('/reference/', ''), folder);
    serveDocument(app, {
      path,
      mediaType,
      forms: async () => formsOf(await readFile(file, 'utf8')),
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
