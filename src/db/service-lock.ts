import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ensureFile, readOwnFile, replaceFile } from '../data-dir.ts';
import { StorageUnavailableError } from '../errors.ts';
import { attempt, isLocked } from './sqlite-errors.ts';

/** Long enough for a service that is being killed to be gone, and for one that starts to have told its number. */
const patienceMs = 500;

/**
 * The right to be the one service of a data folder: a transaction that is open for as long as the service runs, in a
 * SQLite database that stays empty. So the lock is one of the system, which ends with its process, however that ends.
 * `service.pid` says whose it is and decides nothing.
 */
export class ServiceLock {
  readonly #connection: DatabaseSync;

  /** Throws StorageUnavailableError that names the process that has the lock. */
  constructor(dataDir: string) {
    const path = join(dataDir, 'service.lock');
    const pidFile = join(dataDir, 'service.pid');
    ensureFile(path);
    this.#connection = new DatabaseSync(path, { timeout: patienceMs });
    try {
      // Nothing is ever written, so there is nothing to keep a journal of in the folder.
      attempt(() => this.#connection.exec('pragma journal_mode = memory; begin immediate'));
      replaceFile(pidFile, `${process.pid}\n`);
    } catch (error) {
      this.release();
      if (!isLocked(error)) throw error;
      const pid = /^\d+$/.exec(readOwnFile(pidFile)?.trim() ?? '')?.[0];
      throw new StorageUnavailableError(
        `${pid ? `Process ${pid}` : 'Another process'} is running a service on it.`,
        { cause: error },
      );
    }
  }

  release(): void {
    this.#connection.close();
  }
}
