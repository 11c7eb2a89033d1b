import type { FastifyInstance } from 'fastify';
import { formsFromThread, formsOf } from '../http/content-codings.ts';
import { serveDocument } from '../http/document.ts';

export const asJson = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
export async function asYaml(document: object): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
}

/** Serves a description below `start` as JSON and as YAML, without a key. It is built at the first request. */
export function serveDescription(app: FastifyInstance, start: string, description: () => object): void {
  let json: string | undefined;
  const text = () => {
    json ??= asJson(description());
    return json;
  };
  serveDocument(app, {
    path: `${start}/openapi.json`,
    mediaType: 'application/json; charset=utf-8',
    forms: () => formsOf(text()),
  });
  serveDocument(app, {
    path: `${start}/openapi.yaml`,
    mediaType: 'application/yaml; charset=utf-8',
    forms: () => formsFromThread(new URL('./yaml-thread.ts', import.meta.url), JSON.stringify(description())),
  });
}
