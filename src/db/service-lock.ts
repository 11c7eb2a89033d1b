import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ensureFile, readOwnFile, replaceFile } from '../data-dir.ts';
import { StorageUnavailableError } from '../errors.ts';
import { attempt, isLocked } from './sqlite-errors.ts';

/** Long enough for a killed service to end, and for a starting one to write its process id. */
const patienceMs = 500;

/**
 * The lock that allows only one service on a data folder: a transaction in an empty SQLite database, open for as long as
 * the service runs. The operating system holds the lock, so it ends with the process, however that ends. `service.pid`
 * only names the process in messages.
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
      // Nothing is ever written, so the folder needs no journal.
      attempt(() => this.#connection.exec('pragma journal_mode = memory; begin immediate'));
      replaceFile(pidFile, `${process.pid}\n`);
    } catch (error) {
      this.release();
      if (!isLocked(error)) throw error;
      const pid = /^\d+$/.exec(readOwnFile(pidFile)?.trim() ?? '')?.[0];
      throw new StorageUnavailableError(
        `${pid ? `Process ${pid}` : 'Another process'} is running a service on it. Stop that one, or choose another folder.`,
        { cause: error },
      );
    }
  }

  release(): void {
    this.#connection.close();
  }
}
