import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '../src/api/operations.ts';
import { maxStreams } from '../src/limits/plans.ts';
import { startDemonstration } from './support/demonstration.ts';
import { importCollection, run } from './support/newman.ts';

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

/**
 * Settings of an import that give requests with values. The import's other way to fill parameters, from their schemas, leaves
 * placeholders such as `<long>` for the user.
 */
const settings = ['Paths', 'Tags'].flatMap((folderStrategy) =>
  [true, false].map((enableOptionalParameters) => ({
    parametersResolution: 'Example',
    folderStrategy,
    enableOptionalParameters,
  })),
);

test('every request of a Postman import succeeds, in the order of the collection', async (t) => {
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
    t.diagnostic(`${sent.length} of ${operations.length} with ${JSON.stringify(setting)}`);
  }
});
