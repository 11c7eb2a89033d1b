// What came of recorded requests, and which are attempts at the same, for people. Browsers load it too, so it imports types alone.

import type { RecordedRequest } from './recordings/schema.ts';

/** The faults that cut an answer off. */
export const cuts: readonly string[] = ['reset', 'lost-answer', 'truncated', 'stale-connection'];

/** Whether its answer goes on until somebody ends it. */
export const isStream = ({ operation }: { operation?: string }) => operation === 'streamEvents';

/**
 * What kinds of outcomes a request has, as they are told apart at a glance: each in words, and as a filled path around its middle, which
 * reaches 7 from there at most. So pictures tell them not by colour alone.
 */
export const outcomes = {
  fine: { meaning: 'answered', path: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z' },
  waits: { meaning: 'told to wait (429, 503)', path: 'M0-6.5 6.5 5h-13z' },
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

/** What came of a request, at a glance. */
export interface Outcome {
  kind: OutcomeKind;
  /** The status, or what there was instead. */
  word: string;
}

/** What came of a request. */
export function outcomeOf(
  request: Pick<RecordedRequest, 'status' | 'code' | 'left' | 'fault' | 'operation'>,
): Outcome {
  const { status, code, left, fault = '' } = request;
  if (status === undefined && !left) return { kind: 'cut-off', word: 'cut off' };
  if (fault.split(' ').some((name) => cuts.includes(name))) return { kind: 'cut-off', word: 'cut off' };
  if (status === undefined || (left && !isStream(request))) return { kind: 'cut-off', word: 'left' };
  return { kind: kindOf(status, code), word: String(status) };
}

function kindOf(status: number, code: string | undefined): OutcomeKind {
  if (code === 'key_banned') return 'banned';
  if (status === 429 || status === 503) return 'waits';
  if (status >= 500) return 'broken';
  return status >= 400 ? 'refused' : 'fine';
}

/** A request on a line of time. */
export interface Attempt extends Outcome {
  request: RecordedRequest;
  startMs: number;
  endMs: number;
  /** Until when its answer told to wait. */
  toldUntilMs?: number;
  /** The attempt before at the same thing, if that did not succeed. */
  before?: Attempt;
}

/** The time between an attempt and the one before at the same thing. */
export interface Wait {
  ms: number;
  /** How long the answer before told to wait. */
  toldMs?: number;
  isTooSoon: boolean;
}

/** Timers end up to 16 ms early on some systems, and the times of requests are rounded. */
export const timerToleranceMs = 50;
/** An HTTP-date has whole seconds, and the clock of a client may be ahead of ours. Never more than half of the wait. */
export const clockToleranceMs = 1_000;

type Answer = Pick<RecordedRequest, 'status' | 'code'>;
export const isBan = ({ code }: Answer) => code === 'key_banned';
export const isLimited = (answer: Answer) => answer.status === 429 || isBan(answer);

/** How long an attempt waited that repeats another. */
export function waitOf({ before, startMs, request }: Attempt): Wait | undefined {
  if (!before) return undefined;
  const { endMs, toldUntilMs } = before;
  const ms = Math.max(0, startMs - endMs);
  if (toldUntilMs === undefined) return { ms, isTooSoon: false };
  const toldMs = toldUntilMs - endMs;
  const isEarly = startMs < toldUntilMs - toleranceOf(before.request, toldMs);
  return { ms, toldMs, isTooSoon: isEarly && countsAfter(before.request, request) };
}

const toleranceOf = ({ answerHeaders }: RecordedRequest, toldMs: number) =>
  isSeconds(answerHeaders['retry-after']) ? timerToleranceMs : Math.min(clockToleranceMs, toldMs / 2);

/**
 * Whether the report card counts a request that comes too early after another. What a limit or a ban admits counts neither way: the
 * service had ended the wait itself. After 503 being admitted proves nothing.
 */
function countsAfter(refused: Answer, early: Answer): boolean {
  if (isBan(refused)) return isBan(early);
  return refused.status === 503 || (refused.status === 429 && isLimited(early));
}

/** Attempts that are shown on one line. */
export interface Lane {
  label: string;
  attempts: Attempt[];
}

/**
 * Attempts in lanes: one for each thing that did not succeed at once, and one for all others of each operation. So many at most; the
 * last one has what is left.
 */
export function lanesOf(attempts: readonly Attempt[], maxLanes: number): Lane[] {
  const first = new Map<Attempt, Attempt>();
  for (const attempt of attempts)
    first.set(attempt, (attempt.before && first.get(attempt.before)) ?? attempt);
  const lanes = [...Map.groupBy(attempts, (attempt) => laneOf(first.get(attempt) as Attempt)).values()].map(
    toLane,
  );
  if (lanes.length <= maxLanes) return lanes;
  const rest = lanes.slice(maxLanes - 1).flatMap((lane) => lane.attempts);
  const attemptsOfRest = rest.toSorted((a, b) => a.startMs - b.startMs);
  return [
    ...lanes.slice(0, maxLanes - 1),
    { label: `${rest.length} other requests`, attempts: attemptsOfRest },
  ];
}

/** Those that begin with the same attempt, or with successes of one operation, share a lane. */
const laneOf = (first: Attempt) =>
  first.kind === 'fine'
    ? (first.request.operation ?? `${first.request.method} ${first.request.target}`)
    : first;

function toLane(attempts: Attempt[]): Lane {
  const { method, target } = (attempts[0] as Attempt).request;
  const isOne = attempts.every(({ request }) => request.target === target);
  const more = isOne ? '' : ` and ${attempts.length - 1} more`;
  return { label: `${method} ${target}${more}`, attempts };
}

/** Requests in the order of time, each with the attempt that it repeats. Time begins with the first, or where `givenBeginMs` says. */
export function attemptsOf(requests: readonly RecordedRequest[], givenBeginMs?: number): Attempt[] {
  const timed = requests.map((request) => ({ request, atMs: Date.parse(request.at) }));
  const inTime = timed.toSorted((a, b) => a.atMs - b.atMs);
  const beginMs = givenBeginMs ?? inTime[0]?.atMs ?? 0;
  const attempts: Attempt[] = [];
  const byEnd = new Map<string, Attempt[]>();
  for (const { request, atMs } of inTime) {
    const startMs = atMs - beginMs;
    const endMs = startMs + request.durationMs;
    const told = toldMs(request, beginMs + endMs);
    const before = attemptBefore(byEnd, request, startMs);
    const attempt: Attempt = {
      ...{ request, startMs, endMs, ...outcomeOf(request) },
      ...(told > 0 && { toldUntilMs: endMs + told }),
      ...(before && before.kind !== 'fine' && { before }),
    };
    attempts.push(attempt);
    const key = endKey(request, Math.round(endMs));
    byEnd.set(key, [...(byEnd.get(key) ?? []), attempt]);
  }
  return attempts;
}

/** Times of the clock are told without fractions of a millisecond. */
const roundingMs = 2;

const endKey = ({ method, target }: RecordedRequest, endMs: number) => `${endMs} ${method} ${target}`;

/**
 * The attempt that a request repeats: that with whose end its gap begins. The lab knows it by the body, which is not there any more.
 * Beside one that has not ended it repeats nothing.
 */
function attemptBefore(
  byEnd: ReadonlyMap<string, readonly Attempt[]>,
  request: RecordedRequest,
  startMs: number,
): Attempt | undefined {
  if (request.gapMs === undefined) return undefined;
  const beginMs = startMs - request.gapMs;
  const offMs = ({ endMs }: Attempt) => Math.abs(beginMs - endMs);
  const near = Array.from({ length: 2 * roundingMs + 1 }, (_, i) => Math.round(beginMs) + i - roundingMs);
  return near
    .flatMap((endMs) => byEnd.get(endKey(request, endMs)) ?? [])
    .filter((one) => offMs(one) < roundingMs)
    .toSorted((a, b) => offMs(a) - offMs(b))[0];
}

const isSeconds = (told = '') => /^\d+$/.test(told);

/** How long an answer told to wait. */
function toldMs({ answerHeaders: { 'retry-after': told } }: RecordedRequest, endMs: number): number {
  if (told === undefined) return 0;
  return isSeconds(told) ? Number(told) * 1_000 : Math.max(0, Date.parse(told) - endMs) || 0;
}
