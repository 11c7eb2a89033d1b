import { DatabaseError } from 'pg';
import { StorageUnavailableError } from '../errors.ts';
import { ForeignKeyError } from './sql.ts';

const deadlockDetected = '40P01';

/**
 * Errors of a transaction that lost a race with another. A unique violation is one, too: stores look for the row before
 * they insert it, so another transaction inserted it in between, and the next try will find it.
 */
const races = new Set([
  '40001' /* serialization_failure */,
  deadlockDetected,
  '23505' /* unique_violation */,
]);
const foreignKeyViolation = '23503';
const inFailedTransaction = '25P02';
/** A connection pooler gave us a connection to the server that has other prepared statements than ours. */
const otherStatements = [
  '26000' /* invalid_sql_statement_name */,
  '42P05' /* duplicate_prepared_statement */,
];
const readOnlyTransaction = '25006';

/** Error classes and codes that mean a problem of the server, not of the statement: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const connectionClasses = ['08' /* connection */, 'XX' /* internal, as when Citus finds a node gone */];
const unavailableClasses = new Set([
  ...connectionClasses,
  '28' /* authorization */,
  '3D' /* no such database */,
  '40' /* transaction rolled back */,
  '53' /* too many connections, disk full, out of memory */,
  '57' /* shutting down, starting up, cancelled */,
  '58' /* input and output */,
]);
const unavailableCodes = new Set([
  readOnlyTransaction,
  '25P03' /* idle_in_transaction_session_timeout */,
  '55P03' /* lock_not_available */,
  ...otherStatements,
]);

/**
 * Whether the transaction may succeed if it runs again at once. This includes a broken foreign key, unless the store has
 * turned it into an error of its own before.
 */
export const isRace = (error: unknown): boolean =>
  error instanceof ForeignKeyError || (error instanceof DatabaseError && races.has(error.code ?? ''));

/** Whether the transaction and another waited for each other. */
export const isDeadlock = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === deadlockDetected;

/** A statement failed only because one before it in its transaction did. */
export class AbortedError extends Error {}

/** Whether the server says that of a statement. The client may hear it before the failure itself. */
export const isAborted = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === inFailedTransaction;

/** Whether the server refused one statement, such as when a lock does not come free in time, and others may succeed. */
export const isOfStatement = ({ cause }: StorageUnavailableError): boolean =>
  cause instanceof DatabaseError &&
  cause.code !== readOnlyTransaction &&
  !['FATAL', 'PANIC'].includes(cause.severity ?? '');

/** Whether a connection pooler does not keep prepared statements. */
export const missesStatement = (error: unknown): boolean =>
  error instanceof StorageUnavailableError &&
  error.cause instanceof DatabaseError &&
  otherStatements.includes(error.cause.code ?? '');

/**
 * Whether a new connection may succeed where this one failed: the server may only be read now, or lost its own connection to
 * another node, as in Citus.
 */
export const isOfConnection = (error: unknown): boolean =>
  error instanceof StorageUnavailableError &&
  error.cause instanceof DatabaseError &&
  [readOnlyTransaction, ...connectionClasses].some((code) =>
    (error.cause as DatabaseError).code?.startsWith(code),
  );

/**
 * Runs `action` of the client library. Turns failures of the server into StorageUnavailableError, also errors that did not
 * come from the server, such as a lost connection, and a broken foreign key into ForeignKeyError. Races stay as they are.
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

/** The error to throw after the last try: a race that is a failure of the server becomes StorageUnavailableError. */
export function toFinalError(error: unknown): unknown {
  return error instanceof DatabaseError && isUnavailable(error) ? unavailable(error) : error;
}

const isUnavailable = ({ code = '' }: DatabaseError) =>
  unavailableClasses.has(code.slice(0, 2)) || unavailableCodes.has(code);

/** If a name has several addresses and all refuse the connection, the error has a code but no message. */
function unavailable(cause: unknown): StorageUnavailableError {
  const { message, code } = cause as NodeJS.ErrnoException;
  return new StorageUnavailableError(message || code || 'The storage does not answer.', { cause });
}
