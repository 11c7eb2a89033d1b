import { type Attempt, lanesOf, type Wait, waitOf } from '../attempts.ts';

/** Of the time that passes, so much is to come: there one sees until when to wait. */
const ahead = 1 / 6;
/** So many lanes are drawn, and in each so many marks at most: of those that would cover each other, the worst. */
const [maxLanes, maxMarks] = [6, 100];
const maxTicks = 6;

/** A mark of the time line, with places in percent of its length. */
export interface Mark {
  attempt: Attempt;
  from: number;
  to: number;
  /** How many more it stands for. */
  more: number;
  /** The wait since the attempt before. */
  wait?: Wait & { from: number };
}

/** A time in which nothing was to be tried. */
export interface Band {
  from: number;
  to: number;
  toldMs: number;
}

export interface DrawnLane {
  label: string;
  attempts: readonly Attempt[];
  marks: Mark[];
  bands: Band[];
}

export interface TimeLine {
  lanes: DrawnLane[];
  ticks: { at: number; ms: number }[];
  /** From what its ticks count: from now, where it goes with the time; from the end of the last request, where it stands still; else from the first. */
  zero: { at: number; is: 'now' | 'last' | 'first'; atMs: number };
}

/**
 * The last of some attempts. While it `isLive` it goes with the time until the last one stands in its middle, and goes on with the next; so
 * does time alone change neither its scale nor its lanes. Otherwise it is what ended with the last one.
 */
export function timeLineOf(
  attempts: readonly Attempt[],
  { nowMs, isLive, spanMs }: { nowMs: number; isLive: boolean; spanMs: number },
): TimeLine | undefined {
  const lastMs = attempts.reduce((last, { endMs }) => Math.max(last, endMs), 0);
  if (lastMs === 0) return undefined;
  const { fromMs, toMs, zeroMs, is } = isLive
    ? passing(nowMs, lastMs, spanMs)
    : ended(attempts, lastMs, spanMs);
  const wholeMs = Math.max(1, toMs - fromMs);
  const place = (ms: number) =>
    Number(Math.min(100, Math.max(0, (100 * (ms - fromMs)) / wholeMs)).toFixed(2));
  return {
    lanes: chosen(lanesOf(attempts, Number.POSITIVE_INFINITY), lastMs - spanMs).map(
      ({ label, attempts }) => ({
        ...{ label, attempts },
        marks: marksOf(attempts, fromMs, wholeMs, place),
        bands: bandsOf(attempts, place).filter(({ from, to }) => to > from),
      }),
    ),
    ticks: ticksOf(fromMs - zeroMs, toMs - zeroMs).map((ms) => ({ at: place(zeroMs + ms), ms })),
    zero: { at: place(zeroMs), is, atMs: zeroMs },
  };
}

function passing(nowMs: number, lastMs: number, spanMs: number) {
  const aheadMs = spanMs * ahead;
  const restMs = lastMs + spanMs / 2 - aheadMs;
  const toMs = Math.min(nowMs, restMs) + aheadMs;
  const rests = nowMs > restMs;
  return { fromMs: toMs - spanMs, toMs, zeroMs: rests ? lastMs : nowMs, is: rests ? 'last' : 'now' } as const;
}

function ended(attempts: readonly Attempt[], lastMs: number, spanMs: number) {
  const earliestMs = lastMs - spanMs * (1 - ahead);
  const recent = attempts.filter(({ endMs }) => endMs >= earliestMs);
  const fromMs = Math.max(earliestMs, Math.min(...recent.map(({ startMs }) => startMs)));
  const toldMs = Math.max(0, ...recent.map(({ toldUntilMs = 0 }) => toldUntilMs));
  const mostMs = lastMs + Math.max(1_000, (lastMs - fromMs) / 2);
  return { fromMs, toMs: Math.max(lastMs, Math.min(toldMs, mostMs)), zeroMs: fromMs, is: 'first' } as const;
}

type Lanes = ReturnType<typeof lanesOf>;

/**
 * Lanes of what was tried again, and of operations; of these the ones with waits since some time and those that were used last, in an order
 * that stays, and the others as one.
 */
function chosen(lanes: Lanes, sinceMs: number): Lanes {
  const inTime = (attempts: Attempt[]) => attempts.toSorted((a, b) => a.startMs - b.startMs);
  const lastOf = ({ attempts }: Lanes[number]) => Math.max(...attempts.map(({ endMs }) => endMs));
  const joined = (some: Lanes, key: (lane: Lanes[number]) => string) =>
    [...Map.groupBy(some, key).values()].map((same) => {
      const attempts = inTime(same.flatMap((lane) => lane.attempts));
      return { label: labelOf(attempts), attempts };
    });
  // What was tried again may be called as its operation is.
  const named = joined(joined(lanes, keyOf), ({ label }) => label);
  const waits = ({ attempts }: Lanes[number]) =>
    Number(attempts.some((one) => one.endMs >= sinceMs && (one.before ?? one.toldUntilMs)));
  const byUse = named.toSorted((a, b) => waits(b) - waits(a) || lastOf(b) - lastOf(a));
  const isFew = byUse.length <= maxLanes;
  const shown = byUse.slice(0, isFew ? maxLanes : maxLanes - 1);
  const others = byUse.slice(shown.length).flatMap(({ attempts }) => attempts);
  const inOrder = shown.toSorted((a, b) => (a.label < b.label ? -1 : 1));
  return isFew ? inOrder : [...inOrder, { label: 'other requests', attempts: inTime(others) }];
}

function keyOf({ label, attempts }: Lanes[number]): string {
  if (attempts.some(({ before }) => before)) return label;
  const { operation, method, target } = (attempts[0] as Attempt).request;
  return operation ?? `${method} ${pathOf(target)}`;
}

function labelOf(attempts: Attempt[]): string {
  const { method, target } = (attempts[0] as Attempt).request;
  const isOne = attempts.every(({ request }) => request.target === target);
  return isOne ? `${method} ${target}` : `${method} ${pathOf(target)} and others`;
}

const pathOf = (target: string) => target.replace(/\?.*/s, '');

type Place = (ms: number) => number;

function marksOf(attempts: readonly Attempt[], fromMs: number, wholeMs: number, place: Place): Mark[] {
  const bySlot = Map.groupBy(
    attempts.filter(({ endMs }) => endMs >= fromMs),
    ({ endMs }) => Math.floor((endMs - fromMs) / (wholeMs / maxMarks)),
  );
  return [...bySlot.values()].map((same) => {
    const attempt = same.findLast(({ kind }) => kind !== 'fine') ?? (same.at(-1) as Attempt);
    const { startMs, endMs, before } = attempt;
    const mark = { attempt, from: place(startMs), to: place(endMs), more: same.length - 1 };
    const wait = waitOf(attempt);
    return before && wait ? { ...mark, wait: { ...wait, from: place(before.endMs) } } : mark;
  });
}

/** The times in which nothing was to be tried, those that overlap as one. */
function bandsOf(attempts: readonly Attempt[], place: Place): Band[] {
  const found: { fromMs: number; untilMs: number; toldMs: number }[] = [];
  for (const { endMs, toldUntilMs } of attempts) {
    if (toldUntilMs === undefined) continue;
    const last = found.at(-1);
    if (last && endMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, toldUntilMs);
    else found.push({ fromMs: endMs, untilMs: toldUntilMs, toldMs: toldUntilMs - endMs });
  }
  return found.map(({ fromMs, untilMs, toldMs }) => ({ from: place(fromMs), to: place(untilMs), toldMs }));
}

/** Round times. */
function ticksOf(fromMs: number, toMs: number): number[] {
  const least = (toMs - fromMs) / maxTicks;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((factor) => power * factor >= least) ?? 10);
  const first = Math.ceil(fromMs / step);
  return Array.from({ length: Math.floor(toMs / step) - first + 1 }, (_, i) => (first + i) * step);
}
