import {
  type Attempt,
  bandsOf,
  type Lane,
  lanesOf,
  type Place,
  ticksBetween,
  type Wait,
  waitOf,
} from '../recordings/timeline-layout.ts';

const maxAttempts = 200;
/** If marks would overlap, a lane shows only the worst one. */
const [maxLanes, maxMarks] = [8, 100];
/** A longer time without a request becomes a gap, which is as wide as any other gap. */
const longestIdleMs = 10_000;
/** In percent of the line: the width of a gap, and of all gaps together, at most. */
const [gapWidth, gapsWidth] = [15, 60];
/** In percent of the line: the shortest piece with ticks, the minimum distance between ticks, and the margin without texts at both ends. */
const [leastTicked, leastApart, edge] = [20, 9, 5];

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

interface Span {
  from: number;
  to: number;
}

/** A time in which `Retry-After` allowed no attempt. */
export type DrawnBand = Span & { retryAfterMs: number };

/** A time without a request. */
export type Gap = Span & { ms: number };

/** A time since the first attempt. */
interface Tick {
  at: number;
  ms: number;
  /** A narrow line has no text for it. */
  isMinor: boolean;
}

export interface DrawnLane {
  label: string;
  attempts: readonly Attempt[];
  marks: Mark[];
  bands: DrawnBand[];
}

export interface TimeLine {
  /** In the order of their first attempts. */
  lanes: DrawnLane[];
  ticks: Tick[];
  gaps: Gap[];
}

/** The time line of the newest attempts, from the first of them to the end of the last one and of its wait. */
export function timeLineOf(attempts: readonly Attempt[]): TimeLine | undefined {
  const newest = attempts.toSorted((a, b) => a.endMs - b.endMs).slice(-maxAttempts);
  const inTime = newest.sort((a, b) => a.startMs - b.startMs);
  const [first] = inTime;
  if (!first) return undefined;
  const pieces = drawnPieces(piecesOf(inTime, first));
  const place = placeIn(pieces);
  return {
    lanes: newestLanes(lanesOf(inTime, Number.POSITIVE_INFINITY)).map(({ label, attempts }) => ({
      ...{ label, attempts },
      marks: marksOf(attempts, place),
      bands: drawnBands(attempts, place),
    })),
    ticks: pieces.flatMap((piece) => ticksOf(piece, first.startMs, place)),
    gaps: pieces
      .filter(({ isGap }) => isGap)
      .map(({ from, to, fromMs, toMs }) => ({ from, to, ms: toMs - fromMs })),
  };
}

/** A time with requests, or a gap between two. */
interface Piece {
  fromMs: number;
  toMs: number;
  isGap: boolean;
}

type DrawnPiece = Piece & Span;

function piecesOf(inTime: readonly Attempt[], { startMs, endMs }: Attempt): Piece[] {
  let last = { fromMs: startMs, toMs: endMs, isGap: false };
  const pieces = [last];
  const addUntil = (untilMs: number, next: Piece[]) => {
    if (untilMs - last.toMs <= longestIdleMs) return false;
    pieces.push({ fromMs: last.toMs, toMs: untilMs, isGap: true }, ...next);
    return true;
  };
  for (const { startMs, endMs } of inTime) {
    const next = { fromMs: startMs, toMs: endMs, isGap: false };
    if (addUntil(startMs, [next])) last = next;
    else last.toMs = Math.max(last.toMs, endMs);
  }
  const waitUntilMs = Math.max(0, ...inTime.map((attempt) => attempt.waitUntilMs ?? 0));
  if (!addUntil(waitUntilMs, [])) last.toMs = Math.max(last.toMs, waitUntilMs);
  return pieces;
}

/** Gives each gap the same width, and each other piece one by its length. */
function drawnPieces(pieces: readonly Piece[]): DrawnPiece[] {
  const gaps = pieces.filter(({ isGap }) => isGap).length;
  const ofGap = Math.min(gapWidth, gapsWidth / gaps);
  const lengthOf = ({ fromMs, toMs, isGap }: Piece) => (isGap ? 0 : Math.max(1, toMs - fromMs));
  const wholeMs = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0);
  const room = 100 - (gaps > 0 ? gaps * ofGap : 0);
  let to = 0;
  return pieces.map((piece) => {
    const from = to;
    to = from + (piece.isGap ? ofGap : (room * lengthOf(piece)) / wholeMs);
    return { ...piece, from, to };
  });
}

const placeIn =
  (pieces: readonly DrawnPiece[]): Place =>
  (ms) => {
    const piece = pieces.find(({ toMs }) => ms <= toMs) ?? (pieces.at(-1) as DrawnPiece);
    const { fromMs, toMs, from, to } = piece;
    const share = Math.min(1, Math.max(0, (ms - fromMs) / Math.max(1, toMs - fromMs)));
    return Number((from + share * (to - from)).toFixed(2));
  };

function ticksOf({ fromMs, toMs, from, to, isGap }: DrawnPiece, zeroMs: number, place: Place): Tick[] {
  if (isGap || to - from < leastTicked) return [];
  const all = ticksBetween(fromMs - zeroMs, toMs - zeroMs);
  const stepMs = (all[1] ?? Number.POSITIVE_INFINITY) - (all[0] ?? 0);
  const every = Math.ceil((leastApart * (toMs - fromMs)) / (stepMs * (to - from))) || 1;
  return all
    .map((ms) => ({ ms, nth: Math.round(ms / stepMs) / every }))
    .filter(({ nth }) => Number.isInteger(nth))
    .map(({ ms, nth }) => ({ at: place(zeroMs + ms), ms, isMinor: nth % 2 === 1 }))
    .filter(({ at }) => (at >= from + edge || from === 0) && (at <= to - edge || to > 99));
}

/** The newest lanes, and before them one of all earlier requests. */
function newestLanes(lanes: readonly Lane[]): Lane[] {
  const numbered = lanes.map(({ label, attempts }) => ({
    label: `#${attempts[0]?.request.id} ${label}`,
    attempts,
  }));
  if (numbered.length <= maxLanes) return numbered;
  const earlier = numbered.splice(0, numbered.length - maxLanes + 1).flatMap(({ attempts }) => attempts);
  earlier.sort((a, b) => a.startMs - b.startMs);
  return [{ label: `${earlier.length} earlier requests`, attempts: earlier }, ...numbered];
}

function marksOf(attempts: readonly Attempt[], place: Place): Mark[] {
  const bySlot = Map.groupBy(attempts, ({ endMs }) => Math.floor((place(endMs) * maxMarks) / 100));
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
