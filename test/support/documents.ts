import { operations } from '../../src/api/operations.ts';
import { describeLab, describeStore } from '../../src/reference/description/apis.ts';
import { describeEvents } from '../../src/reference/description/asyncapi.ts';
import { openapiVersions } from '../../src/reference/description/schemas.ts';
import { describeRehearsedWorkflows, describeWorkflows } from '../../src/reference/description/workflows.ts';

const baseUrl = 'http://localhost:8080/v1';

/** All documents that the service serves, by names like `store-3.1`. */
export const documents: Record<string, object> = {
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

/** The patterns of all documents, each with the first place where it stands. */
export function patternsOf(): Map<string, string> {
  const places = new Map<string, string>();
  const collect = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { pattern } = value as { pattern?: unknown };
    if (typeof pattern === 'string' && !places.has(pattern)) places.set(pattern, path);
    for (const [name, part] of Object.entries(value)) collect(part, `${path}/${name.replaceAll('/', '~1')}`);
  };
  for (const [name, document] of Object.entries(documents)) collect(document, `${name}.json#`);
  return places;
}
