import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import { temporaryFolder } from '../test/support/folder.ts';
import { startDemonstration } from './support/demonstration.ts';
import { assertVerdicts, verdictsAssert } from './support/exchanges.ts';
import { idsOf, runProgram, toolsPath, writeDocuments } from './support/program.ts';
import { assertReads, streamAsserts } from './support/stream.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const needs = ['java', 'mvn'];
const classpath = join(temporaryFolder({ after }), 'classpath');
let resolved: Promise<string> | undefined;

/** A program of `tools/java`. Maven fetches the packages once. */
async function java(name: string, ...args: string[]): Promise<string[]> {
  const resolve = ['dependency:build-classpath', `-Dmdep.outputFile=${classpath}`];
  const options = ['--quiet', '--batch-mode', '--no-transfer-progress', '--file', toolsPath('java/pom.xml')];
  resolved ??= runProgram(['mvn', ...options, ...resolve]);
  await resolved;
  return ['java', '-cp', `@${classpath}`, toolsPath(`java/${name}.java`), ...args];
}

testTool(
  pinnedTool('swagger-parser', 'swagger-api/swagger-parser', 'Checks documents', 'swagger-parser'),
  {
    called: '`OpenAPIV3Parser.readLocation` with all references resolved',
    asserts: 'It objects to nothing in OpenAPI 3.0 and 3.1, and finds each operation.',
    runs: false,
    exemptions: ['It does not read OpenAPI 3.2.'],
  },
  async (t) => {
    const files = writeDocuments(temporaryFolder(t), (name) => /^(store|lab)-3\.[01]/.test(name));
    for (const [name, file] of files) {
      const read = (await runProgram(await java('Parse', file))).trim().split('\n');
      assert.deepEqual(read.sort(), idsOf(name), name);
    }
  },
  needs,
);

testTool(
  {
    ...pinnedTool('swagger-request-validator', '', 'Sends requests', 'swagger-request-validator-core'),
    url: 'https://bitbucket.org/atlassian/swagger-request-validator',
  },
  {
    called: '`validateRequest` and `validateResponse`',
    asserts: `By OpenAPI 3.0 ${verdictsAssert}`,
    runs: true,
  },
  async (t) => {
    const demonstration = await startDemonstration(t);
    const program = await java('Exchanges', demonstration.description);
    return `${await assertVerdicts(demonstration, program)} requests`;
  },
  needs,
);

testTool(
  pinnedTool('okhttp-eventsource', 'launchdarkly/okhttp-eventsource', 'Receives', 'okhttp-eventsource'),
  { called: '`EventSource.readMessage`', asserts: streamAsserts, runs: true },
  async (t) => assertReads(t, await java('Stream')),
  needs,
);
