import { checks } from '../lab/report/checks/all.ts';
import type { CheckResult } from '../lab/report/report.ts';
import { withoutSecrets } from '../redact.ts';
import type { Baseline, Ending, FaultGrade, Grade, Verdict } from './grade.ts';
import { isFailing } from './verdict.ts';

/** What a fault asks of who wrote the program, the most urgent first. */
export const ranks = ['mend', 'advised', 'survived', 'not-reached'] as const;
export type Rank = (typeof ranks)[number];

/** What there is to say of a fault. */
export interface Entry extends FaultGrade {
  rank: Rank;
  /** The checks that failed because of it, the required ones first. */
  failures: CheckResult[];
  /** What happened, in few words. */
  happened: string;
}

/** A recommended check that failed whatever the fault was. */
export interface Advice {
  check: CheckResult;
  /** In how many of the runs it failed, and what was seen in the first of them, in sentences. */
  because: string;
}

/** What its reader may want to type. */
export interface CommandLines {
  /** Grades the program again: under one fault, or under those it was graded under. */
  again(fault?: string): string;
  /** Tells all about a fault. */
  about(fault: string): string;
}

/** A grade as all presentations tell it. */
export interface Card extends CommandLines {
  grade: Grade;
  /** The faults in the order of what they ask for. */
  entries: Entry[];
  /** The required checks that fail without any fault. They are not held against the runs under faults once more. */
  failures: CheckResult[];
  advice: Advice[];
  /** The verdict in a sentence or two. */
  sentence: string;
  /** What to do next: command lines. */
  next: string[];
  /** When the program was graded. */
  atMs: number;
}

export const verdictWords: Record<Verdict, string> = {
  survived: 'survived',
  'changed-the-store': 'changed the store',
  failed: 'failed',
  hung: 'hung',
  'not-reached': 'not reached',
};

/** A grade without secrets: of the command line, for one, nobody knows what it holds. */
export const withoutSecretsIn = <T>(grade: T): T =>
  JSON.parse(JSON.stringify(grade), (_, value) =>
    typeof value === 'string' ? withoutSecrets(value) : value,
  );

/** Prepares what there is to say of a grade. */
export function toCard(graded: Grade, atMs: number, lines: CommandLines): Card {
  const grade = withoutSecretsIn(graded);
  const failures = failuresOf(grade.baseline);
  const entries = grade.faults
    .map((fault) => toEntry(fault, failures))
    .toSorted((a, b) => ranks.indexOf(a.rank) - ranks.indexOf(b.rank));
  const [first] = entries.filter(({ rank }) => rank === 'mend' || rank === 'advised');
  return {
    ...{ grade, entries, failures, atMs, ...lines },
    advice: adviceOf(grade),
    sentence: sentenceOf(grade, entries, failures),
    next: first ? [lines.about(first.fault), lines.again(first.fault)] : [],
  };
}

/** The required checks that fail without any fault. */
export const failuresOf = ({ checks }: Baseline) =>
  checks.filter((check) => hasFailed(check) && isRequired(check));

/** What there is to say of a fault, given the checks that fail without it, too. */
export function toEntry(fault: FaultGrade, known: readonly CheckResult[]): Entry {
  const names = known.map(({ name }) => name);
  const failed = fault.checks.filter(
    (check) =>
      hasFailed(check) && !names.includes(check.name) && (isRequired(check) || isOf(check, fault.fault)),
  );
  const failures = [...failed.filter(isRequired), ...failed.filter((check) => !isRequired(check))];
  return { ...fault, rank: rankOf(fault, failures), failures, happened: happened(fault, failures) };
}

const isRequired = ({ level }: CheckResult) => level === 'required';
const hasFailed = ({ result }: CheckResult) => result === 'failed';

/** Whether a program did not survive a fault that it reached. */
const isLost = ({ verdict }: FaultGrade) => verdict !== 'survived' && verdict !== 'not-reached';

/** Whether a fault brings about what a check judges. */
const isOf = ({ name }: CheckResult, fault: string | undefined) =>
  checks.some((check) => check.name === name && check.faults.some((one) => one === fault));

function rankOf(fault: FaultGrade, failures: readonly CheckResult[]): Rank {
  if (isFailing(fault) || failures.some(isRequired)) return 'mend';
  if (isLost(fault) || failures.length > 0) return 'advised';
  return fault.verdict === 'survived' ? 'survived' : 'not-reached';
}

function happened(fault: FaultGrade, failures: readonly CheckResult[]): string {
  const [first, ...others] = fault.difference;
  const difference = others.length > 0 ? `${first} (+${others.length})` : first;
  const what = {
    survived: undefined,
    'changed-the-store': difference,
    failed: `exit ${fault.exitStatus}`,
    hung: howEnded(fault),
    'not-reached': 'the fault was never performed',
  }[fault.verdict];
  return [what, breaks(failures)].filter((text) => text !== undefined).join('; ');
}

/** Names checks that failed. */
export const breaks = (failures: readonly CheckResult[]) =>
  failures.length > 0 ? `breaks ${failures.map(({ name }) => name).join(', ')}` : undefined;

function adviceOf({ baseline, faults }: Grade): Advice[] {
  const runs = [{ fault: undefined, checks: baseline.checks }, ...faults];
  const found = runs.flatMap(({ fault, checks }) =>
    checks
      .filter((check) => hasFailed(check) && !isRequired(check) && !isOf(check, fault))
      .map((check) => ({ check, fault })),
  );
  return [...Map.groupBy(found, ({ check }) => check.name).values()].map((group) => {
    const [{ check, fault }] = group as [(typeof found)[number]];
    const first = fault === undefined ? 'without any fault' : `under ${fault}`;
    return { check, because: `In ${group.length} of ${runs.length} runs; ${first}: ${check.because}` };
  });
}

function sentenceOf({ baseline, verdict }: Grade, entries: Entry[], failures: CheckResult[]): string {
  if (baseline.problem !== undefined) return baseline.problem;
  if (verdict === 'incomplete') return 'The program reached no fault, so nothing is proved.';
  const unreached = entries.filter((entry) => entry.verdict === 'not-reached').length;
  const end = unreached > 0 ? ` Not reached: ${unreached} of ${entries.length}.` : '';
  if (verdict === 'passed')
    return `Every required fault that was reached was survived, no store was changed, and no required check failed.${end}`;
  const required = entries.filter((entry) => entry.required);
  const silent = entries.filter((entry) => !entry.required && isFailing(entry)).length;
  const changed = silent > 0 ? ` Changed the store under ${silent} more.` : '';
  const failing = entries.filter((entry) => entry.failures.some(isRequired)).length;
  const always = failures.length > 0 ? ` Without any fault, the program ${breaks(failures)}.` : '';
  return `Not survived: ${required.filter(isLost).length} of ${required.length} required faults.${changed} Required checks failed under ${failing} of ${entries.length} faults.${always}${end}`;
}

/** How a program ended. */
export const howEnded = ({ exitStatus, tookMs }: Ending) =>
  exitStatus === undefined ? `did not end within ${duration(tookMs)}` : `exit status ${exitStatus}`;

/** The same, and after which time. */
export const howEndedWhen = (ending: Ending) =>
  ending.exitStatus === undefined ? howEnded(ending) : `${howEnded(ending)} after ${duration(ending.tookMs)}`;

/** Whether how the program ended, and what it wrote last, tells what went wrong. */
export const isTelling = ({ verdict }: FaultGrade) => verdict === 'failed' || verdict === 'hung';

/** How long something took, as people say it. */
export const duration = (ms: number) =>
  ms < 100 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(ms < 10_000 ? 2 : 0))} s`;
