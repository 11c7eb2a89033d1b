import { DatabaseError } from 'pg';
import { StorageUnavailableError } from '../foundation/errors.ts';
import { ConfigError } from '../foundation/settings/setting.ts';
import { ForeignKeyError } from './sql.ts';

/** Errors of a transaction that lost a race. Stores look before they insert, so after a unique violation the next run finds the row. */
const races = new Set([
  '40001' /* serialization_failure */,
  '40P01' /* deadlock_detected */,
  '23505' /* unique_violation */,
]);
const foreignKeyViolation = '23503';
const inFailedTransaction = '25P02';
/** The connection pooler uses a server connection without our prepared statements. */
const otherStatements = [
  '26000' /* invalid_sql_statement_name */,
  '42P05' /* duplicate_prepared_statement */,
];
const readOnlyTransaction = '25006';
const tooManyConnections = '53300';
/** PgBouncer has no code of its own for a connection beyond its limits. Its message names the setting. */
const poolerLimit = /\((max_client_conn|max_(db|user)_client_connections)\)$/;

/** Error classes and codes for problems of the server, not of the statement: https://www.postgresql.org/docs/current/errcodes-appendix.html */
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

/** Whether the transaction may succeed if it runs again at once. A broken foreign key may, unless the store has an error for it. */
export const isRace = (error: unknown): boolean =>
  error instanceof ForeignKeyError || (error instanceof DatabaseError && races.has(error.code ?? ''));

/** Whether a statement failed only because an earlier one did. The client may see this error before the earlier failure. */
export const isAborted = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === inFailedTransaction;

/** Whether the server refused one statement, for example because of a lock timeout, while others may succeed. */
export const isOfStatement = ({ cause }: StorageUnavailableError): boolean =>
  cause instanceof DatabaseError &&
  cause.code !== readOnlyTransaction &&
  !['FATAL', 'PANIC'].includes(cause.severity ?? '');

/** Whether a connection pooler does not keep prepared statements. */
export const missesStatement = (error: unknown): boolean =>
  error instanceof StorageUnavailableError &&
  error.cause instanceof DatabaseError &&
  otherStatements.includes(error.cause.code ?? '');

/** Whether the server or a connection pooler has no slot for another connection. */
export const isOutOfSlots = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && (error.code === tooManyConnections || poolerLimit.test(error.message));

/** Whether a new connection may succeed where this one failed: the server became read-only, or lost another node, as in Citus. */
export const isOfConnection = (error: unknown): boolean =>
  error instanceof StorageUnavailableError &&
  error.cause instanceof DatabaseError &&
  !isOutOfSlots(error.cause) &&
  [readOnlyTransaction, ...connectionClasses].some((code) =>
    (error.cause as DatabaseError).code?.startsWith(code),
  );

/** Runs `action`. Turns a failure of the server into StorageUnavailableError and a broken foreign key into ForeignKeyError. */
export async function attemptPostgres<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof StorageUnavailableError) throw error;
    if (!(error instanceof DatabaseError)) throw unavailable(error);
    if (error.code === foreignKeyViolation) throw new ForeignKeyError(error.message, { cause: error });
    throw isRace(error) || !isUnavailable(error) ? error : unavailable(error);
  }
}

/** The error to throw after the last run: a lost race that counts as a failure of the server becomes StorageUnavailableError. */
export function toFinalError(error: unknown): unknown {
  return error instanceof DatabaseError && isUnavailable(error) ? unavailable(error) : error;
}

/** The error of a failed start: ConfigError if it needs another address, password or certificate. Other failures may pass. */
export function startError(error: unknown): unknown {
  if (![DatabaseError, StorageUnavailableError, ConfigError].some((kind) => error instanceof kind))
    return error;
  const { message, cause = error } = error as Error;
  const mayPass =
    cause instanceof DatabaseError
      ? isUnavailable(cause) && !/^(28|3D)/.test(cause.code ?? '')
      : !(error instanceof ConfigError || /SASL|SSL|certificate/.test(message));
  const Failure = mayPass ? StorageUnavailableError : ConfigError;
  return new Failure(`DATABASE_URL cannot be used: ${message}`, { cause: error });
}

const isUnavailable = ({ code = '' }: DatabaseError) =>
  unavailableClasses.has(code.slice(0, 2)) || unavailableCodes.has(code);

/** The error has a code but no message if a host has several addresses and all refuse the connection. */
function unavailable(cause: unknown): StorageUnavailableError {
  const { message, code } = cause as NodeJS.ErrnoException;
  return new StorageUnavailableError(message || code || 'The storage does not answer.', { cause });
}
