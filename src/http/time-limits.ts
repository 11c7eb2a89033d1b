import { StorageUnavailableError } from '../errors.ts';

/** How long a client may take, and the storage for `/readyz`, in milliseconds. */
export interface TimeLimits {
  /** For the header fields of a request. */
  headersMs: number;
  /** For a whole request. */
  requestMs: number;
  /** How often Node.js checks these two limits. */
  checkEveryMs: number;
  /** How long it may stop reading an answer. Node.js notices after one to two times this. */
  unreadMs: number;
  /** How long it may be idle between two requests, which `Keep-Alive` promises. Node.js waits for a second more. */
  idleMs: number;
  /** How long it may go on sending after the service ended the connection; what it sends is dropped. */
  lingerMs: number;
  /** How long `/readyz` waits for the storage. */
  readyMs: number;
}

/** `deploy/nginx.conf` and the pages on operations and security name them, too. */
export const defaultTimeLimits: TimeLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  checkEveryMs: 1_000,
  unreadMs: 10_000,
  idleMs: 72_000,
  lingerMs: 1_000,
  readyMs: 2_000,
};

/** The answer of the storage, or a StorageUnavailableError if it does not come within `ms`. */
export async function inTime<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new StorageUnavailableError('It does not answer in time.')), ms);
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}
