import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { ampleKey, petstore, startService } from '../support/service.ts';
import type { Client } from './clients.ts';
import { fileAt, makeClient, run } from './make.ts';

/** The output of each tour. */
const tour = readFileSync(fileAt('tours/tour.txt'), 'utf8');

/** Generates a client from a document of a new service, and runs the tour with it. */
export async function takeTour(
  t: TestContext,
  client: Client,
  programs: string[],
  document?: string,
): Promise<void> {
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
