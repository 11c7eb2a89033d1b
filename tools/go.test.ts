import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { type OpenapiVersion, openapiVersions } from '../src/description/schemas.ts';
import {
  addCategory,
  addWebhook,
  type Message,
  startDispatcher,
  startReceiver,
} from '../test/support/dispatching.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import { startPetstore } from '../test/support/petstore.ts';
import { until } from '../test/support/until.ts';
import { type Demonstration, startDemonstration } from './support/demonstration.ts';
import { assertVerdicts, verdictsAssert } from './support/exchanges.ts';
import { go, idsOf, runProgram, writeDocuments } from './support/program.ts';
import { assertReads, streamAsserts } from './support/stream.ts';
import { pinnedTool, testTool } from './support/tool.ts';

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
async function assertValidates(t: TestContext, program: string): Promise<string> {
  const demonstration = await startDemonstration(t);
  const labs = [
    ...writeDocuments(dirname(demonstration.description), (name) => name.startsWith('lab-')).values(),
  ];
  let count = 0;
  for (const version of openapiVersions) {
    const description = await served(demonstration, version);
    count += await assertVerdicts({ ...demonstration, description }, go(program, description, ...labs));
  }
  return `${count} requests`;
}

for (const [name, repository, called, program, exemptions] of [
  ['kin-openapi', 'getkin/kin-openapi', '`openapi3filter`', './kin-openapi', [unknownTagFields]],
  [
    'libopenapi-validator',
    'pb33f/libopenapi-validator',
    '`ValidateHttpRequest` and `ValidateHttpResponse`',
    './libopenapi',
    [],
  ],
] as const)
  testTool(
    pinnedTool(name, repository, 'Sends requests', `github.com/${repository}`),
    {
      called,
      asserts: `It validates OpenAPI 3.0, 3.1 and 3.2. By each, ${verdictsAssert}`,
      runs: true,
      exemptions,
    },
    (t) => assertValidates(t, program),
    ['go'],
  );

testTool(
  pinnedTool('oasdiff', 'oasdiff/oasdiff', 'Checks documents', 'github.com/oasdiff/oasdiff'),
  {
    called: '`oasdiff breaking --auto-upgrade` and `oasdiff validate`',
    asserts: 'It finds no breaking change from OpenAPI 3.0 to 3.1 and from 3.1 to 3.2, and no error in any.',
    runs: false,
    exemptions: [
      unknownTagFields,
      'OpenAPI 3.2 describes the items of the stream, and not the stream as a string, so a schema is removed.',
    ],
  },
  async (t) => {
    const files = writeDocuments(temporaryFolder(t), isOpenapi);
    const oasdiff = async (...args: string[]): Promise<{ id: string; operationId: string }[]> =>
      JSON.parse((await runProgram(go('github.com/oasdiff/oasdiff', '--format', 'json', ...args))) || '[]');
    const breaking = async (...names: string[]) =>
      (await oasdiff('breaking', '--auto-upgrade', ...names.map((name) => files.get(name) as string))).map(
        ({ id, operationId }) => `${operationId}: ${id}`,
      );
    for (const [name, file] of files) {
      const ids = (await oasdiff('validate', file)).map(({ id }) => id);
      assert.deepEqual([...new Set(ids)], name.endsWith('3.2') ? ['extra-sibling-fields'] : [], name);
    }
    for (const api of ['store', 'lab']) {
      assert.deepEqual(await breaking(`${api}-3.0`, `${api}-3.1`), []);
      const schemaRemoved = ['streamEvents: response-body-media-type-schema-removed'];
      assert.deepEqual(await breaking(`${api}-3.1`, `${api}-3.2`), api === 'store' ? schemaRemoved : []);
    }
    // It does find changes.
    assert.notDeepEqual(await breaking('store-3.0', 'lab-3.0'), []);
  },
  ['go'],
);

for (const [name, repository, called, from] of [
  ['r3labs/sse', 'r3labs/sse', '`Client.SubscribeRaw`', 'github.com/r3labs/sse/v2'],
  ['go-sse', 'tmaxmax/go-sse', '`Connection.Connect`', 'github.com/tmaxmax/go-sse'],
  [
    'LaunchDarkly eventsource for Go',
    'launchdarkly/eventsource',
    '`SubscribeWithRequestAndOptions`',
    'github.com/launchdarkly/eventsource',
  ],
] as const)
  testTool(
    pinnedTool(name, repository, 'Receives', from),
    { called, asserts: streamAsserts, runs: true },
    (t) => assertReads(t, go(`./${repository.replace(/^\w+\//, '')}`)),
    ['go'],
  );

testTool(
  pinnedTool(
    'Standard Webhooks for Go',
    'standard-webhooks/standard-webhooks',
    'Receives',
    'github.com/standard-webhooks/standard-webhooks/libraries',
  ),
  {
    called: '`Webhook.Verify`',
    asserts: 'It verifies a request to a webhook, and refuses one that was changed.',
    runs: true,
  },
  async (t) => {
    const store = await startPetstore(t, { seed: false });
    const receiver = await startReceiver(t);
    const secret = await addWebhook(store, receiver.url);
    startDispatcher(store);
    await addCategory(store, 'Größe “Ğ” 🐕');
    await until(() => receiver.messages.length === 1);
    const { headers, body } = receiver.messages[0] as Message;
    // The program uses the real clock.
    const received = { secret, headers: receiver.signedNow(headers, body, [secret]), body };
    const verify = async (changes: object) =>
      JSON.parse(await runProgram(go('./standard-webhooks'), JSON.stringify({ ...received, ...changes })));
    assert.equal(await verify({}), 'verified');
    assert.equal(
      await verify({ body: body.replace('Gr', 'gr') }),
      'unable to verify payload, err: no matching signature found',
    );
  },
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
