import { mkdirSync } from 'node:fs';
import { StorageUnavailableError } from './errors.ts';

/** Does what needs the data folder, which is created as needed. Throws StorageUnavailableError that names its variable. */
export function inDataDir<T>(dataDir: string, action: () => T): T {
  try {
    mkdirSync(dataDir, { recursive: true });
    return action();
  } catch (error) {
    throw new StorageUnavailableError(
      `PETSTORE_DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}`,
    );
  }
}
