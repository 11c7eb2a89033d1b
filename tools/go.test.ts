import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { type OpenapiVersion, openapiVersions } from '../src/description/schemas.ts';
import { pinnedVersion } from '../test/clients/pins.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import { type Demonstration, startDemonstration } from './support/demonstration.ts';
import { assertVerdicts } from './support/exchanges.ts';
import { go, runProgram, writeDocuments } from './support/program.ts';
import { testTool } from './support/tool.ts';

const goModule = (path: string) => ({
  url: `https://${path}`,
  version: pinnedVersion(path) as string,
});
const unknownTagFields = 'It does not know `summary`, `parent` and `kind` of a tag, which OpenAPI 3.2 adds.';
const isOpenapi = (name: string) => /^(store|lab)-/.test(name);

/** The file of another version of the served description. */
async function served({ origin, description }: Demonstration, version: OpenapiVersion): Promise<string> {
  if (version === '3.0') return description;
  const file = join(dirname(description), `openapi-${version}.json`);
  writeFileSync(file, await (await fetch(`${origin}/v1/openapi-${version}.json`)).text());
  return file;
}

/** Validates the documents of the lab, then exchanges by each document of the store. */
async function assertValidates(t: TestContext, program: string): Promise<void> {
  const demonstration = await startDemonstration(t);
  const folder = dirname(demonstration.description);
  const labs = [...writeDocuments(folder, (name) => name.startsWith('lab-')).values()];
  for (const version of openapiVersions) {
    const description = await served(demonstration, version);
    const count = await assertVerdicts({ ...demonstration, description }, async (exchanges) =>
      JSON.parse(await runProgram(go(program, description, ...labs), JSON.stringify(exchanges))),
    );
    t.diagnostic(`${count} requests by OpenAPI ${version}`);
  }
}

testTool(
  { name: 'kin-openapi', kind: 'Sends requests', ...goModule('github.com/getkin/kin-openapi') },
  {
    called: '`openapi3` and `openapi3filter`',
    asserts:
      'it validates OpenAPI 3.0, 3.1 and 3.2, and finds each example request and its response as described',
    runs: true,
    exemptions: [unknownTagFields],
  },
  (t) => assertValidates(t, './kin-openapi'),
  ['go'],
);

testTool(
  {
    name: 'libopenapi-validator',
    kind: 'Sends requests',
    ...goModule('github.com/pb33f/libopenapi-validator'),
  },
  {
    called: '`ValidateDocument`, `ValidateHttpRequest` and `ValidateHttpResponse`',
    asserts:
      'it validates OpenAPI 3.0, 3.1 and 3.2, and finds each example request and its response as described',
    runs: true,
  },
  (t) => assertValidates(t, './libopenapi'),
  ['go'],
);

testTool(
  { name: 'oasdiff', kind: 'Checks documents', ...goModule('github.com/oasdiff/oasdiff') },
  {
    called: '`oasdiff breaking --auto-upgrade` and `oasdiff validate`',
    asserts: 'it finds no breaking change between OpenAPI 3.0, 3.1 and 3.2, and no error in any',
    runs: false,
    exemptions: [
      unknownTagFields,
      'OpenAPI 3.2 describes the items of the stream, and not the stream as a string, so a schema is removed.',
    ],
  },
  async (t) => {
    const files = writeDocuments(temporaryFolder(t), isOpenapi);
    const oasdiff = async (
      command: string,
      ...args: string[]
    ): Promise<{ id: string; operationId: string }[]> =>
      JSON.parse(
        (await runProgram(go('github.com/oasdiff/oasdiff', command, '--format', 'json', ...args))) || '[]',
      );
    const breaking = async (from: string, to: string) =>
      (await oasdiff('breaking', '--auto-upgrade', files.get(from) as string, files.get(to) as string)).map(
        ({ id, operationId }) => `${operationId}: ${id}`,
      );
    for (const [name, file] of files) {
      const ids = (await oasdiff('validate', file)).map(({ id }) => id);
      assert.deepEqual([...new Set(ids)], name.endsWith('3.2') ? ['extra-sibling-fields'] : [], name);
    }
    for (const api of ['store', 'lab']) assert.deepEqual(await breaking(`${api}-3.0`, `${api}-3.1`), []);
    assert.deepEqual(await breaking('store-3.1', 'store-3.2'), [
      'streamEvents: response-body-media-type-schema-removed',
    ]);
    assert.deepEqual(await breaking('lab-3.1', 'lab-3.2'), []);
    // It does find changes.
    assert.notDeepEqual(await breaking('store-3.0', 'lab-3.0'), []);
  },
  ['go'],
);
