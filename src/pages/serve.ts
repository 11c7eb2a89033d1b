import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { browserProgram } from '#distribution';
import { serveDocument } from '../http/document.ts';
import { formsOf } from '../http/forms.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const headers = { 'cache-control': 'max-age=60' };

/** Serves files that belong to a page, by their paths. */
export function serveFiles(app: FastifyInstance, files: Readonly<Record<string, URL>>): void {
  for (const [path, file] of Object.entries(files))
    serveDocument(app, {
      path,
      mediaType: mediaTypes[extname(path)] as string,
      forms: async () => formsOf(await readFile(file, 'utf8')),
      headers,
    });
}

/** Serves programs and styles for browsers, by their paths: each is made of a file of `src` and all that it imports. */
export function servePrograms(app: FastifyInstance, programs: Readonly<Record<string, string>>): void {
  for (const [path, file] of Object.entries(programs))
    serveDocument(app, {
      path,
      mediaType: mediaTypes[extname(path)] as string,
      forms: async () => formsOf(await browserProgram(file)),
      headers,
    });
}

/** Serves a page, which may load and ask only what its `policy` names (Content Security Policy, level 3) beside its own origin. */
export function servePage(app: FastifyInstance, path: string, file: URL, policy: readonly string[]): void {
  serveDocument(app, {
    path,
    mediaType: 'text/html; charset=utf-8',
    forms: async () => formsOf(await readFile(file, 'utf8')),
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
      // Who opened the page cannot give it another key behind #.
      'cross-origin-opener-policy': 'same-origin',
    },
  });
}
