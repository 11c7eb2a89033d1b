import { safeText } from '../../foundation/redact.ts';
import { PetStatus } from '../../foundation/schema.ts';
import { firstOf } from '../../foundation/words.ts';
import { laterFieldNames } from '../../lab/faults/new-fields.ts';
import { toUnknownStatus } from '../../lab/faults/new-status.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { differingIn, isNumber, type Line, linesOf, match, nearest, varies } from './lines.ts';
import type { Printed } from './printed-lines.ts';
import type { OtherChange } from './state.ts';

/** What is known about a run beyond its output. It decides which other lines are right. */
export interface OutputFacts {
  fault: Pick<Fault, 'shows'>;
  /** Whether a value of a limit header of the base became another value of the same header. */
  isLimit(was: string, is: string): boolean;
  /** Whether two ids are those of the same new thing: in the base, and in this run. `text`: and it has the name of the thing. */
  isSameThing(was: string, is: string, text?: string): boolean;
  /** Whether these are the numbers of all requests: in the base, and in this run. */
  isCount(was: string, is: string): boolean;
  /** Whether the run left the store as the base did, the fault met an operation that changed it, and every read got its response. */
  repeatsChange: boolean;
  /** Whether the run read every list to its end that the base read to its end. */
  readsListsToEnd: boolean;
  /** Whether the base does not read any list to its end whose pages the fault changed. */
  leavesLists: boolean;
  /** Whether the run opened a stream again without its position, so that events may come twice. */
  restartsStream: boolean;
  /** What the other writer of `conflict` changed. */
  others: readonly OtherChange[];
  /** How many of these changes the program may count: the events, if it reads them, or those of the stock. */
  otherCounts: number;
}

export interface OutputDifference {
  /** By line: a sentence for each that is missing, or that came again from a stream. */
  found: ReadonlyMap<string, string>;
  /** Whether the output names a failure in place of these lines. */
  namesFailure: boolean;
  /** A sentence for each other line that is right, with the reason. */
  excused: string[];
}

/** The most lines for which a similar one is searched. */
const maxPaired = 1_000;

/** The lines that every run without faults printed. What varies between these runs is blanked. */
export function expectedLines(outputs: readonly Printed[], ignored?: RegExp): Line[] {
  const [first = [], ...others] = outputs.map(({ lines }) =>
    linesOf(lines.filter((line) => !ignored?.test(line))),
  );
  return others.reduce((expected, other) => {
    const { missing, extra } = match(expected, other);
    const partners = new Map(
      missing.map((line, i) => [line, i < maxPaired ? nearest(line, extra, true) : undefined]),
    );
    return expected.flatMap((line) => {
      const partner = partners.get(line);
      return partner ? varies(line, partner) : partners.has(line) ? [] : line;
    });
  }, first);
}

/** Compares what a run printed with the lines of `expectedLines`. Order does not count, and new lines are fine. */
export function compareOutput(
  expected: readonly Line[],
  { lines }: Printed,
  facts: OutputFacts,
): OutputDifference {
  const printed = linesOf(lines);
  const { missing, extra } = match(expected, printed);
  const left = new Set(extra);
  const all = missing.map((line, i) => {
    const instead = i < maxPaired ? nearest(line, left) : undefined;
    if (instead) left.delete(instead);
    return { line, instead };
  });
  const context = contextOf(facts, expected, printed, extra, [...left]);
  const judged = all.map((one) => ({ ...one, reason: reasonFor(one.line, one.instead, context) }));
  const unexcused = judged.filter(({ reason }) => reason === undefined);
  const keys = new Set(facts.restartsStream ? expected.map(({ key }) => key) : []);
  const again = extra.filter(({ key, text }) => keys.has(key) && !aboutStreams.test(text));
  const hasOtherValue = unexcused.some(({ line, instead }) => instead && !namesFailure(instead, line));
  return {
    found: new Map([
      ...unexcused.map((one) => [one.line.key, sentence(one)] as const),
      ...again.map(({ key, text }) => [`again ${key}`, `printed ${quoted(text)} again`] as const),
    ]),
    namesFailure: again.length === 0 && !hasOtherValue && extra.some((one) => namesFailure(one)),
    excused: firstOf(
      judged.flatMap((one) => (one.reason === undefined ? [] : `${sentence(one)}: ${one.reason}`)),
      ...[maxExcused, 'line'],
    ),
  };
}

/** What decides about any line. `left`: the lines that stand in the place of no other. */
function contextOf(
  facts: OutputFacts,
  ...[expected, printed, extra, left]: [readonly Line[], Line[], Line[], Line[]]
) {
  const contents = extra.flatMap(({ tokens }) => tokens);
  return {
    ...facts,
    keys: new Set(printed.map(({ key }) => key)),
    alreadyWords: wordsOfAlready(left),
    /** By shape: the other lines, and these with all expected ones. */
    shapes: Map.groupBy(extra, shapeOf),
    allShapes: Map.groupBy([...expected, ...extra], shapeOf),
    /** By token: its places in the other lines. */
    places: Map.groupBy(contents.keys(), (at) => contents[at] as string),
    /** What the other lines were without the changes of the other writer. */
    withoutOthers: new Set(
      linesOf(facts.others.flatMap((other) => extra.map(withoutChange(other)))).map(({ key }) => key),
    ),
  };
}

/** `instead`: the line in its place. */
const sentence = ({ line, instead }: { line: Line; instead: Line | undefined }) =>
  instead
    ? `printed ${quoted(instead.text)} instead of ${quoted(line.text)}`
    : `did not print ${quoted(line.text)}`;

/** Words with which programs name a failure. */
const failure =
  /\b(?:error|fail\w*|down|unavailable|unreachable|time[d -]*out|refused|could ?n[o']t|cannot|can't|unable|g[ai]v\w* up|exception|incomplete|missing|aborted|broken)\b/gi;
const retry = /\bre-?tr(?:y|ies|ying)\b|\battempt\b|\bagain\b/i;
/** Words for a change that an earlier attempt has made. */
const already =
  /\balready\b|\bexists\b|\bup[ -]to[ -]date\b|\bunchanged\b|\bnothing to do\b|\bno changes?\b/i;

/** Whether a line names a failure in words that the line in its place does not have. A log of a retry names none. */
function namesFailure({ text }: Line, line?: Line): boolean {
  const words = text.match(failure) ?? [];
  return !retry.test(text) && words.some((word) => !line?.text.includes(word));
}

type Context = ReturnType<typeof contextOf>;

/** Why another line, or none, is right. Undefined if it is not. */
function reasonFor(line: Line, instead: Line | undefined, context: Context): string | undefined {
  const words = instead ? wordsOfAlready([instead]) : context.alreadyWords;
  if (context.repeatsChange && line.tokens.some((token) => words.has(token)))
    return 'the store has this change once';
  if (isStepOf(line, context.keys) && `${(instead ?? line).key} `.startsWith(`${line.key} `))
    return 'its last step was printed';
  const shown = shownReason(line, instead, context);
  if (shown || !instead) return shown;
  const differing = differingIn(line, instead);
  if (!differing) return undefined;
  const reasons = differing.map((at) => reasonForToken(line.tokens, instead, at, context));
  return reasons.includes(undefined) ? undefined : [...new Set(reasons)].join(', ');
}

/** The reason if the fault's own responses explain the line. */
function shownReason(line: Line, instead: Line | undefined, context: Context): string | undefined {
  const { fault, places } = context;
  const countIn = (shapes: Context['shapes']) => shapes.get(shapeOf(line))?.length ?? 0;
  switch (fault.shows) {
    case 'pages': {
      if (!context.readsListsToEnd) return undefined;
      const isOfPages = countIn(context.shapes) > 1;
      const isRight = context.leavesLists || isOfPages || isWithin(line.tokens.filter(isWord), places);
      return isRight ? 'it shows pages, and all of them were read' : undefined;
    }
    case 'older state':
    case 'fewer events':
      return !context.restartsStream && (instead || countIn(context.allShapes) > 1)
        ? `the responses show ${fault.shows}`
        : undefined;
    case 'more fields':
      return laterFieldNames.some((name) => places.has(name)) && isWithin(line.tokens, places)
        ? 'the responses show more fields'
        : undefined;
    case 'another status': {
      const tokens = line.tokens.map(toUnknownStatus);
      if (tokens.every((token, i) => token === line.tokens[i])) return undefined;
      const isCounted = line.tokens.filter(isNumber).every((count) => places.has(count));
      return context.keys.has(tokens.join(' ')) || (instead && isCounted)
        ? 'the responses show another status'
        : undefined;
    }
    case 'changes of another writer':
      return context.withoutOthers.has(line.key) ? 'another writer changed it' : undefined;
    default:
      return undefined;
  }
}

const isWord = (token: string) => /[\p{L}\d]/u.test(token);
/** Lines of one shape differ only in numbers and words: they are items of one list. */
const shapeOf = ({ tokens }: Line) => tokens.map((token) => (isWord(token) ? 'word' : token)).join(' ');
/** The values of a status that follows from the stock. */
const statuses: readonly string[] = PetStatus.enum;
/** A line with the value from before a change. A date may stand in the place of a time. */
const withoutChange = ({ before = 'none', after }: OtherChange) => {
  const [date, then] = [after, before].map((value) => isoDate.exec(value)?.[0] ?? value) as [string, string];
  return ({ text }: Line) => text.replaceAll(after, before).replaceAll(date, then);
};
const isoDate = /^\d{4}-\d\d-\d\d(?=T)/;
/** Numbers and longer words of lines that say that a change was made before. */
const wordsOfAlready = (lines: readonly Line[]) =>
  new Set(
    lines
      .flatMap(({ text, tokens }) => (already.test(text) ? tokens : []))
      .filter((token) => isNumber(token) || token.length > 2),
  );

const unit =
  /^(?:requests?|attempts?|tr(?:y|ies)|retr(?:y|ies)|calls?|connections?|pages?|bytes?|[kmg]i?b)$/i;
const isUnit = (token: string | undefined) => token !== undefined && unit.test(token);
const namesOfLimits = /limit|remain|left|reset|quota/i;
const plural = /^\p{L}+s$/u;
const amountOf = (number: string) => Number(number.replaceAll(',', ''));

/** Why a token may differ at this place. */
function reasonForToken(
  was: readonly string[],
  { text, tokens: is }: Line,
  at: number,
  { fault, isLimit, isSameThing, isCount, others, otherCounts }: Context,
): string | undefined {
  const [before, now, next = ''] = [was[at] as string, is[at] as string, is[at + 1]];
  if (isUnit(before) && isUnit(now)) return 'it counts requests or time';
  if (isNumber(before) && isNumber(now)) {
    const named = is.slice(0, at).findLast(isWord);
    const isCounted = isUnit(next) || (isUnit(named) && !plural.test(next));
    if (isCounted && (amountOf(now) >= amountOf(before) || isCount(before, now)))
      return 'it counts requests or time';
    if (isSameThing(before, now, text) || (isSameThing(before, now) && !isWord(next)))
      return 'the same thing has another id';
    if (isLimit(before, now) && was.some((token) => namesOfLimits.test(token)))
      return 'it is the limit of this run';
  }
  if (fault.shows !== 'changes of another writer') return undefined;
  const isTheirs = others.some(({ property, before: value, after }) =>
    property === 'stock'
      ? [before, now].every((one) => statuses.includes(one))
      : now === after && before === value,
  );
  return isTheirs || Math.abs(Number(now) - Number(before)) <= otherCounts
    ? 'another writer changed it'
    : undefined;
}

/** A step such as `3 / 5`, and whether its last one, `5 / 5`, was printed. */
const step = /(?<!\S)\d\S* \/ (\d\S*)/;
const isStepOf = ({ key }: Line, printed: ReadonlySet<string>) =>
  step.test(key) && printed.has(key.replace(step, '$1 / $1'));

/** Whether all tokens occur in the order of their places, which are ascending. */
function isWithin(tokens: readonly string[], places: ReadonlyMap<string, readonly number[]>): boolean {
  let last: number | undefined = -1;
  return tokens.every((token) => {
    last = places.get(token)?.find((place) => place > (last as number));
    return last !== undefined;
  });
}

/** A program may say more than once that it opens a stream. */
const aboutStreams = /connect|open|listen|stream|subscri|resum/i;

/** The most excused lines of a run, and characters of a line that a sentence shows. */
const [maxExcused, maxShownLength] = [100, 120];

const quoted = (line: string) => `"${safeText(line, maxShownLength)}"`;
