import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/database.ts';
import { openMemory, openStorage } from '../../../db/open.ts';
import { InstallationKey, loadSecretKey } from '../../../foundation/settings/secret-key.ts';
import type { ServiceOptions } from '../../service.ts';
import { type Access, firstAccess, startOver, type WorkspaceOptions } from './access.ts';
import { MovableClock } from './clock.ts';

/** The storage of a test's service, with a workspace, a key to it, and a clock that can be moved. */
export interface Store {
  db: Database;
  access: Access;
  clock: MovableClock;
  /** The parts from which a service is started. */
  parts: Omit<ServiceOptions, 'config' | 'log'>;
  /** Returns the store to its start. `forget` is called in the transaction. */
  startOver(forget: () => void): Promise<void>;
}

interface StoreOptions extends WorkspaceOptions {
  /** A folder for the data. Default: the data is in memory. */
  dataDir?: string | undefined;
  /** The time of a stopped clock, in milliseconds since 1970. Default: time passes. */
  startMs?: number | undefined;
}

/** Opens a store. Rejects if its folder is used by another service. */
export async function openStore({ dataDir, startMs, ...options }: StoreOptions): Promise<Store> {
  const clock = new MovableClock(startMs);
  loadSqliteQuietly();
  const db = await open(dataDir);
  try {
    const access = await firstAccess(db, clock.now(), options);
    return {
      ...{ db, access, clock },
      parts: {
        ...{ db, clock: clock.now, clockStopwatch: clock.stopwatch },
        key: dataDir === undefined ? newKey() : loadSecretKey(dataDir),
        // Webhook retries have exactly the documented delays.
        random: () => 0.5,
      },
      startOver(forget) {
        clock.restart();
        return startOver(db, access, clock.now(), options, forget);
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function open(dataDir: string | undefined): Promise<Database> {
  if (dataDir === undefined) return openMemory();
  return openStorage({ databaseUrl: undefined, dataDir }, { isService: true });
}

/** Loads SQLite without the warning that Node.js up to 24.14 prints to the standard error of the user's process. */
function loadSqliteQuietly(): void {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

const newKey = () => new InstallationKey(randomBytes(32).toString('base64url'));
