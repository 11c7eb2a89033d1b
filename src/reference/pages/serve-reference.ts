import type { FastifyInstance } from 'fastify';
import { bundles, filesAt, servePage } from '../../http/pages/serve-page.ts';
import type { JsonObject } from '../description/schemas.ts';
import { additions } from './additions.ts';
import { layout, type Site } from './layout.ts';
import { type Api, operationTables } from './pages.ts';

/** The entries of the program and the style sheets, by the paths at which they are served. */
export const referencePrograms = {
  '/reference/page.js': 'reference/pages/page/page.ts',
  '/reference/page.css': 'reference/pages/page/page.css',
  '/reference/interactive.css': 'reference/pages/page/interactive.css',
};

/** The files of the reference and of plain pages, by path. */
const files = {
  ...bundles(referencePrograms),
  ...filesAt({ '/reference/icon.svg': new URL('page/icon.svg', import.meta.url) }),
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
