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
    faults: ['retry-after-odd'],
    add: 'Read `Retry-After` with care: wait by a backoff of your own if it is absent, 0 or over, and give up if it is too long.',
  },
  {
    faults: ['banned'],
    add: 'After 403 `key_banned` send nothing until `Retry-After` is over; then go on.',
  },
  {
    faults: [
      'internal-error',
      'bad-gateway',
      'gateway-timeout',
      'reset',
      'lost-answer',
      'truncated',
      'stale-connection',
    ],
    add: 'Retry after a failure, with growing waits: a `POST` with the same `Idempotency-Key`.',
  },
  {
    faults: ['slow', 'delay', 'stall', 'no-answer'],
    add: 'Give requests a time limit, longer than answers may take.',
  },
  {
    faults: ['key-in-use'],
    add: 'After 409 `idempotency_key_in_use` wait as long as `Retry-After` says, and send the same request with the same key.',
  },
  {
    faults: ['unauthorized'],
    add: 'After 401 read the key anew and send the request once more; give up after a second 401.',
  },
  { faults: ['conflict', 'stale-read'], add: 'After 412 read again and decide again.' },
  { faults: ['small-pages', 'empty-page'], add: 'Follow `Link` until there is no next page.' },
  { faults: ['same-page'], add: 'Stop where `Link` leads to a page that you have.' },
  {
    faults: ['stream-cut', 'stream-pieces', 'stream-silent'],
    add: 'Read streams by a parser of server-sent events; after an end, or 40 seconds of silence, go on after the last whole event.',
  },
  {
    faults: ['large-ids'],
    add: 'Read ids as text or as 64-bit integers before they become numbers that round.',
  },
  {
    faults: ['new-fields', 'new-status'],
    add: 'Accept additions of later versions: generate the client again in time, or loosen its types.',
  },
  {
    faults: ['moved', 'moved-away'],
    add: 'Follow 307 and 308 with the same method and body, and with the key on the same origin only.',
  },
  { faults: ['sunset'], add: 'Move to the successor of a deprecated operation.' },
];
