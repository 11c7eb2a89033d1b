import { safeText } from '../../foundation/redact.ts';
import { counted } from '../../foundation/words.ts';
import { toUnknownStatus } from '../../lab/faults/new-status.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { differingIn, type Line, linesOf, match, nearest, varies } from './lines.ts';
import type { Printed } from './printed-lines.ts';
import { plurals } from './rows.ts';
import type { OtherChange } from './state.ts';

/** What is known about a run beyond its output. It decides which other lines are right. */
export interface OutputFacts {
  fault: Pick<Fault, 'shows'>;
  /** Whether a value of a limit header of the base became another value of the same header. */
  isLimit(was: string, is: string): boolean;
  /** Whether two ids are those of the same new thing: in the base, and in this run. */
  isSameThing(was: string, is: string): boolean;
  /** Whether the run left the store as the base did, with the same changes. */
  isStoreEqual: boolean;
  /** Whether the run read every list to its end that the base read to its end. */
  readsListsToEnd: boolean;
  /** Whether the run opened a stream again without its position, so that events may come twice. */
  restartsStream: boolean;
  /** What the other writer of `conflict` changed. */
  others: readonly OtherChange[];
}

export interface OutputDifference {
  /** A sentence for each line that is missing, or that came again from a stream. */
  found: string[];
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
      if (!partners.has(line)) return [line];
      const partner = partners.get(line);
      return partner ? [varies(line, partner)] : [];
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
  const isDone = doneAlready(left, facts);
  const judged = all.map((one) => ({
    ...one,
    reason: reasonFor(one.line, one.instead, printed, facts) ?? isDone(),
  }));
  const unexcused = judged.filter(({ reason }) => reason === undefined);
  const again = facts.restartsStream ? repeated(expected, extra) : [];
  const hasOtherValue = unexcused.some(({ instead }) => instead && !failure.test(instead.text));
  return {
    found: bounded([...unexcused.map(sentence), ...again.map(({ text }) => `printed ${quoted(text)} again`)]),
    namesFailure: again.length === 0 && !hasOtherValue && extra.some(({ text }) => failure.test(text)),
    excused: bounded(
      judged.flatMap((one) => (one.reason === undefined ? [] : `${sentence(one)}: ${one.reason}`)),
    ),
  };
}

interface Missing {
  line: Line;
  /** The line in its place. */
  instead: Line | undefined;
}

const sentence = ({ line, instead }: Missing) =>
  instead
    ? `printed ${quoted(instead.text)} instead of ${quoted(line.text)}`
    : `did not print ${quoted(line.text)}`;

/** Words with which programs name a failure. */
const failure =
  /\b(?:error|fail\w*|down|unavailable|unreachable|time[d -]*out|refused|could ?n[o']t|cannot|can't|unable|g[ai]v\w* up|exception|incomplete|missing|aborted|broken)\b/i;
/** Words for a change that an earlier attempt has made. */
const already =
  /\balready\b|\bexists\b|\bup[ -]to[ -]date\b|\bunchanged\b|\bnothing to do\b|\bno changes?\b/i;

/** Excuses a line for each other line that says that its change is made already, if the store has each change once. */
function doneAlready(left: ReadonlySet<Line>, { isStoreEqual }: OutputFacts) {
  let count = isStoreEqual ? [...left].filter(({ text }) => already.test(text)).length : 0;
  return () => (count-- > 0 ? 'the store has this change once' : undefined);
}

/** Why another line, or none, is right. Undefined if it is not. */
function reasonFor(
  line: Line,
  instead: Line | undefined,
  printed: readonly Line[],
  facts: OutputFacts,
): string | undefined {
  const { shows } = facts.fault;
  if (instead && already.test(instead.text) && facts.isStoreEqual) return 'the store has this change once';
  if (isStepOf(line, printed)) return 'its last step was printed';
  if (shows === 'pages' && facts.readsListsToEnd) return 'the program read the list as far as without faults';
  if (shows === 'older state') return 'the responses show older state';
  if (shows === 'fewer events' && !facts.restartsStream) return 'the service no longer had these events';
  if (shows === 'another status' && line.tokens.some((token) => toUnknownStatus(token) !== token))
    return 'the responses show another status';
  if (!instead) return undefined;
  if (shows === 'more fields' && isWithin(line.tokens, instead.tokens))
    return 'the responses show more fields';
  const differing = differingIn(line, instead);
  if (!differing) return undefined;
  const reasons = differing.map((at) => reasonForToken(line.tokens, instead.tokens, at, facts));
  return reasons.includes(undefined) ? undefined : [...new Set(reasons)].join(', ');
}

const units =
  'request|attempt|try|tries|retry|retries|call|connection|page|byte|kb|mb|kib|mib|ms|s|sec|second|m|min|minute|h|hour|time';
const unit = new RegExp(`^(?:${units})(?:s|es)?$`, 'i');
const isUnit = (token: string | undefined) => token !== undefined && unit.test(token);
const isNumber = (token: string | undefined) => token !== undefined && /^\d/.test(token);
const namesOfLimits = /limit|remain|left|reset|quota/i;

/** Why a token may differ at this place. */
function reasonForToken(
  was: readonly string[],
  is: readonly string[],
  at: number,
  { fault, isLimit, isSameThing, others }: OutputFacts,
): string | undefined {
  const [before, now] = [was[at] as string, is[at] as string];
  if (isUnit(before) && isUnit(now)) return 'it counts requests or time';
  if (!isNumber(before) || !isNumber(now)) return isOthers(before, now, fault, others);
  if ([at - 1, at + 1].some((beside) => isUnit(is[beside]))) return 'it counts requests or time';
  const countsThings = Object.values(plurals).includes((is[at + 1] ?? '').toLowerCase());
  if (isSameThing(before, now) && !countsThings) return 'the same thing has another id';
  if (isLimit(before, now) && was.some((token) => namesOfLimits.test(token)))
    return 'it is the limit of this run';
  return isOthers(before, now, fault, others);
}

/** Whether another writer's change explains a value: it is the new value, or a number that changed by as much. */
function isOthers(was: string, is: string, { shows }: Pick<Fault, 'shows'>, others: readonly OtherChange[]) {
  if (shows !== 'changes of another writer') return undefined;
  const isTheirs = others.some(
    ({ before = '', after }) =>
      after.includes(is) ||
      before.includes(was) ||
      Number(is) - Number(was) === Number(after) - Number(before),
  );
  return isTheirs ? 'another writer changed it' : undefined;
}

/** Whether a line counts steps, such as `3/5`, and its last step, `5/5`, was printed. */
function isStepOf({ tokens }: Line, printed: readonly Line[]): boolean {
  const slash = tokens.findIndex(
    (token, i) => token === '/' && isNumber(tokens[i - 1]) && isNumber(tokens[i + 1]),
  );
  if (slash === -1) return false;
  const last = tokens.with(slash - 1, tokens[slash + 1] as string).join(' ');
  return printed.some((line) => line.key === last);
}

/** Whether all tokens occur among others, in their order. */
function isWithin(tokens: readonly string[], others: readonly string[]): boolean {
  let at = 0;
  for (const token of others) if (token === tokens[at]) at++;
  return at === tokens.length;
}

/** The extra lines that repeat an expected one. */
function repeated(expected: readonly Line[], extra: readonly Line[]): Line[] {
  const keys = new Set(expected.map(({ key }) => key));
  return extra.filter(({ key }) => keys.has(key));
}

/** The most sentences, and characters of a line that they show. */
const [maxSentences, maxShownLength] = [10, 120];

function bounded(sentences: readonly string[]): string[] {
  const rest = sentences.length - maxSentences;
  return rest > 0
    ? [...sentences.slice(0, maxSentences), `and ${counted(rest, 'more line')}`]
    : [...sentences];
}

const quoted = (line: string) => `"${safeText(line, maxShownLength)}"`;
