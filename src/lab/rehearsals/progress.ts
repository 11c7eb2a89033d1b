import { dayMs, minuteMs } from '../../foundation/time.ts';
import type { Scope } from '../faults/shared/fault.ts';

/**
 * The progress of a rehearsal, as pure functions of its steps, the request and the time.
 *
 * A request passes the steps in their order. Each step that can be performed on it counts it: the first `after` requests pass, and the
 * step is performed on the next `times`. The first step that is performed ends the walk, so a later step counts only requests that
 * earlier steps let pass. A late step ends the walk too, but it counts only when it acts (`claim`).
 *
 * A limit or a ban holds requests back: a client that retries too early gets it again, and this counts as `repeated`. If several hold
 * a request back, it gets the longest, so that a client that obeys `Retry-After` gets through. A request that is held back does not count
 * for `near-limit`, just as refused requests do not count for the real limits.
 *
 * If the clock goes back, no client waits longer than its `Retry-After`, and no minute is used twice.
 */

/** The parts of a fault that its progress depends on. */
export interface Step {
  after: number;
  /** Undefined for a condition. */
  times: number | undefined;
  scope: Scope;
  /** See `Fault`. */
  holdMs: number;
  actsAfterValidation?: boolean;
  /** For `near-limit`: requests that are left when a minute begins. */
  perMinute?: number;
}

interface Count {
  /** Requests that this step counted. */
  seen: number;
  performed: number;
  /** Requests that came too early and got the fault again. */
  repeated: number;
  /** The step holds requests back until then. Milliseconds since 1970. */
  untilMs: number;
}

/** By the index of a fault: its count, and for `near-limit` the requests of the last minute. */
export interface ScopeProgress {
  counts: Readonly<Record<number, Count>>;
  minutes: Readonly<Record<number, { minute: number; count: number }>>;
}

/** The progress that a request depends on: the part of its operation, and the part of the whole key. */
export type Progress = Readonly<Record<Scope, ScopeProgress>>;

export const noProgress: ScopeProgress = { counts: {}, minutes: {} };

/** The faults to perform on a request. */
export interface SelectedFaults {
  /** The index of the step to perform, and until when it holds requests back. */
  step?: { index: number; untilMs: number };
  /** The index of the late step, which acts if the request is valid. */
  lateStep?: number;
  /** The index of `near-limit`, and the requests left in the minute after this one; −1 if none was left for it. */
  nearLimit?: { index: number; left: number; untilMs: number };
}

interface ArrivingRequest {
  nowMs: number;
  /** Whether the fault with this index can be performed on the request. */
  isEligible(index: number): boolean;
}

/** `progress` is the same object if nothing has changed. */
export interface Advance {
  selected: SelectedFaults;
  progress: Progress;
}

const noCount: Count = { seen: 0, performed: 0, repeated: 0, untilMs: 0 };

/** Selects the faults for a request, and returns the progress after it. */
export function advance(steps: readonly Step[], progress: Progress, arriving: ArrivingRequest): Advance {
  const held = repeatHeld(steps, progress, arriving);
  if (held) return held;
  const near = takeFromMinute(steps, progress, arriving);
  if (!near) return walk(steps, progress, arriving);
  const { nearLimit } = near.selected;
  if (nearLimit.left < 0) return near;
  const walked = walk(steps, near.progress, arriving);
  const { step } = walked.selected;
  const isRefusedByLimit = step !== undefined && (steps[step.index]?.holdMs ?? 0) > 0;
  return isRefusedByLimit
    ? walk(steps, progress, arriving)
    : { ...walked, selected: { ...walked.selected, nearLimit } };
}

/** Selects the step that holds the request back longest; undefined if none does. */
function repeatHeld(
  steps: readonly Step[],
  progress: Progress,
  { nowMs }: ArrivingRequest,
): Advance | undefined {
  let longest: { index: number; step: Step; untilMs: number } | undefined;
  for (const [index, step] of steps.entries()) {
    const untilMs = Math.min(countOf(progress, step, index).untilMs, nowMs + step.holdMs);
    if (untilMs > Math.max(nowMs, longest?.untilMs ?? 0)) longest = { index, step, untilMs };
  }
  if (!longest) return undefined;
  const { index, step, untilMs } = longest;
  const count = countOf(progress, step, index);
  return {
    selected: { step: { index, untilMs } },
    progress: withCount(progress, step, index, { ...count, repeated: count.repeated + 1, untilMs }),
  };
}

function takeFromMinute(steps: readonly Step[], progress: Progress, { nowMs, isEligible }: ArrivingRequest) {
  const index = steps.findIndex(({ perMinute }, i) => perMinute !== undefined && isEligible(i));
  if (index === -1) return undefined;
  const { scope, perMinute = 0 } = steps[index] as Step;
  const { [scope]: part } = progress;
  const last = part.minutes[index];
  // A minute in the far future was stored while the clock was wrong.
  const known = last && last.minute * minuteMs <= nowMs + dayMs ? last : { minute: 0, count: 0 };
  const minute = Math.max(Math.floor(nowMs / minuteMs), known.minute);
  const taken = known.minute === minute ? known.count : 0;
  const left = perMinute - taken - 1;
  const minutes = { ...part.minutes, [index]: { minute, count: taken + 1 } };
  return {
    selected: { nearLimit: { index, left, untilMs: (minute + 1) * minuteMs } },
    progress: left < 0 ? progress : { ...progress, [scope]: { ...part, minutes } },
  };
}

function walk(steps: readonly Step[], before: Progress, { nowMs, isEligible }: ArrivingRequest): Advance {
  let progress = before;
  for (const [index, step] of steps.entries()) {
    const count = countOf(progress, step, index);
    if (!isLeft(step, count) || !isEligible(index)) continue;
    if (count.seen < step.after) {
      progress = withCount(progress, step, index, { ...count, seen: count.seen + 1 });
      continue;
    }
    if (step.actsAfterValidation) return { selected: { lateStep: index }, progress };
    const untilMs = nowMs + step.holdMs;
    return {
      selected: { step: { index, untilMs } },
      progress: withCount(progress, step, index, { ...performedOnce(count), untilMs }),
    };
  }
  return { selected: {}, progress };
}

/** Counts a late step that acts now. Returns the same progress if the step was used up meanwhile. */
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

/** Counts a condition that changed a response. */
export function countTouch(steps: readonly Step[], progress: Progress, index: number): Progress {
  const step = steps[index] as Step;
  const count = countOf(progress, step, index);
  return withCount(progress, step, index, { ...count, performed: count.performed + 1 });
}

/** How often a fault was performed and repeated, in all parts together. */
export function totalOf(
  parts: readonly ScopeProgress[],
  index: number,
): Pick<Count, 'performed' | 'repeated'> {
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
