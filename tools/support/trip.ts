import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { run } from '../../test/clients/make.ts';
import { temporaryFolder } from '../../test/support/folder.ts';
import { startDemonstration } from './demonstration.ts';
import { toolsPath } from './program.ts';

/** What each program prints that uses a generated client, on a new workspace with the demo data. */
const trip = `created 21: Smaug
pages of 8, 8, 5
ordered 9: 2 of 13
pet.created: Smaug
inventory.updated: 26, was 28
404 not_found
`;

/** What the programs do. */
export const tripAsserts =
  'Its client creates a pet, follows pages, places an order, and reads events and an error.';

/**
 * Copies a folder of `tools/`, runs shell commands in it that generate and build a client, and then its program. `$DESCRIPTION` is the
 * file of the description.
 */
export async function assertTrip(
  t: TestContext,
  {
    folder: source,
    make = '',
    program,
    programs = '',
  }: { folder: string; make?: string; program: string; programs?: string },
): Promise<void> {
  const { description, freshKey } = await startDemonstration(t);
  const folder = join(temporaryFolder(t), source);
  cpSync(toolsPath(source), folder, { recursive: true });
  const env = {
    ...process.env,
    PATH: `${programs}:${process.env.PATH}`,
    DESCRIPTION: description,
    PETSTORE_BASE_URL: JSON.parse(readFileSync(description, 'utf8')).servers[0].url,
    PETSTORE_API_KEY: await freshKey(),
  };
  await run(make, folder, env);
  assert.equal(await run(program, folder, env), trip);
}
