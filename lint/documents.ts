import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asJson } from '../src/description/serve-description.ts';
import { documents } from '../test/support/documents.ts';

/** Whether a written document is one of OpenAPI. */
export const isOpenapi = (path: string) => /\/(?:store|lab)-\d[^/]+$/.test(path);

/** Writes all documents that the service serves to `documents/`, where the linters read them. Returns their paths. */
export function writeDocuments(): string[] {
  const folder = fileURLToPath(new URL('documents/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  return Object.entries(documents).map(([name, document]) => {
    const path = `${folder}${name}.json`;
    writeFileSync(path, asJson(document));
    return path;
  });
}
