import type { FastifyInstance } from 'fastify';
import { formsFromThread, formsOf } from '../../http/content-codings.ts';
import { serveDocument } from '../../http/document.ts';
import { accountsPrefix, prefix } from '../../http/target.ts';
import { type OpenapiVersion, openapiVersions } from './schemas.ts';

export const asJson = (document: object) => `${JSON.stringify(document, null, 2)}\n`;
export async function asYaml(document: object): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
}

/** The path of a description without its suffix. The oldest version has the plain name. */
const pathOf = (start: string, version: OpenapiVersion) =>
  `${start}/openapi${version === '3.0' ? '' : `-${version}`}`;

export const asyncapiPath = `${prefix}/asyncapi`;

/** The paths of all descriptions of an API. */
export const descriptionPaths = (start: string) =>
  [
    ...openapiVersions.map((version) => pathOf(start, version)),
    ...(start === accountsPrefix ? [] : [`${start}/arazzo`]),
    ...(start === prefix ? [asyncapiPath] : []),
  ].flatMap((path) => [`${path}.json`, `${path}.yaml`]);

/** Serves the descriptions of an API below `start`, without a key. */
export function serveDescriptions(
  app: FastifyInstance,
  start: string,
  describe: (version: OpenapiVersion) => Promise<object>,
): void {
  for (const version of openapiVersions)
    serveAsJsonAndYaml(app, pathOf(start, version), () => describe(version));
}

/** Serves an object as JSON and as YAML. Each is built at the first request for it. */
export function serveAsJsonAndYaml(
  app: FastifyInstance,
  path: string,
  document: () => Promise<object>,
): void {
  serveDocument(app, {
    path: `${path}.json`,
    mediaType: 'application/json; charset=utf-8',
    forms: async () => formsOf(asJson(await document())),
  });
  serveDocument(app, {
    path: `${path}.yaml`,
    mediaType: 'application/yaml; charset=utf-8',
    forms: async () =>
      formsFromThread(new URL('./yaml-thread.ts', import.meta.url), JSON.stringify(await document())),
  });
}
