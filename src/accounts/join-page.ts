import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { bundles, hashedPath, servePage } from '../http/pages/serve-page.ts';
import { joinPath } from './invites.ts';

/** The entries of the program and the style sheet, by the paths at which they are served. */
export const joinPrograms = {
  '/join/page.js': 'accounts/page/join.ts',
  '/join/page.css': 'accounts/page/join.css',
};

const joinFiles = Object.keys(joinPrograms);

/** The paths of the page and its files, as the router takes them. */
export const joinRoutes = [joinPath, `${joinPath}/`, ...joinFiles, ...joinFiles.map(hashedPath)];

/** Serves the page, which is the same for every user. `isOpen` says whether the service creates accounts without an invite. */
export function serveJoinPage(app: FastifyInstance, isOpen: boolean): void {
  app.get(`${joinPath}/`, async (_request, reply) => reply.redirect(`..${joinPath}`));
  servePage(app, {
    path: joinPath,
    html: async () =>
      (await readFile(new URL('page/join.html', import.meta.url), 'utf8')).replace(
        '{signup}',
        isOpen ? 'open' : 'off',
      ),
    policy: [
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ],
    files: bundles(joinPrograms),
  });
}
