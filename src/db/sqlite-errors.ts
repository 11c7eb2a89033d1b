import { StorageUnavailableError } from '../foundation/errors.ts';
import { ForeignKeyError } from './sql.ts';

interface SqliteError extends Error {
  code: string;
  errcode: number;
}

const isSqliteError = (error: unknown): error is SqliteError =>
  (error as { code?: string } | null)?.code === 'ERR_SQLITE_ERROR';

/** SQLite's primary result codes for problems of the storage, not of the statement: https://sqlite.org/rescode.html */
const unavailableResults = new Set([
  5 /* BUSY */, 6 /* LOCKED */, 7 /* NOMEM */, 8 /* READONLY */, 10 /* IOERR */, 11 /* CORRUPT */,
  13 /* FULL */, 14 /* CANTOPEN */, 15 /* PROTOCOL */, 26 /* NOTADB */,
]);

/** SQLITE_CONSTRAINT_FOREIGNKEY, an extended result code. */
const brokenForeignKey = 787;

const primaryResult = (error: SqliteError) => error.errcode & 0xff;

/** Whether another connection holds the lock. */
export const isLocked = (error: unknown) =>
  error instanceof StorageUnavailableError && isSqliteError(error.cause) && primaryResult(error.cause) === 5;

/** Runs `action`. Turns a failure of the storage into StorageUnavailableError, and a broken foreign key into ForeignKeyError. */
export function attemptSqlite<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    const isFileError = (error as { syscall?: string } | null)?.syscall !== undefined;
    if (isFileError || (isSqliteError(error) && unavailableResults.has(primaryResult(error)))) {
      throw new StorageUnavailableError((error as Error).message, { cause: error });
    }
    if (isSqliteError(error) && error.errcode === brokenForeignKey) {
      throw new ForeignKeyError(error.message, { cause: error });
    }
    throw error;
  }
}
