/** Writes all documents that the service serves to `documents/`, where the linters read them. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { asJson } from '../src/description/serve-description.ts';
import { documents } from '../test/support/documents.ts';

const folder = new URL('documents/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, document] of Object.entries(documents))
  writeFileSync(new URL(`${name}.json`, folder), asJson(document));
