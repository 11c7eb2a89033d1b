import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '../src/api/operations.ts';
import { maxStreams } from '../src/foundation/settings/plans.ts';
import { startDemonstration } from './support/demonstration.ts';
import { importCollection, run } from './support/newman.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const stream = operations.find(({ success }) => success.kind === 'stream')?.summary;

/** A stream too many ends within this time. */
const endsWithinMs = 1_000;

/**
 * newman waits for the end of an answer, and that of a stream has none. The oldest stream of a key ends when it opens more than its
 * plan allows, so further ones are opened until it does.
 */
function endStream(origin: string, key: string): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const headers = { authorization: `Bearer ${key}` };
  const openMore = async () => {
    while (!signal.aborted) {
      const streams = Array.from({ length: maxStreams.business }, () =>
        fetch(`${origin}/v1/store/events/stream`, { headers, signal }),
      );
      await Promise.all(streams);
      await sleep(endsWithinMs, undefined, { signal });
    }
  };
  openMore().catch(() => {});
  return () => controller.abort();
}

/** Settings of an import that fill parameters with examples. */
const settings = ['Paths', 'Tags'].flatMap((folderStrategy) =>
  [true, false].map((enableOptionalParameters) => ({
    parametersResolution: 'Example',
    folderStrategy,
    enableOptionalParameters,
  })),
);

/** The requests in the folders of a collection. */
const requestsIn = ({ item, request }: Item): object[] =>
  request ? [request] : (item ?? []).flatMap(requestsIn);

interface Item {
  item?: Item[];
  request?: object;
}

testTool(
  pinnedTool("Postman's import", 'postmanlabs/openapi-to-postman', 'Generates code', 'openapi-to-postmanv2'),
  {
    called: '`convertV2` with each setting of folders and of optional parameters',
    asserts: 'Each collection has a request for every operation, with examples as values and no placeholder.',
    runs: false,
    exemptions: [
      'The setting that makes values from schemas instead of examples leaves placeholders such as `<long>` for the user.',
    ],
  },
  async (t) => {
    const { description } = await startDemonstration(t);
    for (const setting of settings) {
      const requests = requestsIn(await importCollection(description, setting));
      assert.equal(requests.length, operations.length);
      assert.doesNotMatch(JSON.stringify(requests), /<(?:string|long|integer|boolean)>/);
    }
  },
);

testTool(
  pinnedTool('newman', 'postmanlabs/newman', 'Sends requests', 'newman'),
  {
    called: '`run` on the collections of the import',
    asserts: 'Every request succeeds, in the order of the collection.',
    runs: true,
    exemptions: ['It waits for the end of each response, so the test ends the stream of events.'],
  },
  async (t) => {
    const { origin, description, freshKey } = await startDemonstration(t);
    for (const setting of settings) {
      const key = await freshKey();
      const collection = await importCollection(description, setting);
      const variables = { baseUrl: `${origin}/v1`, bearerToken: key };
      const sent = await run(collection, variables, (name) =>
        name === stream ? endStream(origin, key) : undefined,
      );
      const failed = sent.filter(({ status = 0 }) => status < 200 || status > 299);
      assert.deepEqual(failed, [], JSON.stringify(setting));
      assert.equal(sent.length, operations.length);
    }
    return `${operations.length} requests with each of ${settings.length} settings`;
  },
);
