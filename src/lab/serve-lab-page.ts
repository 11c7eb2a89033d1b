import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { bundles, hashedPath, servePage } from '../http/pages/serve-page.ts';
import { labPrefix } from '../http/target.ts';
import { tokenPlace } from './lab-page-token.ts';

/** The entries of the program and the style sheet, by the paths at which they are served. */
export const labPrograms = {
  '/lab/page.js': 'lab/page/main.ts',
  '/lab/page.css': 'lab/page/main.css',
};

const labPageFiles = Object.keys(labPrograms);

/** The paths of the lab's page and its files. */
export const labPagePaths = [labPrefix, `${labPrefix}/`, ...labPageFiles];

/** The same with the paths that contain a hash, as the router takes them. */
export const labPageRoutes = [...labPagePaths, ...labPageFiles.map(hashedPath)];

/** Serves the page, which is the same for every user and contains no key. `token` marks its requests as its own. */
export function serveLabPage(app: FastifyInstance, token: string): void {
  app.get(`${labPrefix}/`, async (_request, reply) => reply.redirect(`..${labPrefix}`));
  servePage(app, {
    path: labPrefix,
    html: async () =>
      (await textOf('index.html')).replace(tokenPlace, token).replace('{pets}', await petTemplates()),
    policy: [
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
      'trusted-types lit-html',
    ],
    files: bundles(labPrograms),
  });
}

const folder = new URL('page/', import.meta.url);
const textOf = (file: string) => readFile(new URL(file, folder), 'utf8');

/** The drawings of pets, each in a template. So the program of the page needs no markup from text. */
async function petTemplates(): Promise<string> {
  const files = (await readdir(new URL('pets/', folder))).sort();
  const templates = files.map(async (file) => {
    const drawing = (await textOf(`pets/${file}`)).replaceAll(/(?: xmlns| aria-hidden)="\S+?"|\n\s*/g, '');
    return `<template id="pet-${basename(file, '.svg')}">${drawing}</template>`;
  });
  return (await Promise.all(templates)).join('');
}
