import { DatabaseError } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import { ForeignKeyError } from './sql.ts';

/**
 * Failures by which a transaction learns that it raced with another. Serialization and deadlock say so. So does a
 * constraint that a store looked out for and still met: what it protects came in between, and the next try will see it.
 */
const races = new Set([
  '40001' /* serialization_failure */,
  '40P01' /* deadlock_detected */,
  '23505' /* unique_violation */,
]);
const foreignKeyViolation = '23503';

/** Classes and single codes that tell of the server, not of the statement: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const unavailableClasses = new Set([
  '08' /* connection */,
  '28' /* authorization */,
  '3D' /* no such database */,
  '40' /* transaction rolled back */,
  '53' /* too many connections, disk full, out of memory */,
  '57' /* shutting down, starting up, cancelled */,
  '58' /* input and output */,
]);
const unavailableCodes = new Set([
  '25006' /* read_only_sql_transaction */,
  '25P03' /* idle_in_transaction_session_timeout */,
  '55P03' /* lock_not_available */,
]);

/** Whether the transaction may succeed if it runs again at once. What a store can explain does not come here. */
export const isRace = (error: unknown): boolean =>
  error instanceof ForeignKeyError || (error instanceof DatabaseError && races.has(error.code ?? ''));

/**
 * Runs `action` of the client library and turns failures of the server into StorageUnavailableError, and a broken foreign
 * key into ForeignKeyError. Races stay as they are. What is no answer of the server tells that there is none.
 */
export async function attempt<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw unavailable(error);
    if (error.code === foreignKeyViolation) throw new ForeignKeyError(error.message, { cause: error });
    throw isRace(error) || !isUnavailable(error) ? error : unavailable(error);
  }
}

/** What is left to say of a failure after the last try. */
export function toFinalError(error: unknown): unknown {
  return error instanceof DatabaseError && isUnavailable(error) ? unavailable(error) : error;
}

const isUnavailable = ({ code = '' }: DatabaseError) =>
  unavailableClasses.has(code.slice(0, 2)) || unavailableCodes.has(code);

/** Refused connections to several addresses of one name come as an error with a code and no message. */
function unavailable(cause: unknown): StorageUnavailableError {
  const { message, code } = cause as NodeJS.ErrnoException;
  return new StorageUnavailableError(message || code || 'The storage does not answer.', { cause });
}
