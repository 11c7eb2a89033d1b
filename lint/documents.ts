/** Writes all documents that the service serves to `documents/`, where the linters read them. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { operations } from '../src/api/operations.ts';
import { describeLab, describeStore } from '../src/description/apis.ts';
import { describeRehearsedWorkflows, describeWorkflows } from '../src/description/arazzo.ts';
import { describeEvents } from '../src/description/asyncapi.ts';
import { openapiVersions } from '../src/description/schemas.ts';
import { asJson } from '../src/description/serve-description.ts';

const baseUrl = 'http://localhost:8080/v1';
const documents: Record<string, object> = {
  ...Object.fromEntries(
    openapiVersions.flatMap((version) => [
      [`store-${version}`, describeStore(operations, baseUrl, { version })],
      [`lab-${version}`, describeLab(baseUrl, { version })],
    ]),
  ),
  asyncapi: describeEvents(operations, baseUrl),
  arazzo: describeWorkflows(baseUrl),
  'lab-arazzo': describeRehearsedWorkflows(baseUrl),
};
const folder = new URL('documents/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, document] of Object.entries(documents))
  writeFileSync(new URL(`${name}.json`, folder), asJson(document));
