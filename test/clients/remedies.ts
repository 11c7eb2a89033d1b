/** What a client needs to survive faults. */
export interface Remedy {
  faults: string[];
  /** What its user must add. */
  add: string;
}

/** Each fault is in one of these lists. */
export const remedies: Remedy[] = [
  {
    faults: ['rate-limited', 'rate-limited-date', 'near-limit', 'clock-ahead', 'unavailable'],
    add: 'Wait as long as `Retry-After` says, in seconds or as a date, then retry.',
  },
  {
    faults: ['retry-after-odd'],
    add: 'Check the value of `Retry-After`: if it is missing, malformed, 0 or in the past, use your own backoff; if it is too long, give up.',
  },
  {
    faults: ['banned'],
    add: 'After 403 `key_banned` send nothing until `Retry-After` is over; then continue.',
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
    add: 'Retry failed requests with exponential backoff. Retry a `POST` with the same `Idempotency-Key`.',
  },
  {
    faults: ['slow', 'delay', 'stall', 'no-answer'],
    add: 'Set a timeout for requests, longer than a response may take.',
  },
  {
    faults: ['key-in-use'],
    add: 'After 409 `idempotency_key_in_use` wait as long as `Retry-After` says, then retry with the same key.',
  },
  {
    faults: ['unauthorized'],
    add: 'After 401 reload the API key and retry once; give up after a second 401.',
  },
  {
    faults: ['conflict', 'stale-read'],
    add: 'After 412 read the resource again, and then decide what to write.',
  },
  {
    faults: ['small-pages', 'empty-page', 'link-odd'],
    add: 'Follow `Link` until there is no next page. Read it with a parser.',
  },
  { faults: ['same-page'], add: 'Stop if `Link` leads to a page that you have already read.' },
  {
    faults: ['stream-cut', 'stream-pieces', 'stream-silent'],
    add: 'Use a parser for Server-Sent Events. When the stream ends or is silent for 40 seconds, reconnect and continue after the last complete event.',
  },
  {
    faults: ['stream-expired'],
    add: 'After 410 `events_expired` read the lists again, and then open the stream without the old position.',
  },
  {
    faults: ['large-ids'],
    add: 'Parse ids as strings or 64-bit integers, because other numbers round them.',
  },
  {
    faults: ['new-fields', 'new-status'],
    add: 'Accept additions of later versions: loosen the types of the client, or generate it again in time.',
  },
  {
    faults: ['moved', 'moved-away', 'next-away'],
    add: 'Follow 307 and 308 with the same method and body. Send the key only to the same origin, also after a link.',
  },
  { faults: ['sunset'], add: 'Move to the successor of a deprecated operation.' },
];
