import type { FastifyInstance } from 'fastify';
import { type Forms, formsOf } from '../../http/content-codings.ts';
import { serveDocument, serveDocuments } from '../../http/document.ts';
import { layout, type Page, type Site } from './layout.ts';

/** The headers of a page without scripts. It may load only its style sheet and its icon. */
export const plainPageFields = {
  mediaType: 'text/html; charset=utf-8',
  headers: {
    'content-security-policy':
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  },
};

type Content = Omit<Page, 'path'>;

const made = async (path: string, content: Promise<Content>, site: Site): Promise<Forms> =>
  formsOf(layout({ path, ...(await content) }, site));

/** Serves a page without scripts. The first request builds it. */
export const servePlainPage = (
  app: FastifyInstance,
  site: Site,
  path: string,
  make: () => Promise<Content>,
): void => serveDocument(app, { ...plainPageFields, path, forms: () => made(path, make(), site) });

/** Serves such a page for each name below a path. */
export const servePlainPages = (
  app: FastifyInstance,
  site: Site,
  { path, names }: PlainPages,
  make: (name: string, path: string) => Promise<Content>,
): void =>
  serveDocuments(app, {
    ...plainPageFields,
    path,
    names,
    formsOf: (name) => made(`${path}/${name}`, make(name, `${path}/${name}`), site),
  });

/** Pages below a path. */
export interface PlainPages {
  path: string;
  names: readonly string[];
}
