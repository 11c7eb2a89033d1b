import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageUnavailableError } from './errors.ts';

/** Does what needs the data folder, which is made as needed. Throws StorageUnavailableError that names it. */
export function inDataDir<T>(dataDir: string, action: () => T): T {
  try {
    makeFolder(dataDir);
    return action();
  } catch (error) {
    const isFileError = (error as { syscall?: string } | null)?.syscall !== undefined;
    if (!isFileError && !(error instanceof StorageUnavailableError)) throw error;
    throw new StorageUnavailableError(
      `PETSTORE_DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** As mkdir -p. That of Node.js never ends where a folder is refused by ENOENT, as Linux does in /proc. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
