import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
import { pinnedTool, testTool } from '../../tools/support/tool.ts';
import { temporaryFolder } from '../support/folder.ts';
import { ampleKey, petstore, startService } from '../support/service.ts';
import { textOf } from '../support/tree.ts';
import { type Client, chosenClients } from './clients.ts';
import { makeClient, pythonPrograms, run } from './make.ts';

/*
 * Generates every client of the guide "Generate a client", compiles it and runs its tour, two at a time. Arguments are names
 * of clients; without them all are tested.
 */
const chosen = chosenClients(process.argv.slice(2));
const programs = [await pythonPrograms()];

/** The output of each tour. */
const tour = textOf('test/clients/tours/tour.txt');

describe('clients', { concurrency: 2 }, () => {
  for (const client of chosen) {
    const tool = pinnedTool(client.heading, client.repository, 'Generates code', client.generator);
    const documents = { '3.0': 'openapi.json', ...(client.readsJsonSchema && { '3.1': 'openapi-3.1.json' }) };
    for (const [version, document] of Object.entries(documents))
      testTool(
        tool,
        {
          called: 'the commands of the guide "Generate a client"',
          asserts: `From OpenAPI ${version}: the client compiles, and its program prints what those of all clients print.`,
          runs: true,
        },
        (t) => takeTour(t, client, document),
        client.needs,
      );
  }
});

/** Generates a client from a document of a new service, and runs the tour with it. */
async function takeTour(t: TestContext, client: Client, document: string): Promise<void> {
  const root = temporaryFolder(t);
  const dataDir = join(root, 'data');
  const { origin } = await startService(t, dataDir);
  const baseUrl = `${origin}/v1`;
  const freeKey = ['keys', 'create', '--plan', 'free', '--json'];
  const { folder, env } = await makeClient(client, root, baseUrl, programs, document);
  const output = await run(client.program, folder, {
    ...env,
    PETSTORE_BASE_URL: baseUrl,
    PETSTORE_API_KEY: await ampleKey(dataDir),
    PETSTORE_FREE_KEY: JSON.parse(petstore(freeKey, { PETSTORE_DATA_DIR: dataDir }).stdout).key,
  });
  assert.equal(output, tour);
}
