/** What a client needs to survive faults. */
export interface Remedy {
  faults: string[];
  /** What its user adds. */
  add: string;
}

/** Each fault is in one of them. */
export const remedies: Remedy[] = [
  {
    faults: ['rate-limited', 'rate-limited-date', 'near-limit', 'unavailable'],
    add: 'Wait as long as `Retry-After` says, in seconds or as a date, and send again.',
  },
  {
    faults: ['banned'],
    add: 'After 403 `key_banned` send nothing until `Retry-After` is over; then go on.',
  },
  {
    faults: ['internal-error', 'reset', 'lost-answer', 'truncated', 'stale-connection'],
    add: 'Send again after a failure, later each time: a `POST` with the `Idempotency-Key` that it had.',
  },
  { faults: ['slow', 'delay'], add: 'Give requests a time limit, longer than answers may take.' },
  { faults: ['conflict'], add: 'After 412 read again and decide again.' },
  { faults: ['small-pages', 'empty-page'], add: 'Follow `Link` until there is no next page.' },
  {
    faults: ['large-ids'],
    add: 'Read ids as text or as 64-bit integers before they become numbers that round.',
  },
  {
    faults: ['new-fields', 'new-status'],
    add: 'Bear what a later version adds: make the client anew in time, or loosen its types.',
  },
  { faults: ['sunset'], add: 'Move to the successor of a deprecated operation.' },
];
