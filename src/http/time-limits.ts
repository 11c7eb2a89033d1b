/** How long a client may take, in milliseconds. */
export interface TimeLimits {
  /** For the header fields of a request. */
  headersMs: number;
  /** For a whole request. */
  requestMs: number;
  /** How often Node.js looks whether one of these two is over. */
  checkEveryMs: number;
  /** How long it may read nothing of an answer. Node.js notices between one and two times this. */
  unreadMs: number;
  /** How long it may be idle between two requests, which `Keep-Alive` promises. Node.js waits for a second more. */
  idleMs: number;
  /** How long it has to see that its connection ends, while what it still sends is read and dropped. */
  lingerMs: number;
}

/** `deploy/nginx.conf` and the pages on operations and security tell them, too. */
export const defaultTimeLimits: TimeLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  checkEveryMs: 1_000,
  unreadMs: 10_000,
  idleMs: 72_000,
  lingerMs: 1_000,
};
