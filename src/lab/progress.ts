import { minuteMs } from '../limits/decision.ts';

/**
 * How a rehearsal goes on. Its faults are steps or conditions. A request goes through the steps in their order: each that
 * is for its operation and can be performed on it counts it, lets the first `after` pass, and is performed on the next `times`.
 * The first that is performed ends the walk, so a later step sees the requests that the earlier ones have let through. What a
 * fault holds back gets it again until its time is over, without being counted as performed once more.
 *
 * All of it is `advance`, a pure function of the faults, the progress, the request and the time.
 */

/** A fault of a rehearsal, as far as its progress depends on it. */
export interface Step {
  /** The only operation that it is for. */
  operation?: string;
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

/** By the number of a fault and the operation, as `0 getPet`. Of each condition on limits, the requests of the last minute. */
export interface Progress {
  counts: Readonly<Record<string, Count>>;
  minutes: Readonly<Record<number, { minute: number; count: number }>>;
}

export const noProgress: Progress = { counts: {}, minutes: {} };

/** What happens to a request. */
export interface Verdict {
  /** The number of the step that is performed on it. */
  performed?: { index: number; untilMs: number };
  /** The condition on limits that it is under, with what is left after it; −1 if there was nothing left for it. */
  nearLimit?: { index: number; left: number };
}

export interface Arriving {
  operationId: string;
  nowMs: number;
  /** Whether the fault with this number can be performed on the request. */
  takes(index: number): boolean;
}

const noCount: Count = { seen: 0, performed: 0, repeated: 0, untilMs: 0 };
const countName = (index: number, operationId: string) => `${index} ${operationId}`;

/** Decides what happens to a request, and returns the progress after it. */
export function advance(
  steps: readonly Step[],
  progress: Progress,
  arriving: Arriving,
): { verdict: Verdict; progress: Progress } {
  const { operationId, nowMs, takes } = arriving;
  const held = findHeld(steps, progress, operationId, nowMs);
  if (held) {
    const { index, name, untilMs } = held;
    const count = progress.counts[name] as Count;
    const verdict = { performed: { index, untilMs } };
    return { verdict, progress: withCount(progress, name, { ...count, repeated: count.repeated + 1 }) };
  }
  let after = progress;
  for (const [index, step] of steps.entries()) {
    if (!isFor(step, operationId)) continue;
    if (step.perMinute !== undefined) {
      const { left, minutes } = takeFromMinute(after, index, step.perMinute, nowMs);
      after = { ...after, minutes };
      // What is refused by its limit comes to no other fault.
      return left < 0
        ? { verdict: { nearLimit: { index, left } }, progress: after }
        : withNearLimit({ index, left }, walk(steps, after, arriving));
    }
  }
  return walk(steps, after, { operationId, nowMs, takes });
}

const withNearLimit = (
  nearLimit: NonNullable<Verdict['nearLimit']>,
  { verdict, progress }: ReturnType<typeof walk>,
) => ({ verdict: { ...verdict, nearLimit }, progress });

function walk(steps: readonly Step[], before: Progress, { operationId, nowMs, takes }: Arriving) {
  let progress = before;
  for (const [index, step] of steps.entries()) {
    if (step.times === undefined || !isFor(step, operationId) || !takes(index)) continue;
    const name = countName(index, operationId);
    const count = progress.counts[name] ?? noCount;
    if (count.performed >= step.times) continue;
    const seen = count.seen + 1;
    if (seen <= step.after) {
      progress = withCount(progress, name, { ...count, seen });
      continue;
    }
    const untilMs = nowMs + step.holdMs;
    progress = withCount(progress, name, { ...count, seen, performed: count.performed + 1, untilMs });
    return { verdict: { performed: { index, untilMs } }, progress };
  }
  return { verdict: {}, progress };
}

/** Counts that a condition touched an answer. */
export function touched(progress: Progress, index: number, operationId: string): Progress {
  const name = countName(index, operationId);
  const count = progress.counts[name] ?? noCount;
  return withCount(progress, name, { ...count, performed: count.performed + 1 });
}

/** How often a fault was performed, on all operations together, and how often it was got again. */
export function totalOf({ counts }: Progress, index: number): Pick<Count, 'performed' | 'repeated'> {
  const own = Object.entries(counts).filter(([name]) => name.startsWith(`${index} `));
  const sum = (of: (count: Count) => number) => own.reduce((total, [, count]) => total + of(count), 0);
  return { performed: sum(({ performed }) => performed), repeated: sum(({ repeated }) => repeated) };
}

const isFor = ({ operation }: Step, operationId: string) =>
  operation === undefined || operation === operationId;

/** The step that still holds an operation back: performed on it, or on any if it holds the key. */
function findHeld(steps: readonly Step[], { counts }: Progress, operationId: string, nowMs: number) {
  for (const [index, step] of steps.entries()) {
    if (step.holdMs === 0) continue;
    for (const [name, { untilMs }] of Object.entries(counts)) {
      const isOwn = name === countName(index, operationId);
      const isOfKey = step.holds === 'key' && name.startsWith(`${index} `);
      if (untilMs > nowMs && (isOwn || isOfKey)) return { index, name, untilMs };
    }
  }
  return undefined;
}

function takeFromMinute({ minutes }: Progress, index: number, perMinute: number, nowMs: number) {
  const minute = Math.floor(nowMs / minuteMs);
  const last = minutes[index];
  const taken = last?.minute === minute ? last.count : 0;
  const count = Math.min(taken + 1, perMinute + 1);
  return { left: perMinute - taken - 1, minutes: { ...minutes, [index]: { minute, count } } };
}

const withCount = (progress: Progress, name: string, count: Count): Progress => ({
  ...progress,
  counts: { ...progress.counts, [name]: count },
});
