import type { Config } from '../../foundation/settings/config.ts';
import { ConfigError } from '../../foundation/settings/setting.ts';
import type { Service } from '../service.ts';
import type { WorkspaceOptions } from './from-code/access.ts';
import { Control } from './from-code/control.ts';
import { openStore } from './from-code/store.ts';
import { runStdinCommands } from './stdin-commands.ts';

/** Opens a store in memory. Throws ConfigError if a setting asks for storage elsewhere, or forbids the demo key. */
export async function openEphemeral(
  { databaseUrl, valkeyUrls, demo }: Pick<Config, 'databaseUrl' | 'valkeyUrls' | 'demo'>,
  options: WorkspaceOptions,
) {
  const kept = databaseUrl !== undefined ? 'DATABASE_URL' : valkeyUrls.length > 0 ? 'VALKEY_URL' : undefined;
  if (kept) throw new ConfigError(`${kept} must be absent with --ephemeral, which stores nothing.`);
  if (!demo)
    throw new ConfigError('PETSTORE_DEMO must be on with --ephemeral, because there is no other key.');
  const store = await openStore(options);
  return {
    parts: store.parts,
    key: store.access.key,
    controlOf: (service: Service) => new Control(store, service),
    runStdinCommands,
  };
}
