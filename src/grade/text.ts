import { styleText } from 'node:util';
import { type Cell, toColumns } from '../columns.ts';
import { outcomeOf } from '../lab/attempts.ts';
import type { CheckResult } from '../lab/report/report.ts';
import { printable } from '../printable.ts';
import {
  breaks,
  type Card,
  duration,
  type Entry,
  howEndedWhen,
  isTelling,
  type Rank,
  verdictWords,
} from './card.ts';
import type { Ending, FaultGrade } from './grade.ts';

/** So many differences, last lines of a program, and requests of a check are shown, and so much of their targets. */
const [maxDifferences, maxLines, maxRequests, maxTarget] = [6, 10, 6, 40];
const verdictWidth = Math.max(...Object.values(verdictWords).map(({ length }) => length));

const looks = {
  mend: { mark: '✗', style: 'red' },
  advised: { mark: '!', style: 'yellow' },
  survived: { mark: '✓', style: 'green' },
  'not-reached': { mark: '–', style: 'dim' },
} as const satisfies Record<Rank, object>;

const verdictStyles = { passed: 'green', failed: 'red', incomplete: 'yellow' } as const;

/** A grade for a terminal: a line for each fault, those that must be mended first, then what there is to say of these. */
export function toText(card: Card): string {
  const { grade, entries, failures } = card;
  const title = styleText('bold', `Report card of ${printable(grade.command.join(' '))}`);
  if (grade.baseline.problem !== undefined)
    return [title, toColumns(endingRows(grade.baseline)), verdictText(card)].join('\n\n');
  const told = new Set<string>();
  return [
    title,
    table(card),
    ...(failures.length > 0 ? [failuresText('without any fault', failures, told)] : []),
    ...entries
      .filter(({ rank }) => rank === 'mend' || rank === 'advised')
      .map((entry) => entryText(entry, told)),
    ...adviceText(card),
    ...notComparedText(card),
    verdictText(card),
    ...nextText(card),
  ].join('\n\n');
}

/** A fault in a line, as the card has it, with room for names of this length. */
export function lineOf(entry: Entry, nameWidth: number): string {
  const room = ['', ''.padEnd(nameWidth), ''.padEnd(verdictWidth), ''];
  const lines = toColumns([rowOf(entry), room], { width: Number.POSITIVE_INFINITY });
  return lines.split('\n')[0] as string;
}

function rowOf({ fault, verdict, rank, happened }: Entry): Cell[] {
  const { mark, style } = looks[rank];
  const verdictStyle = verdict === 'survived' ? 'green' : style;
  return [{ text: mark, style }, fault, { text: verdictWords[verdict], style: verdictStyle }, happened];
}

function table({ entries, failures }: Card): string {
  const head = ['', 'FAULT', 'VERDICT', 'WHAT HAPPENED'].map((text) => ({ text, style: 'bold' as const }));
  const { mark, style } = looks.mend;
  const baseline =
    failures.length > 0 ? [[{ text: mark, style }, 'without any', '', breaks(failures) as string]] : [];
  const rows = toColumns([head, ...baseline, ...entries.map(rowOf)]);
  const isAdvised = entries.some(({ rank }) => rank === 'advised');
  return isAdvised ? `${rows}\n${styleText('dim', '✗ must be mended, ! had better be mended')}` : rows;
}

/** What there is to say of a fault. Advice that stands further up already is not repeated. */
function entryText(entry: Entry, told: Set<string>): string {
  const { fault, verdict, rank, required, difference, failures, requests } = entry;
  const title = `${fault}: ${verdictWords[verdict]} (${required ? 'required' : 'recommended'})`;
  const rows: Cell[][] = [...differenceRows(difference), ...(isTelling(entry) ? endingRows(entry) : [])];
  return [
    styleText([looks[rank].style, 'bold'], title),
    ...(rows.length > 0 ? [toColumns(rows, { indent: '  ' })] : []),
    ...failures.map((check) => checkText(check, told, requests)),
  ].join('\n');
}

function differenceRows(difference: readonly string[]): Cell[][] {
  const more = difference.length - maxDifferences;
  const shown = [...difference.slice(0, maxDifferences), ...(more > 0 ? [`and ${more} more`] : [])];
  return shown.map((sentence, i) => [i === 0 ? 'Store' : '', sentence]);
}

const failuresText = (title: string, failures: CheckResult[], told: Set<string>) =>
  [styleText(['red', 'bold'], title), ...failures.map((check) => checkText(check, told))].join('\n');

const endingRows = (ending: Ending): Cell[][] => [
  ['Ended', howEndedWhen(ending)],
  ...ending.lastLines.slice(-maxLines).map((line, i) => [i === 0 ? 'Wrote' : '', printable(line)]),
];

/** A failed check, the attempts that show it, and what to do about it. */
function checkText(check: CheckResult, told: Set<string>, requests: FaultGrade['requests'] = []): string {
  const { name, level, because, advice } = check;
  const startMs = Date.parse(requests[0]?.at ?? '');
  const shown = requests.filter(({ id }) => check.evidence.includes(id)).slice(0, maxRequests);
  const attempts = shown.map((request) => {
    const { id, at, method, target, gapMs, fault } = request;
    const gap = gapMs === undefined ? '' : `after ${duration(gapMs)}`;
    const place = `+${((Date.parse(at) - startMs) / 1_000).toFixed(2)} s`;
    return [`#${id}`, place, outcomeOf(request).word, gap, fault ? 'fault' : '', `${method} ${cut(target)}`];
  });
  const isNew = !told.has(name);
  told.add(name);
  const indent = '    ';
  return [
    `  ${styleText('bold', name)}${level === 'required' ? '' : ` (${level})`}`,
    toColumns([[because]], { indent }),
    ...(attempts.length > 0 ? [toColumns(attempts, { indent })] : []),
    ...(isNew ? [toColumns([['To do:', advice]], { indent })] : []),
  ].join('\n');
}

const cut = (target: string) => (target.length > maxTarget ? `${target.slice(0, maxTarget)}…` : target);

function adviceText({ advice }: Card): string[] {
  if (advice.length === 0) return [];
  const rows = advice.flatMap(({ check, because }): Cell[][] => [
    [{ text: check.name, style: 'yellow' }, because],
    ['', check.advice],
  ]);
  return [`${styleText('bold', 'Recommended, whatever the fault')}\n${toColumns(rows, { indent: '  ' })}`];
}

const notComparedText = ({ grade: { notCompared } }: Card) =>
  notCompared.length > 0
    ? [toColumns([[`Not compared, as it differs without any fault, too: ${notCompared.join('; ')}.`]])]
    : [];

const verdictText = ({ grade: { verdict }, sentence }: Card) =>
  toColumns([[{ text: `Verdict: ${verdict}`, style: ['bold', verdictStyles[verdict]] }, sentence]]);

const nextText = ({ next }: Card) =>
  next.length > 0
    ? [
        ['Next: what the first is about, and that fault alone once more.', ...next.map(printable)].join(
          '\n  ',
        ),
      ]
    : [];
