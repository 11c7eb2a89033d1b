import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StorageUnavailableError } from '../foundation/errors.ts';
import {
  ensureFile,
  inDataDir,
  readOwnFile,
  readPlainFile,
  replaceFile,
} from '../foundation/settings/data-dir.ts';
import type { Database } from './database.ts';
import { identifier } from './sql.ts';
import { attemptSqlite, isLocked } from './sqlite-errors.ts';

/** Long enough for a killed service to end, and for a new one to write its process id. */
const patienceMs = 500;

/** Allows only one service on a data folder, by a transaction that the system ends with the process. `service.pid` is only for messages. */
export class ServiceLock {
  readonly #connection: DatabaseSync;

  /** Throws StorageUnavailableError that names the process with the lock. */
  constructor(dataDir: string) {
    const path = join(dataDir, 'service.lock');
    const pidFile = join(dataDir, 'service.pid');
    ensureFile(path);
    this.#connection = new DatabaseSync(path, { timeout: patienceMs });
    try {
      // Nothing is ever written, so no journal file is needed.
      attemptSqlite(() => this.#connection.exec('pragma journal_mode = memory; begin immediate'));
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

const maxMark = 2 ** 31;

/** A random number that a database shares with its folder, and keeps in a backup. After a restore into another folder the two differ. */
export class FolderMark {
  readonly #dataDir: string;
  readonly #path: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#path = join(dataDir, 'generation');
  }

  /** `own`: the database has the number of its folder. `new`: it has none yet. `moved`: it has another number. */
  async origin({ read }: Pick<Database, 'read'>): Promise<'own' | 'new' | 'moved'> {
    const [row] = await read`pragma application_id`;
    if (row?.[0] === 0) return 'new';
    // The owner does not matter: file systems of containers and shares may give all files to one user.
    const own = inDataDir(this.#dataDir, () => readPlainFile(this.#path)?.trim());
    return own === String(row?.[0]) ? 'own' : 'moved';
  }

  /** Gives both a new number. The folder gets it first, so that after an interruption the database still counts as moved. */
  async renew(db: Pick<Database, 'write'>): Promise<void> {
    const mark = randomInt(1, maxMark);
    inDataDir(this.#dataDir, () => replaceFile(this.#path, `${mark}\n`));
    await db.write((sql) => sql`pragma application_id = ${identifier(String(mark))}`);
  }
}
