import { dayMs, minuteMs } from '../../limits/decision.ts';

/**
 * How a rehearsal goes on. Its faults are steps or conditions. A request goes through the steps in their order: each that
 * can be performed on it counts it, lets the first `after` pass, and is performed on the next `times`. The first that is
 * performed ends the walk, so a later step sees the requests that the earlier ones have let through. A late step ends it as well,
 * and is performed only if the request comes as far as it acts: then `claim` counts it, unless it was used up meanwhile.
 *
 * A limit or a ban holds back what it was performed on: who comes sooner than told gets it again, without being counted as one
 * more performance. Of several that hold a request back the longest answers, so that whoever waits as told is let through. What
 * is refused by one takes nothing from a condition on limits, as refused requests take nothing from real ones.
 *
 * All of it are pure functions of the steps, the progress, the request and the time. If the clock goes back, nobody is
 * held longer than told, and no minute is used twice.
 */

/** A fault of a rehearsal, as far as its progress depends on it. */
export interface Step {
  after: number;
  /** How often it is performed. Undefined for a condition. */
  times: number | undefined;
  /** For whom it counts requests, and holds them back. */
  scope: Scope;
  /** How long it goes on once it was performed. */
  holdMs: number;
  /** Whether it is counted when it acts, which not every request comes to. */
  isLate?: boolean;
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

/** By the number of a fault: its count, and the requests of the last minute of a condition on limits. */
export interface Part {
  counts: Readonly<Record<number, Count>>;
  minutes: Readonly<Record<number, { minute: number; count: number }>>;
}

/** One operation alone, or all that the key sends. */
export type Scope = 'operation' | 'key';

/** How a rehearsal goes on, as far as a request depends on it: that of its operation, and that of the whole key. */
export type Progress = Readonly<Record<Scope, Part>>;

export const noPart: Part = { counts: {}, minutes: {} };

/** What happens to a request. */
export interface Verdict {
  /** The number of the step that is performed on it, and until when it holds back. */
  performed?: { index: number; untilMs: number };
  /** The number of the late step that is performed on it if it comes as far. */
  planned?: number;
  /** The condition on limits that it is under, with what is left in the minute after it; −1 if there was nothing left for it. */
  nearLimit?: { index: number; left: number; untilMs: number };
}

export interface Arriving {
  nowMs: number;
  /** Whether the fault with this number can be performed on the request. */
  isEligible(index: number): boolean;
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
function repeatHeld(steps: readonly Step[], progress: Progress, { nowMs }: Arriving): Advanced | undefined {
  let longest: { index: number; step: Step; untilMs: number } | undefined;
  for (const [index, step] of steps.entries()) {
    const untilMs = Math.min(countOf(progress, step, index).untilMs, nowMs + step.holdMs);
    if (untilMs > Math.max(nowMs, longest?.untilMs ?? 0)) longest = { index, step, untilMs };
  }
  if (!longest) return undefined;
  const { index, step, untilMs } = longest;
  const count = countOf(progress, step, index);
  return {
    verdict: { performed: { index, untilMs } },
    progress: withCount(progress, step, index, { ...count, repeated: count.repeated + 1, untilMs }),
  };
}

function takeFromMinute(steps: readonly Step[], progress: Progress, { nowMs, isEligible }: Arriving) {
  const index = steps.findIndex(({ perMinute }, i) => perMinute !== undefined && isEligible(i));
  if (index === -1) return undefined;
  const { scope, perMinute = 0 } = steps[index] as Step;
  const { [scope]: part } = progress;
  const last = part.minutes[index];
  // A minute from far in the future was used while the clock was wrong.
  const known = last && last.minute * minuteMs <= nowMs + dayMs ? last : { minute: 0, count: 0 };
  const minute = Math.max(Math.floor(nowMs / minuteMs), known.minute);
  const taken = known.minute === minute ? known.count : 0;
  const left = perMinute - taken - 1;
  const minutes = { ...part.minutes, [index]: { minute, count: taken + 1 } };
  return {
    verdict: { nearLimit: { index, left, untilMs: (minute + 1) * minuteMs } },
    progress: left < 0 ? progress : { ...progress, [scope]: { ...part, minutes } },
  };
}

function walk(steps: readonly Step[], before: Progress, { nowMs, isEligible }: Arriving): Advanced {
  let progress = before;
  for (const [index, step] of steps.entries()) {
    const count = countOf(progress, step, index);
    if (!isLeft(step, count) || !isEligible(index)) continue;
    if (count.seen < step.after) {
      progress = withCount(progress, step, index, { ...count, seen: count.seen + 1 });
      continue;
    }
    if (step.isLate) return { verdict: { planned: index }, progress };
    const untilMs = nowMs + step.holdMs;
    return {
      verdict: { performed: { index, untilMs } },
      progress: withCount(progress, step, index, { ...performedOnce(count), untilMs }),
    };
  }
  return { verdict: {}, progress };
}

/** Counts a late step that acts now. Returns the same progress if it has been performed as often as it says meanwhile. */
export function claim(steps: readonly Step[], progress: Progress, index: number): Progress {
  const step = steps[index] as Step;
  const count = countOf(progress, step, index);
  return isLeft(step, count) ? withCount(progress, step, index, performedOnce(count)) : progress;
}

const isLeft = ({ times = 0 }: Step, { performed }: Count) => performed < times;

const performedOnce = (count: Count): Count => ({
  ...count,
  seen: count.seen + 1,
  performed: count.performed + 1,
});

/** Counts that a condition touched an answer. */
export function touched(steps: readonly Step[], progress: Progress, index: number): Progress {
  const step = steps[index] as Step;
  const count = countOf(progress, step, index);
  return withCount(progress, step, index, { ...count, performed: count.performed + 1 });
}

/** How often a fault was performed, by all parts of the progress together, and how often it was got again. */
export function totalOf(parts: readonly Part[], index: number): Pick<Count, 'performed' | 'repeated'> {
  const total = { performed: 0, repeated: 0 };
  for (const { counts } of parts) {
    const { performed, repeated } = counts[index] ?? noCount;
    total.performed += performed;
    total.repeated += repeated;
  }
  return total;
}

const countOf = (progress: Progress, { scope }: Step, index: number): Count =>
  progress[scope].counts[index] ?? noCount;

const withCount = (progress: Progress, { scope }: Step, index: number, count: Count): Progress => {
  const part = progress[scope];
  return { ...progress, [scope]: { ...part, counts: { ...part.counts, [index]: count } } };
};
