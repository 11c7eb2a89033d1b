import assert from 'node:assert/strict';
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
import { assertValidates, versionsAssert } from './support/exchanges.ts';
import { go, isOpenapi, runProgram, writeDocuments } from './support/program.ts';
import { assertReads, streamAsserts } from './support/stream.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const unknownTagFields = 'It does not know `summary`, `parent` and `kind` of a tag, which OpenAPI 3.2 adds.';

testTool(
  pinnedTool('kin-openapi', 'getkin/kin-openapi', 'Sends requests', 'github.com/getkin/kin-openapi'),
  { called: '`openapi3filter`', asserts: versionsAssert, runs: true, exemptions: [unknownTagFields] },
  (t) => assertValidates(t, './kin-openapi'),
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
