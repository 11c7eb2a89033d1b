import {
  type Attempt,
  bandsOf,
  type Lane,
  lanesOf,
  type Place,
  placeBetween,
  ticksBetween,
  type Wait,
  waitOf,
} from '../../lab/recordings/timeline-layout.ts';

/** The share of a live time line after now. It shows the ends of waits. */
const ahead = 1 / 6;
/** Of marks that would cover each other, a lane has the worst. */
const [maxLanes, maxMarks] = [6, 100];

/** A mark of the time line, with places in percent of its length. */
export interface Mark {
  attempt: Attempt;
  from: number;
  to: number;
  /** The number of other attempts that it covers. */
  more: number;
  /** The wait since the attempt before. */
  wait?: Wait & { from: number };
}

/** A time in which `Retry-After` allowed no attempt, with places in percent. */
export interface DrawnBand {
  from: number;
  to: number;
  retryAfterMs: number;
}

export interface DrawnLane {
  label: string;
  attempts: readonly Attempt[];
  marks: Mark[];
  bands: DrawnBand[];
}

export interface TimeLine {
  lanes: DrawnLane[];
  ticks: { at: number; ms: number }[];
  /** The origin of the ticks: now if the line moves, the end of the last request if it stands still, the first request if it is not live. */
  zero: { at: number; is: 'now' | 'last' | 'first'; atMs: number };
}

/**
 * The time line of the last attempts. A live one moves with the time until the last attempt is in its middle. Time alone changes neither
 * its scale nor its lanes. One that is not live ends with the last attempt.
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
  const place = placeBetween(fromMs, fromMs + wholeMs);
  return {
    lanes: chosen(lanesOf(attempts, Number.POSITIVE_INFINITY), lastMs - spanMs).map(
      ({ label, attempts }) => ({
        ...{ label, attempts },
        marks: marksOf(attempts, fromMs, wholeMs, place),
        bands: drawnBands(attempts, place),
      }),
    ),
    ticks: ticksBetween(fromMs - zeroMs, toMs - zeroMs).map((ms) => ({ at: place(zeroMs + ms), ms })),
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
  const waitUntilMs = Math.max(0, ...recent.map(({ waitUntilMs = 0 }) => waitUntilMs));
  const mostMs = lastMs + Math.max(1_000, (lastMs - fromMs) / 2);
  return {
    fromMs,
    toMs: Math.max(lastMs, Math.min(waitUntilMs, mostMs)),
    zeroMs: fromMs,
    is: 'first',
  } as const;
}

/** The lanes with waits since `sinceMs`, and those that were used last, in a stable order. The last lane has the others. */
function chosen(lanes: Lane[], sinceMs: number): Lane[] {
  const inTime = (attempts: Attempt[]) => attempts.toSorted((a, b) => a.startMs - b.startMs);
  const lastOf = ({ attempts }: Lane) => Math.max(...attempts.map(({ endMs }) => endMs));
  const joined = (some: Lane[], key: (lane: Lane) => string) =>
    [...Map.groupBy(some, key).values()].map((same) => {
      const attempts = inTime(same.flatMap((lane) => lane.attempts));
      return { label: labelOf(attempts), attempts };
    });
  // A lane of retries may have the label of its operation.
  const named = joined(joined(lanes, keyOf), ({ label }) => label);
  const waits = ({ attempts }: Lane) =>
    Number(attempts.some((one) => one.endMs >= sinceMs && (one.before ?? one.waitUntilMs)));
  const byUse = named.toSorted((a, b) => waits(b) - waits(a) || lastOf(b) - lastOf(a));
  const isFew = byUse.length <= maxLanes;
  const shown = byUse.slice(0, isFew ? maxLanes : maxLanes - 1);
  const others = byUse.slice(shown.length).flatMap(({ attempts }) => attempts);
  const inOrder = shown.toSorted((a, b) => (a.label < b.label ? -1 : 1));
  return isFew ? inOrder : [...inOrder, { label: 'other requests', attempts: inTime(others) }];
}

function keyOf({ label, attempts }: Lane): string {
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

function marksOf(attempts: readonly Attempt[], fromMs: number, wholeMs: number, place: Place): Mark[] {
  const bySlot = Map.groupBy(
    attempts.filter(({ endMs }) => endMs >= fromMs),
    ({ endMs }) => Math.floor((endMs - fromMs) / (wholeMs / maxMarks)),
  );
  return [...bySlot.values()].map((same) => {
    const attempt = same.findLast(({ kind }) => kind !== 'fine') ?? (same.at(-1) as Attempt);
    const { startMs, endMs } = attempt;
    const mark = { attempt, from: place(startMs), to: place(endMs), more: same.length - 1 };
    const wait = waitOf(attempt);
    return wait ? { ...mark, wait: { ...wait, from: place(wait.fromMs) } } : mark;
  });
}

const drawnBands = (attempts: readonly Attempt[], place: Place): DrawnBand[] =>
  bandsOf(attempts)
    .map(({ fromMs, untilMs, retryAfterMs }) => ({ from: place(fromMs), to: place(untilMs), retryAfterMs }))
    .filter(({ from, to }) => to > from);
