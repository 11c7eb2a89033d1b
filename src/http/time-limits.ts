/** How long a client may take, in milliseconds. */
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
}

/** `deploy/nginx.conf` and the pages on operations and security name them, too. */
export const defaultTimeLimits: TimeLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  checkEveryMs: 1_000,
  unreadMs: 10_000,
  idleMs: 72_000,
  lingerMs: 1_000,
};
