// How recorded requests ended, for people. Browsers load this module too, so it imports types alone.

import type { RecordedRequest } from './schema.ts';

type Answer = Pick<RecordedRequest, 'status' | 'code' | 'left' | 'fault' | 'operation'>;

/** The faults with `endsConnection`, and the operations that return a stream. Tests compare them with the declarations. */
export const namesForBrowsers: Readonly<Record<'connectionFaults' | 'streams', readonly string[]>> = {
  connectionFaults: ['stall', 'no-answer', 'reset', 'lost-answer', 'truncated', 'stale-connection'],
  streams: ['streamEvents'],
};

/** Whether the response lasts until the client disconnects. */
const isStream = ({ operation = '' }: { operation?: string }) => namesForBrowsers.streams.includes(operation);

export const isBan = ({ code }: Answer) => code === 'key_banned';
export const isLimited = (answer: Answer) => answer.status === 429 || isBan(answer);

/** A meaning in words, and a filled SVG path around 0,0 within a radius of 7. Each has its own shape: no picture needs color. */
export const outcomes = {
  fine: { meaning: 'success (2xx, 3xx)', path: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z' },
  waits: { meaning: 'asked to wait (429, 503)', path: 'M0-6.5 6.5 5h-13z' },
  banned: { meaning: 'banned (403)', path: 'M-6-6H6V6H-6zM-4-1.4v2.8h8v-2.8z' },
  refused: { meaning: 'refused (4xx)', path: 'M-5-5H5V5H-5z' },
  broken: { meaning: 'failed (5xx)', path: 'M0-6.5 6.5 0 0 6.5-6.5 0z' },
  'cut-off': {
    meaning: 'cut off',
    path: 'M-6-3.6-2.4 0-6 3.6-3.6 6 0 2.4 3.6 6 6 3.6 2.4 0 6-3.6 3.6-6 0-2.4-3.6-6z',
  },
} as const;
export type OutcomeKind = keyof typeof outcomes;
export const outcomeKinds = Object.keys(outcomes) as OutcomeKind[];

export interface Outcome {
  kind: OutcomeKind;
  /** The status, `cut off`, or `aborted` if the client disconnected. */
  word: string;
}

export function outcomeOf(request: Answer): Outcome {
  const { status, left, fault = '' } = request;
  if (status === undefined && !left) return { kind: 'cut-off', word: 'cut off' };
  if (fault.split(' ').some((name) => namesForBrowsers.connectionFaults.includes(name)))
    return { kind: 'cut-off', word: 'cut off' };
  if (status === undefined || (left && !isStream(request))) return { kind: 'cut-off', word: 'aborted' };
  return { kind: kindOf(request, status), word: String(status) };
}

function kindOf(answer: Answer, status: number): OutcomeKind {
  if (isBan(answer)) return 'banned';
  if (status === 429 || status === 503) return 'waits';
  if (status >= 500) return 'broken';
  return status >= 400 ? 'refused' : 'fine';
}
