import { dayMs, minuteMs } from '../../limits/decision.ts';

/**
 * How a rehearsal goes on. Its faults are steps or conditions. A request goes through the steps in their order: each that
 * can be performed on it counts it, lets the first `after` pass, and is performed on the next `times`. The first that is
 * performed ends the walk, so a later step sees the requests that the earlier ones have let through.
 *
 * A limit or a ban holds back what it was performed on: who comes sooner than told gets it again, without being counted as one
 * more performance. Of several that hold a request back the longest answers, so that whoever waits as told is let through. What
 * is refused by one takes nothing from a condition on limits, as refused requests take nothing from real ones.
 *
 * All of it is `advance`, a pure function of the steps, the progress, the request and the time. If the clock goes back, nobody is
 * held longer than told, and no minute is used twice.
 */

/** A fault of a rehearsal, as far as its progress depends on it. */
export interface Step {
  after: number;
  /** How often it is performed on each operation. Undefined for a condition. */
  times: number | undefined;
  /** How long it goes on once it was performed, and for whom. */
  holdMs: number;
  holds: 'operation' | 'key';
  /** Of `near-limit`: requests of each minute that are left at first. */
  perMinute?: number;
}

export interface Count {
  /** Requests that came to this step. */
  seen: number;
  performed: number;
  /** Requests that came too soon and got it again. */
  repeated: number;
  /** Until when it holds back. Milliseconds since 1970. */
  untilMs: number;
}

/** By the number of a fault: the counts of each operation, and the requests of the last minute of a condition on limits. */
export interface Progress {
  counts: Readonly<Record<number, Readonly<Record<string, Count>>>>;
  minutes: Readonly<Record<number, { minute: number; count: number }>>;
}

export const noProgress: Progress = { counts: {}, minutes: {} };

/** What happens to a request. */
export interface Verdict {
  /** The number of the step that is performed on it, and until when it holds back. */
  performed?: { index: number; untilMs: number };
  /** The condition on limits that it is under, with what is left in the minute after it; −1 if there was nothing left for it. */
  nearLimit?: { index: number; left: number; untilMs: number };
}

export interface Arriving {
  operationId: string;
  nowMs: number;
  /** Whether the fault with this number can be performed on the request. */
  takes(index: number): boolean;
}

/** The progress is the same object if nothing has changed. */
export interface Advanced {
  verdict: Verdict;
  progress: Progress;
}

const noCount: Count = { seen: 0, performed: 0, repeated: 0, untilMs: 0 };

/** Decides what happens to a request, and returns the progress after it. */
export function advance(steps: readonly Step[], progress: Progress, arriving: Arriving): Advanced {
  const held = repeatHeld(steps, progress, arriving);
  if (held) return held;
  const near = takeFromMinute(steps, progress, arriving);
  if (!near) return walk(steps, progress, arriving);
  const { nearLimit } = near.verdict;
  if (nearLimit.left < 0) return near;
  const walked = walk(steps, near.progress, arriving);
  const { performed } = walked.verdict;
  const isRefusedByLimit = performed !== undefined && (steps[performed.index]?.holdMs ?? 0) > 0;
  return isRefusedByLimit
    ? walk(steps, progress, arriving)
    : { ...walked, verdict: { ...walked.verdict, nearLimit } };
}

/** Performs again what holds the request back longest; undefined if nothing does. */
function repeatHeld(
  steps: readonly Step[],
  progress: Progress,
  { operationId, nowMs }: Arriving,
): Advanced | undefined {
  let longest: { index: number; name: string; untilMs: number } | undefined;
  for (const [index, { holdMs, holds }] of steps.entries()) {
    const own = progress.counts[index];
    if (holdMs === 0 || !own) continue;
    for (const name of holds === 'key' ? Object.keys(own) : [operationId]) {
      const untilMs = Math.min(own[name]?.untilMs ?? 0, nowMs + holdMs);
      if (untilMs > Math.max(nowMs, longest?.untilMs ?? 0)) longest = { index, name, untilMs };
    }
  }
  if (!longest) return undefined;
  const { index, name, untilMs } = longest;
  const count = countOf(progress, index, name);
  return {
    verdict: { performed: { index, untilMs } },
    progress: withCount(progress, index, name, { ...count, repeated: count.repeated + 1, untilMs }),
  };
}

function takeFromMinute(steps: readonly Step[], progress: Progress, { nowMs, takes }: Arriving) {
  const index = steps.findIndex(({ perMinute }, i) => perMinute !== undefined && takes(i));
  if (index === -1) return undefined;
  const perMinute = steps[index]?.perMinute ?? 0;
  const last = progress.minutes[index];
  // A minute from far in the future was used while the clock was wrong.
  const known = last && last.minute * minuteMs <= nowMs + dayMs ? last : { minute: 0, count: 0 };
  const minute = Math.max(Math.floor(nowMs / minuteMs), known.minute);
  const taken = known.minute === minute ? known.count : 0;
  const left = perMinute - taken - 1;
  const minutes = { ...progress.minutes, [index]: { minute, count: taken + 1 } };
  return {
    verdict: { nearLimit: { index, left, untilMs: (minute + 1) * minuteMs } },
    progress: left < 0 ? progress : { ...progress, minutes },
  };
}

function walk(steps: readonly Step[], before: Progress, { operationId, nowMs, takes }: Arriving): Advanced {
  let progress = before;
  for (const [index, step] of steps.entries()) {
    if (step.times === undefined || !takes(index)) continue;
    const count = countOf(progress, index, operationId);
    if (count.performed >= step.times) continue;
    const seen = count.seen + 1;
    if (seen <= step.after) {
      progress = withCount(progress, index, operationId, { ...count, seen });
      continue;
    }
    const untilMs = nowMs + step.holdMs;
    const after = { ...count, seen, performed: count.performed + 1, untilMs };
    return {
      verdict: { performed: { index, untilMs } },
      progress: withCount(progress, index, operationId, after),
    };
  }
  return { verdict: {}, progress };
}

/** Counts that a condition touched an answer. */
export function touched(progress: Progress, index: number, operationId: string): Progress {
  const count = countOf(progress, index, operationId);
  return withCount(progress, index, operationId, { ...count, performed: count.performed + 1 });
}

/** How often a fault was performed, on all operations together, and how often it was got again. */
export function totalOf({ counts }: Progress, index: number): Pick<Count, 'performed' | 'repeated'> {
  const total = { performed: 0, repeated: 0 };
  for (const { performed, repeated } of Object.values(counts[index] ?? {})) {
    total.performed += performed;
    total.repeated += repeated;
  }
  return total;
}

const countOf = ({ counts }: Progress, index: number, operationId: string): Count =>
  counts[index]?.[operationId] ?? noCount;

const withCount = (progress: Progress, index: number, operationId: string, count: Count): Progress => ({
  ...progress,
  counts: { ...progress.counts, [index]: { ...progress.counts[index], [operationId]: count } },
});
