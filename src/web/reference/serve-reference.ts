import type { FastifyInstance } from 'fastify';
import type { JsonObject } from '../../description/schemas.ts';
import { bundles, filesAt, servePage } from '../serve-page.ts';
import { additions } from './additions.ts';
import { layout, type Site } from './layout.ts';
import { type Api, operationTables } from './pages.ts';

/** The entry of the program that handles the key, by the path at which it is served. */
export const referencePrograms = { '/reference/key.js': 'web/tab-key.ts' };

const folder = new URL('./page/', import.meta.url);

/** The files of the reference and of plain pages, by path. */
const files = {
  ...filesAt({
    '/reference/page.js': new URL('page.js', folder),
    '/reference/console.js': new URL('console.js', folder),
    '/reference/search.js': new URL('search.js', folder),
    '/reference/search-index.js': new URL('search-index.js', folder),
    '/reference/minisearch.js': new URL(import.meta.resolve('minisearch')),
    '/reference/page.css': new URL('page.css', folder),
    '/reference/interactive.css': new URL('interactive.css', folder),
    '/reference/icon.svg': new URL('icon.svg', folder),
  }),
  ...bundles(referencePrograms),
};

export const referenceFiles = Object.keys(files);

/** The paths of the reference and its files. */
export const referencePaths = ['/', '/reference', '/reference/', ...referenceFiles];

/**
 * Serves the interactive reference, which shows the plain pages one at a time. It loads only its own files and sends requests only to its
 * own origin. It is the same for every user and contains no key: each tab has its own.
 */
export function serveReference(app: FastifyInstance, apis: readonly Api[], site: Site): void {
  app.get('/', async (_request, reply) => reply.redirect('reference'));
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference'));
  servePage(app, {
    path: '/reference',
    html: async () => layout(await startPage(apis), site, additions),
    policy: ["style-src 'self'", "img-src 'self'", "connect-src 'self'"],
    files,
  });
}

/** What the API is, and all its operations. */
async function startPage(apis: readonly Api[]) {
  const { blocks } = await import('./to-html.ts');
  const [{ description }] = apis as [Api];
  const { info } = (await description()) as { info: JsonObject };
  return {
    path: '/reference',
    title: 'API reference',
    summary: 'The Petstore API: every operation, with samples and a way to try it.',
    main: `<h1>Petstore API</h1>\n${blocks(info.description as string)}\n${operationTables(apis, '')}`,
  };
}
