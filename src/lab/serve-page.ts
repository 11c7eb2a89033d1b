import type { FastifyInstance } from 'fastify';
import { labPrefix } from '../http/target.ts';
import { labPrograms } from '../pages/programs.ts';
import { servePage, servePrograms } from '../pages/serve.ts';

/** The paths of the lab's page and of what it loads. */
export const labPagePaths = [labPrefix, `${labPrefix}/`, ...Object.keys(labPrograms)];

/**
 * Serves the lab's page. It loads and asks nothing beyond its own origin, has no inline styles and scripts, and makes markup by lit-html
 * alone (Trusted Types). It is the same for every user and holds no key: each tab has its own.
 */
export function serveLabPage(app: FastifyInstance): void {
  app.get(`${labPrefix}/`, async (_request, reply) => reply.redirect(`..${labPrefix}`));
  servePage(app, labPrefix, new URL('page/index.html', import.meta.url), [
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
  ]);
  servePrograms(app, labPrograms);
}
