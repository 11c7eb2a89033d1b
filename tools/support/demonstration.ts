import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { command, printed, startService } from '../../test/support/service.ts';
import { temporaryStorage } from '../../test/support/storage.ts';

/** A service with its description as it serves it, and workspaces with the demonstration data that nobody has touched. */
export interface Demonstration {
  origin: string;
  /** The file that holds the description. */
  description: string;
  /** A key to a new workspace, which the tools do not use up. */
  freshKey(): Promise<string>;
}

export async function startDemonstration(
  t: TestContext,
  settings: Record<string, string> = {},
): Promise<Demonstration> {
  const folder = await temporaryStorage(t);
  const dataDir = join(folder, 'data');
  const { origin } = await startService(t, dataDir, settings);
  const description = join(folder, 'openapi.json');
  writeFileSync(description, await (await fetch(`${origin}/v1/openapi.json`)).text());
  let count = 0;
  const env = { PETSTORE_DATA_DIR: dataDir };
  const freshKey = async () => {
    const name = `fresh-${++count}`;
    await command(['workspaces', 'create', name, '--seed'], env);
    const { key } = await printed(['keys', 'create', '--workspace', name, '--plan', 'business'], env);
    return key;
  };
  return { origin, description, freshKey };
}
