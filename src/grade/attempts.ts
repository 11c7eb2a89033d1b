import type { RecordedRequest } from '../lab/recordings/schema.ts';
import { cuts, isStream } from '../lab/report/checks/outcomes.ts';

/** What kinds of outcomes a request has, as they are told apart at a glance. */
export const outcomeKinds = ['fine', 'waits', 'refused', 'broken', 'cut-off'] as const;
export type OutcomeKind = (typeof outcomeKinds)[number];

/** What came of a request. */
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
  if (status === 429 || status === 503 || code === 'key_banned') return 'waits';
  if (status >= 500) return 'broken';
  return status >= 400 ? 'refused' : 'fine';
}

/** A request on a line of time that begins with the first one. */
export interface Attempt extends Outcome {
  request: RecordedRequest;
  startMs: number;
  endMs: number;
  /** Until when its answer told to wait. */
  toldUntilMs?: number;
  /** The attempt before at the same thing, if that did not succeed. */
  before?: Attempt;
}

/** Attempts that are shown on one line. */
export interface Lane {
  label: string;
  attempts: Attempt[];
}

/**
 * Requests in lanes: one for each thing that did not succeed at once, and one for all others of each operation. So many at most; the
 * last one has what is left.
 */
export function lanesOf(requests: readonly RecordedRequest[], maxLanes: number): Lane[] {
  const attempts = attemptsOf(requests);
  const first = new Map<Attempt, Attempt>();
  for (const attempt of attempts)
    first.set(attempt, attempt.before ? (first.get(attempt.before) as Attempt) : attempt);
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

/** Requests in the order of time, each with the attempt that it repeats. */
function attemptsOf(requests: readonly RecordedRequest[]): Attempt[] {
  const atOf = ({ at }: RecordedRequest) => Date.parse(at);
  const inTime = requests.toSorted((a, b) => atOf(a) - atOf(b));
  const beginMs = inTime[0] ? atOf(inTime[0]) : 0;
  const attempts: Attempt[] = [];
  for (const request of inTime) {
    const startMs = atOf(request) - beginMs;
    const endMs = startMs + request.durationMs;
    const told = toldMs(request, beginMs + endMs);
    const before = attemptBefore(attempts, request, startMs);
    attempts.push({
      ...{ request, startMs, endMs, ...outcomeOf(request) },
      ...(told > 0 && { toldUntilMs: endMs + told }),
      ...(before && before.kind !== 'fine' && { before }),
    });
  }
  return attempts;
}

/** Times of the clock are told without fractions of a millisecond. */
const roundingMs = 2;

/**
 * The attempt that a request repeats: that with whose end its gap begins. The lab knows it by the body, which is not there any more.
 * Beside one that has not ended it repeats nothing.
 */
function attemptBefore(
  attempts: readonly Attempt[],
  { method, target, gapMs }: RecordedRequest,
  startMs: number,
): Attempt | undefined {
  if (gapMs === undefined) return undefined;
  const offMs = ({ endMs }: Attempt) => Math.abs(startMs - gapMs - endMs);
  return attempts
    .filter((one) => one.request.method === method && one.request.target === target)
    .filter((one) => offMs(one) < roundingMs)
    .toSorted((a, b) => offMs(a) - offMs(b))[0];
}

/** How long an answer told to wait. */
function toldMs({ answerHeaders: { 'retry-after': told } }: RecordedRequest, endMs: number): number {
  if (told === undefined) return 0;
  return /^\d+$/.test(told) ? Number(told) * 1_000 : Math.max(0, Date.parse(told) - endMs) || 0;
}
