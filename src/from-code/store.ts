import { randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { InstallationKey, loadSecretKey } from '../secret-key.ts';
import type { ServiceParts } from '../service.ts';
import { openMemory, openStorage } from '../storage.ts';
import { type Access, firstAccess, startOver, type WorkspaceOptions } from './access.ts';
import { MovableClock } from './clock.ts';

/** What a service of a test needs: a storage with a workspace, a key to it, and a clock that can be moved. */
export interface Store {
  db: Database;
  access: Access;
  clock: MovableClock;
  /** All that a service takes of it. */
  parts: Omit<ServiceParts, 'config' | 'log'>;
  /** Takes it back to its start. `forget` is called in the transaction. */
  startOver(forget: () => void): Promise<void>;
}

interface Options extends WorkspaceOptions {
  /** A folder that keeps the data. Without it all is in memory. */
  dataDir?: string | undefined;
  /** Where the clock stands still, in milliseconds since 1970. Without it time passes. */
  startMs?: number | undefined;
}

/** Opens a store. Rejects if its folder is used by another service. */
export async function openStore({ dataDir, startMs, ...options }: Options): Promise<Store> {
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
        // Retries of webhooks come when they are documented.
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

/** Until 24.14 Node.js calls its SQLite experimental when it is loaded, on the standard error of whose process this is. */
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
