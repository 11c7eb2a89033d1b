import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { operations } from '../src/api/operations.ts';
import { load } from './support/packages.ts';
import { isOpenapi, toolsPath, writeDocuments } from './support/program.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const documents = [...writeDocuments(toolsPath('node_modules/.cache/documents'), isOpenapi).values()];
const parsed = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

testTool(
  pinnedTool("Scalar's OpenAPI parser", 'scalar/scalar', 'Checks documents', '@scalar/openapi-parser'),
  {
    called: '`validate` on all OpenAPI documents',
    asserts: 'Every document is valid. It refuses one without `info`.',
    runs: false,
  },
  async () => {
    const { validate } = load('@scalar/openapi-parser');
    for (const path of documents) {
      const { valid, errors, version } = await validate(parsed(path));
      assert.ok(valid && path.endsWith(`-${version}.json`), `${path}: ${JSON.stringify(errors)}`);
      const { info: _, ...rest } = parsed(path);
      assert.equal((await validate(rest)).valid, false);
    }
    return `${documents.length} documents`;
  },
);

testTool(
  pinnedTool(
    'Swagger Parser',
    'APIDevTools/swagger-parser',
    'Checks documents',
    '@apidevtools/swagger-parser',
  ),
  {
    called: '`validate` on the documents of OpenAPI 3.0 and 3.1',
    asserts: 'Every document is valid. It refuses one without `info`.',
    runs: false,
    exemptions: ['It does not read OpenAPI 3.2.'],
  },
  async () => {
    const SwaggerParser = load('@apidevtools/swagger-parser');
    const known = documents.filter((path) => !path.endsWith('-3.2.json'));
    for (const path of known) {
      await SwaggerParser.validate(parsed(path));
      const { info: _, ...rest } = parsed(path);
      await assert.rejects(SwaggerParser.validate(rest));
    }
    return `${known.length} documents`;
  },
);

interface Entry {
  name: string;
  items?: Entry[];
  request?: { method: string; url: string };
}

const requestsIn = (entries: readonly Entry[]): Entry[] =>
  entries.flatMap((entry) => (entry.items ? requestsIn(entry.items) : [entry]));

testTool(
  pinnedTool("Bruno's converter", 'usebruno/bruno', 'Generates code', '@usebruno/converters'),
  {
    called: '`openApiToBruno` on OpenAPI 3.0, 3.1 and 3.2',
    asserts: 'The collection has a request for every operation.',
    runs: false,
  },
  async () => {
    const { openApiToBruno } = load('@usebruno/converters');
    const described = operations.map(({ summary, method, path }) => [
      summary,
      method,
      `{{baseUrl}}${path.replaceAll(/{(\w+)}/g, ':$1')}`,
    ]);
    for (const path of documents.filter((path) => path.includes('/store-'))) {
      const { items } = await openApiToBruno(parsed(path));
      const made = requestsIn(items).map(({ name, request }) => [name, request?.method, request?.url]);
      assert.deepEqual(made.sort(), described.toSorted(), path);
    }
    return `${described.length} requests`;
  },
);
