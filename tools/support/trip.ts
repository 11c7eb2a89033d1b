import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
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

const cargoFolder = toolsPath('../node_modules/.cache/tools-cargo');

/** What the programs do. */
export const tripAsserts =
  'Its client creates a pet, follows pages, places an order, and reads events and an error.';

interface Trip {
  /** A folder of `tools/`. */
  folder: string;
  /** The shell commands that generate and build a client. */
  make?: string;
  /** The shell command of the program. */
  program: string;
  /** A folder to search first for commands. */
  programs?: string;
  /** Removes from the description what the tool does not read. */
  // biome-ignore lint/suspicious/noExplicitAny: it is a document
  adapt?: (description: any) => void;
}

/**
 * Copies a folder of `tools/`, generates and builds a client in it, and runs its program. `$DESCRIPTION` is the file of the
 * description.
 */
export async function assertTrip(
  t: TestContext,
  { folder: source, make = '', program, programs = '', adapt = () => {} }: Trip,
): Promise<void> {
  const { description, freshKey } = await startDemonstration(t);
  const folder = join(temporaryFolder(t), source);
  cpSync(toolsPath(source), folder, { recursive: true });
  const document = JSON.parse(readFileSync(description, 'utf8'));
  adapt(document);
  writeFileSync(description, JSON.stringify(document));
  const env = {
    ...process.env,
    PATH: `${programs}:${process.env.PATH}`,
    DESCRIPTION: description,
    // Building all packages of Rust takes minutes.
    CARGO_TARGET_DIR: cargoFolder,
    PETSTORE_BASE_URL: document.servers[0].url,
    PETSTORE_API_KEY: await freshKey(),
  };
  await run(make, folder, env);
  assert.equal(await run(program, folder, env), trip);
}
