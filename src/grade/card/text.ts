import { styleText } from 'node:util';
import { type Cell, escapeTerminal, toColumns } from '../../foundation/terminal-text.ts';
import { counted, cut } from '../../foundation/words.ts';
import type { Changes } from '../card-schema.ts';
import { type Ending, withoutFaults } from '../grade.ts';
import type { Rank } from '../verdict.ts';
import {
  type Card,
  type CardFinding,
  type CardProblem,
  type CardRow,
  type Evidence,
  rankOfFault,
} from './card.ts';
import { allFaults, type Passed } from './trials.ts';
import { changeInWords, gaveUpInWords, howEndedWhen, rankMarks, verdictInWords } from './words.ts';

/** The longest summary, in lines. */
export const maxSummaryLines = 40;
/** The maximum number of lines for each part of the summary. The remaining lines are for problems. */
const maxLines = { title: 1, ending: 12, fact: 2, survived: 6, passed: 8, changes: 9, verdict: 3, head: 2 };
/** How many requests of a finding are shown: in the summary, and in the details. */
const [maxEvidence, maxEvidenceInDetails] = [4, 20];
/** How many excused lines are shown. The JSON has all. */
const maxExcused = 3;
/** The longest texts, in characters. */
const [maxText, maxTarget] = [240, 40];

const styles = {
  'must-fix': 'red',
  'should-fix': 'yellow',
  survived: 'green',
  'not-reached': 'dim',
} as const;
const verdictStyles = { passed: 'green', failed: 'red', incomplete: 'yellow' } as const;

const markOf = (rank: Rank) => ({ text: rankMarks[rank], style: styles[rank] });

/** A card for a terminal: a summary of at most 40 lines, below a table of all runs and their findings if `isVerbose`. */
export const toText = (card: Card, { isVerbose = false } = {}): string =>
  [...(isVerbose ? details(card) : []), summary(card)].join('\n\n');

type RowInWords = Pick<CardRow, 'rank' | 'name' | 'word' | 'happened'>;

/** A run on one line. `nameWidth`: the length of the longest name. */
export function lineOf(row: RowInWords, nameWidth: number): string {
  const room = ['', ''.padEnd(nameWidth), ''.padEnd(verdictWidth), ''];
  const lines = toColumns([cellsOf(row), room], { width: Number.POSITIVE_INFINITY });
  return lines.split('\n')[0] as string;
}

const verdictWidth = verdictInWords({ verdict: 'failed', exitStatus: 1 }).length;

function cellsOf({ rank, name, word, happened }: RowInWords): Cell[] {
  return [markOf(rank), name, { text: word, style: styles[rank] }, cut(happened, maxText)];
}

function summary(card: Card): string {
  const { grade, runs, changes } = card;
  const title = `Report card of ${escapeTerminal(cut(grade.command.join(' '), maxText))}`;
  const begin = [styleText('bold', title), ...clipped(linesOf([[runs]]), maxLines.title)];
  const end = [
    grade.baseline.problem === undefined
      ? factLines(card)
      : clipped(linesOf(endingRows(grade.baseline)), maxLines.ending),
    ...(card.passed.length > 0 ? [clipped(passedLines(card), maxLines.passed)] : []),
    changes ? clipped(changeLines(changes, grade.verdict), maxLines.changes) : [],
    verdictLines(card),
  ];
  const used = [begin, ...end].reduce((sum, lines) => sum + lines.length + 1, 0);
  return [begin, fitted(card.problems, maxSummaryLines - used), ...end]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** Problems in at most `room` lines, the worst first, with its cause. The others get theirs only if there is room. */
function fitted(problems: readonly CardProblem[], room: number): string[] {
  const heads = problems.map((problem) => clipped(headLines(problem), maxLines.head));
  const [worst, ...others] = heads;
  if (!worst) return [];
  const cause = (index: number) => causeLines(problems[index] as CardProblem, maxEvidence);
  const first = clipped([...worst, ...cause(0)], room - 1);
  let left = room - first.length;
  if (others.flat().length > left) left--;
  const shown = others.filter((_, i) => others.slice(0, i + 1).flat().length <= left);
  left -= shown.flat().length;
  const blocks = shown.map((lines, i) => {
    const more = cause(i + 1);
    if (more.length > left) return lines;
    left -= more.length;
    return [...lines, ...more];
  });
  const more = others.length - shown.length;
  return [...first, ...blocks.flat(), ...(more > 0 ? [styleText('dim', `${more} more: --verbose`)] : [])];
}

function headLines({ rank, title, what, where, alsoAt }: CardProblem): string[] {
  const also = alsoAt.length > 0 ? ` and in ${counted(alsoAt.length, 'more run')}` : '';
  const text = cut(what === '' ? title : `${title}: ${what}`, maxText);
  const head = { text: `${text} (${where}${also})`, style: 'bold' } as const;
  return linesOf([[markOf(rank), head]]);
}

/** The requests behind a finding, what the service did, what a good client does, and what to change. */
function causeLines({ evidence, service, goodClient, change }: CardFinding, most: number): string[] {
  const shown = evidence.slice(0, most).map(requestCells);
  const more = evidence.length - shown.length;
  const facts = [
    ['The service', service],
    ['A good client', goodClient],
    ['Fix', change],
  ].filter(([, text]) => text !== undefined);
  const indent = '   ';
  return [
    ...(shown.length > 0 ? linesOf(shown, indent) : []),
    ...(more > 0 ? [`${indent}and ${counted(more, 'more request')}`] : []),
    ...(facts.length > 0 ? linesOf(facts as Cell[][], indent) : []),
  ];
}

function requestCells({ id, at, method, target, key, outcome, isAffected }: Evidence): Cell[] {
  const known = key ?? (method === 'POST' ? 'no key' : '');
  return [`#${id}`, at, outcome, isAffected ? 'fault' : '', known, `${method} ${cut(target, maxTarget)}`];
}

function factLines(card: Card): string[] {
  const { grade, rows, refused, notes, problems, advice, excused } = card;
  const faultsBy = (rank: Rank) => {
    const names = grade.faults.map(({ fault }) => fault).filter((name) => rankOfFault(name, card) === rank);
    return names.length > 0 ? `${counted(names.length, 'fault')}: ${names.join(', ')}` : '';
  };
  const silent = rows.flatMap(({ name, run }) => {
    const words = run && gaveUpInWords(run);
    return words === undefined ? [] : [`${name}: ${words}`];
  });
  const refusals = refused.map(({ id, method, target, outcome }) => `#${id} ${method} ${target}: ${outcome}`);
  const facts = [
    ['Survived', faultsBy('survived')],
    ['Not tried', faultsBy('not-reached')],
    ['Timeouts', silent.join('; ')],
    ['Refused', refusals.length > 0 ? `${withoutFaults}: ${cut(refusals.join('; '), maxText)}` : ''],
    ...notes.map((note) => ['Note', cut(note, maxText)]),
    ...excused.slice(0, maxExcused).map((line, i) => [i === 0 ? 'Excused' : ' ', cut(line, maxText)]),
    [
      '',
      excused.length > maxExcused ? `and ${counted(excused.length - maxExcused, 'more line')}: --json` : '',
    ],
    ...advice.map((text) => ['Advice', cut(text, maxText)]),
  ].filter(([, text]) => text !== '') as [string, string][];
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.flatMap(([name, text]) => {
    const most = name === 'Survived' && problems.length === 0 ? maxLines.survived : maxLines.fact;
    return clipped(linesOf([[name.padEnd(width), text]]), most);
  });
}

/** How often an agent passed: without faults, under all faults, and under each fault that it did not always survive, the worst first. */
function passedLines({ passed, grade: { goal } }: Card): string[] {
  const trials = goal?.trials ?? 1;
  const shown = [...new Set([1, trials])];
  const chanceOf = ({ passHat }: Passed) => passHat.at(-1) ?? 0;
  const isWhole = ({ name }: Passed) => name === withoutFaults || name === allFaults;
  const lost = passed.filter((one) => !isWhole(one) && one.passed < one.reached);
  const rows = [...passed.filter(isWhole), ...lost.toSorted((a, b) => chanceOf(a) - chanceOf(b))].map(
    (one) => [
      ...[one.name, `${one.passed} of ${one.reached}`],
      ...shown.map((k) => one.passHat[k - 1]?.toFixed(2) ?? '–'),
    ],
  );
  const head = ['', 'PASSED', ...shown.map((k) => `PASS^${k}`)];
  const note =
    trials > 1 ? [`PASS^${trials} is the probability that ${trials} trials in a row all pass.`] : [];
  return [...note, ...linesOf([head, ...rows])];
}

function changeLines({ since, before, note, ...changes }: Changes, verdict: string): string[] {
  const rows = (['worse', 'better', 'new', 'gone'] as const)
    .filter((what) => changes[what].length > 0)
    .map((what) => {
      const words = changes[what].map((change) => `${change.name}: ${changeInWords(change)}`);
      return [what.padEnd(6), `${words.length}: ${words.join('; ')}`];
    });
  const title = `Since ${since.slice(0, 16).replace('T', ' ')} UTC: ${before} → ${verdict}.`;
  const same = rows.length === 0 ? 'No run and no check changed.' : undefined;
  return [
    ...linesOf([[[title, note, same].filter((text) => text !== undefined).join(' ')]]),
    ...rows.flatMap((row) => clipped(linesOf([row]), maxLines.fact)),
  ];
}

function verdictLines({ grade: { verdict }, sentence, next }: Card): string[] {
  const name = { text: `Verdict: ${verdict}`, style: ['bold', verdictStyles[verdict]] as const };
  return [
    ...clipped(linesOf([[name as Cell, sentence]]), maxLines.verdict),
    // It is never cut, because users copy it.
    ...next.map((line, i) => `${i < next.length - 1 ? 'Read more: ' : 'Run again: '}${escapeTerminal(line)}`),
  ];
}

/** A table of all runs, then the findings of each run. */
function details({ rows, baseline, grade }: Card): string[] {
  if (grade.baseline.problem !== undefined) return [];
  const head = ['', 'RUN', 'VERDICT', 'WHAT HAPPENED'].map((text) => ({ text, style: 'bold' as const }));
  return [
    toColumns([head, ...rows.map(cellsOf)]),
    ...(baseline.length > 0
      ? [[styleText('bold', withoutFaults), ...findingLines(baseline)].join('\n')]
      : []),
    ...rows.filter(({ findings }) => findings.length > 0).map(rowDetails),
  ];
}

function rowDetails({ rank, name, word, required, run, findings, again }: CardRow): string {
  return [
    styleText([styles[rank], 'bold'], `${name}: ${word} (${required ? 'required' : 'recommended'})`),
    ...(run && run.exitStatus !== 0 ? linesOf(endingRows(run), '  ') : []),
    ...findingLines(findings),
    `  ${escapeTerminal(again)}`,
  ].join('\n');
}

const findingLines = (findings: readonly CardFinding[]) =>
  findings.flatMap((finding) => {
    const head = linesOf([[markOf(finding.rank), `${finding.title}: ${finding.what}`]]);
    return [...head, ...causeLines(finding, maxEvidenceInDetails)];
  });

const endingRows = (ending: Ending): Cell[][] => [
  ['Ended', howEndedWhen(ending)],
  ...ending.lastLines.slice(-10).map((line, i) => [i === 0 ? 'Output' : '', escapeTerminal(line)]),
];

const linesOf = (rows: Cell[][], indent = '') => toColumns(rows, { indent }).split('\n');

const clipped = (lines: string[], most: number) =>
  lines.length > most ? [...lines.slice(0, most - 1), `${lines[most - 1]} …`] : lines;
