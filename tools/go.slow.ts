import assert from 'node:assert/strict';
import { temporaryFolder } from '../test/support/folder.ts';
import { assertValidates, versionsAssert } from './support/exchanges.ts';
import { go, idsOf, isOpenapi, runProgram, writeDocuments } from './support/program.ts';
import { pinnedTool, testTool } from './support/tool.ts';

// Go compiles each of these for a minute or more.
testTool(
  pinnedTool(
    'libopenapi-validator',
    'pb33f/libopenapi-validator',
    'Sends requests',
    'github.com/pb33f/libopenapi-validator',
  ),
  { called: '`ValidateHttpRequest` and `ValidateHttpResponse`', asserts: versionsAssert, runs: true },
  (t) => assertValidates(t, './libopenapi'),
  ['go'],
);

testTool(
  pinnedTool(
    'speakeasy-api/openapi',
    'speakeasy-api/openapi',
    'Checks documents',
    'github.com/speakeasy-api/openapi',
  ),
  {
    called: '`openapi.Unmarshal` and `openapi.Walk`',
    asserts: 'It finds no error in OpenAPI 3.0, 3.1 and 3.2, and each operation.',
    runs: false,
  },
  async (t) => {
    const files = writeDocuments(temporaryFolder(t), isOpenapi);
    for (const [name, file] of files) {
      const read = (await runProgram(go('./speakeasy', file))).trim().split('\n');
      // It also names what receives webhooks.
      assert.deepEqual(read.filter((id) => !id.startsWith('receive')).sort(), idsOf(name), name);
    }
  },
  ['go'],
);
