import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { isKnown, parseEntityTags } from '../http/etag.ts';
import type { Operation } from '../operation.ts';
import { describe } from './document.ts';

/** The description as text. */
export const asJson = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
export const asYaml = (document: object) =>
  stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });

/** Serves the description as JSON and as YAML, to everybody, with an ETag each. */
export function serveDescription(
  app: FastifyInstance,
  operations: readonly Operation[],
  baseUrl: string,
): void {
  const document = describe(operations, baseUrl);
  const serve = (path: string, mediaType: string, text: string) => {
    const etag = `"${hash('sha1', text, 'base64url')}"`;
    app.get(path, async (request, reply) => {
      reply.headers({ etag, 'cache-control': 'no-cache' });
      const ifNoneMatch = request.headers['if-none-match'];
      if (ifNoneMatch !== undefined && isKnown(parseEntityTags('If-None-Match', ifNoneMatch), etag)) {
        return reply.code(304).send();
      }
      return reply.type(mediaType).send(text);
    });
  };
  serve('/v1/openapi.json', 'application/json; charset=utf-8', asJson(document));
  serve('/v1/openapi.yaml', 'application/yaml; charset=utf-8', asYaml(document));
  app.get('/', async (_request, reply) => reply.redirect('/v1/openapi.json'));
}
