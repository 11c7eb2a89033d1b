// How recorded requests stand on a time line. Browsers load this module too, so it imports types of the lab alone.

import { retryAfterMs } from '../../client/retry-delays.ts';
import { isBan, isLimited, type Outcome, outcomeOf } from './outcome-kinds.ts';
import type { RecordedRequest } from './schema.ts';

export interface Attempt extends Outcome {
  request: RecordedRequest;
  startMs: number;
  endMs: number;
  /** The end of the wait that its `Retry-After` asks for. */
  waitUntilMs?: number;
  /** The failed attempt that it repeats. */
  before?: Attempt;
}

/** Requests in the order of time. Time begins with the first, or at `givenBeginMs`. */
export function attemptsOf(requests: readonly RecordedRequest[], givenBeginMs?: number): Attempt[] {
  const timed = requests.map((request) => ({ request, atMs: Date.parse(request.at) }));
  const inTime = timed.toSorted((a, b) => a.atMs - b.atMs);
  const beginMs = givenBeginMs ?? inTime[0]?.atMs ?? 0;
  const attempts = new Map<string, Attempt>();
  for (const { request, atMs } of inTime) {
    const startMs = atMs - beginMs;
    const endMs = startMs + request.durationMs;
    const waitMs = retryAfterMs(request.answerHeaders['retry-after'], beginMs + endMs) ?? 0;
    const before = attempts.get(request.retryOf ?? '');
    attempts.set(request.id, {
      ...{ request, startMs, endMs, ...outcomeOf(request) },
      ...(waitMs > 0 && { waitUntilMs: endMs + waitMs }),
      ...(before && { before }),
    });
  }
  return [...attempts.values()];
}

/** The time between an attempt and the failed one that it repeats. */
export interface Wait {
  fromMs: number;
  ms: number;
  /** The wait that `Retry-After` asked for. */
  retryAfterMs?: number;
  isTooSoon: boolean;
}

/** Timers end up to 16 ms early on some systems, and times are rounded. Clocks run apart by up to a thousandth, too. */
export const timerToleranceMs = 50;
/** An HTTP-date has whole seconds, and the clock of a client may be ahead of ours. The tolerance is never more than half of the wait. */
export const clockToleranceMs = 1_000;

/** The earliest time for a retry, if a wait is asked for. It counts from the start of the refused request: ends are noted late. */
export function earliestRetryMs(retryAfter: string | undefined, atMs: number): number | undefined {
  const waitMs = retryAfterMs(retryAfter, atMs);
  if (!waitMs) return undefined;
  const isSeconds = /^\d+$/.test(retryAfter as string);
  const toleranceMs = isSeconds ? timerToleranceMs + waitMs / 1_000 : Math.min(clockToleranceMs, waitMs / 2);
  return atMs + waitMs - toleranceMs;
}

/** The wait before a retry; undefined for other attempts. */
export function waitOf({ before, startMs, request }: Attempt): Wait | undefined {
  if (!before) return undefined;
  const { endMs, waitUntilMs, request: refused } = before;
  const ms = Math.max(0, startMs - endMs);
  const wait = { fromMs: startMs - ms, ms, isTooSoon: false };
  if (waitUntilMs === undefined) return wait;
  const earliestMs = earliestRetryMs(refused.answerHeaders['retry-after'], Date.parse(refused.at));
  const isEarly = earliestMs !== undefined && Date.parse(request.at) < earliestMs;
  return { ...wait, retryAfterMs: waitUntilMs - endMs, isTooSoon: isEarly && countsAfter(refused, request) };
}

/** Whether the report card counts an early request. One that a limit or a ban admitted does not count: the wait had ended. */
function countsAfter(refused: RecordedRequest, early: RecordedRequest): boolean {
  if (isBan(refused)) return isBan(early);
  return refused.status === 503 || (refused.status === 429 && isLimited(early));
}

export interface Lane {
  label: string;
  attempts: Attempt[];
}

/** A lane for each request that did not succeed at once, one for the others of each operation, and the last for the rest. */
export function lanesOf(attempts: readonly Attempt[], maxLanes: number): Lane[] {
  const firstOf = new Map<Attempt, Attempt>();
  for (const attempt of attempts)
    firstOf.set(attempt, (attempt.before && firstOf.get(attempt.before)) ?? attempt);
  const lanes = Map.groupBy(attempts, (attempt) => laneKey(firstOf.get(attempt) as Attempt));
  const labelled = [...lanes.values()].map(toLane);
  if (labelled.length <= maxLanes) return labelled;
  const rest = labelled.slice(maxLanes - 1).flatMap((lane) => lane.attempts);
  return [
    ...labelled.slice(0, maxLanes - 1),
    { label: `${rest.length} other requests`, attempts: rest.toSorted((a, b) => a.startMs - b.startMs) },
  ];
}

const laneKey = (first: Attempt) =>
  first.kind === 'fine'
    ? (first.request.operation ?? `${first.request.method} ${first.request.target}`)
    : first;

function toLane(attempts: Attempt[]): Lane {
  const { method, target } = (attempts[0] as Attempt).request;
  const isOne = attempts.every(({ request }) => request.target === target);
  const more = isOne ? '' : ` and ${attempts.length - 1} more`;
  return { label: `${method} ${target}${more}`, attempts };
}

/** At most this many attempts of a lane are in its text. */
const maxRead = 8;

/** A lane as text: the outcomes of its first or last attempts, each with the wait before it. `durationOf` words milliseconds. */
export function laneInWords(
  { label, attempts }: { label: string; attempts: readonly Attempt[] },
  which: 'first' | 'last',
  durationOf: (ms: number) => string,
): string {
  const read = which === 'first' ? attempts.slice(0, maxRead) : attempts.slice(-maxRead);
  const words = read.map((attempt) => {
    const wait = waitOf(attempt);
    return wait ? `${attempt.word} after ${durationOf(wait.ms)}` : attempt.word;
  });
  const left = attempts.length - read.length;
  if (left === 0) return `${label}: ${words.join(', ')}`;
  return which === 'first'
    ? `${label}: ${words.join(', ')}, and ${left} more`
    : `${label}: ${left} earlier, then ${words.join(', ')}`;
}

/** A time in which `Retry-After` allowed no attempt. */
export interface Band {
  fromMs: number;
  untilMs: number;
  /** The wait that the first of its responses asked for. */
  retryAfterMs: number;
}

/** The bands of a lane. Bands that overlap are one. */
export function bandsOf(attempts: readonly Attempt[]): Band[] {
  const found: Band[] = [];
  for (const { endMs, waitUntilMs } of attempts) {
    if (waitUntilMs === undefined) continue;
    const last = found.at(-1);
    if (last && endMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, waitUntilMs);
    else found.push({ fromMs: endMs, untilMs: waitUntilMs, retryAfterMs: waitUntilMs - endMs });
  }
  return found;
}

const maxTicks = 6;

/** Round times between two others. */
export function ticksBetween(fromMs: number, toMs: number): number[] {
  const leastMs = (toMs - fromMs) / maxTicks;
  const power = 10 ** Math.floor(Math.log10(leastMs));
  const stepMs = power * ([1, 2, 5].find((factor) => power * factor >= leastMs) ?? 10);
  const first = Math.ceil(fromMs / stepMs);
  return Array.from({ length: Math.floor(toMs / stepMs) - first + 1 }, (_, i) => (first + i) * stepMs);
}

/** The place of a time in percent, from 0 to 100. */
export type Place = (ms: number) => number;

export const placeBetween =
  (fromMs: number, toMs: number): Place =>
  (ms) =>
    Number(Math.min(100, Math.max(0, (100 * (ms - fromMs)) / (toMs - fromMs))).toFixed(2));
