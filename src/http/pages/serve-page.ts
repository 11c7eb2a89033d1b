import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { browserProgram } from '#distribution';
import { memoize } from '../../foundation/promises.ts';
import { type Forms, formsOf } from '../content-codings.ts';
import { serveDocument } from '../document.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of a page, by path. Each is built at its first request. */
type PageFiles = Readonly<Record<string, () => Forms | Promise<Forms>>>;

/** Files that are served unchanged. */
export const filesAt = (files: Readonly<Record<string, URL>>): PageFiles =>
  mapValues(files, (file) => async () => formsOf(await readFile(file, 'utf8')));

/** Programs and style sheets, each bundled from a file of `src` and its imports. */
export const bundles = (programs: Readonly<Record<string, string>>): PageFiles =>
  mapValues(programs, (file) => async () => formsOf(await browserProgram(file)));

const mapValues = <Value, Mapped>(values: Readonly<Record<string, Value>>, map: (value: Value) => Mapped) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));

interface Page {
  path: string;
  /** Makes its HTML. It names its files by relative paths. */
  html: () => Promise<string>;
  /** Further directives of its policy (Content Security Policy, level 3). */
  policy: readonly string[];
  files: PageFiles;
}

/** A route parameter for the hash of all files of a page. It is a folder, so that relative imports work. */
const anyHash = ':hash(^[\\w-]{27}$)';

const withHash = (path: string, folder: string) => path.replace(/(?=[^/]*$)/, `${folder}/`);

/** The route of a file with the hash in its path. */
export const hashedPath = (file: string) => withHash(file, anyHash);

/** Serves a page, and its files by paths with the current hash, which browsers cache for a year. Other paths are revalidated. */
export function servePage(app: FastifyInstance, { path, html, policy, files }: Page): void {
  const made = mapValues(files, memoize) as Record<string, () => Promise<Forms>>;
  const hashOfFiles = memoize(async () => {
    const all = await Promise.all(Object.values(made).map((make) => make()));
    return hash('sha1', all.map(({ tag }) => tag).join(), 'base64url');
  });
  for (const [file, forms] of Object.entries(made)) {
    const served = { mediaType: mediaTypes[extname(file)] as string, forms };
    serveDocument(app, { ...served, path: file });
    serveDocument(app, {
      ...served,
      path: hashedPath(file),
      headersFor: async ({ params }: FastifyRequest) =>
        (params as { hash: string }).hash === (await hashOfFiles())
          ? { 'cache-control': 'public, max-age=31536000, immutable' }
          : {},
    });
  }
  serveDocument(app, {
    path,
    mediaType: 'text/html; charset=utf-8',
    forms: async () => {
      const [text, folder] = await Promise.all([html(), hashOfFiles()]);
      return formsOf(withHashes(text, Object.keys(files), folder));
    },
    headers: {
      'content-security-policy': [
        "default-src 'none'",
        "script-src 'self'",
        ...policy,
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'referrer-policy': 'no-referrer',
      // The page that opened this one cannot change the key behind #.
      'cross-origin-opener-policy': 'same-origin',
    },
  });
}

/** Puts the hash into the paths of files in HTML. */
const withHashes = (text: string, files: readonly string[], folder: string) =>
  files.reduce(
    (replaced, file) => replaced.replaceAll(`="${file.slice(1)}"`, `="${withHash(file.slice(1), folder)}"`),
    text,
  );
