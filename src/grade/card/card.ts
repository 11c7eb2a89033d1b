import { withoutSecrets } from '../../foundation/redact.ts';
import { capitalized, counted, cut, inSeconds } from '../../foundation/words.ts';
import { attemptsBounded } from '../../lab/checks/backoff.ts';
import { checks as catalogue } from '../../lab/checks/list.ts';
import type { CheckResult } from '../../lab/checks/report-schema.ts';
import { faults as catalogueOfFaults, faultNamed } from '../../lab/faults/list.ts';
import { type Fault, levels, onlyDirect } from '../../lab/faults/shared/fault.ts';
import { outcomeOf } from '../../lab/recordings/outcome-kinds.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import { type CardRun, type Changes, ranks } from '../card-schema.ts';
import { changeForStream } from '../compare/explain.ts';
import { cutNote } from '../compare/printed-lines.ts';
import {
  type Baseline,
  type Deviation,
  type FaultGrade,
  type FaultRun,
  type Grade,
  isAffectedBy,
  mapStrings,
  type Verdict,
  withoutFaults,
} from '../grade.ts';
import { gradesOfTrials, isUndoneByHung, kindVerdicts, type Rank, rankOf, severity } from '../verdict.ts';
import { type Passed, passedOf } from './trials.ts';
import { errorLine, gaveUpInWords, howEnded, useOf, verdictInWords, verdictWords } from './words.ts';

/** A request behind a finding. */
export interface Evidence {
  id: string;
  /** The time since the first request of the run: `+0.52 s`. */
  at: string;
  method: string;
  target: string;
  /** The first characters of its `Idempotency-Key`. */
  key?: string;
  /** The status, or how it ended without one. */
  outcome: string;
  isAffected: boolean;
}

/** Something that a run did wrong, with its cause. */
export interface CardFinding extends Omit<CardRun['findings'][number], 'requests' | Remedy> {
  evidence: Evidence[];
  service?: string | undefined;
  goodClient?: string | undefined;
  change?: string | undefined;
}
type Remedy = 'service' | 'goodClient' | 'change';

/** The same finding in one or several runs, as described in the first of them. */
export interface CardProblem extends CardFinding {
  /** The other places where it happened. */
  alsoAt: string[];
}

/** A run under a fault on the card. */
export interface CardRow {
  fault: string;
  required: boolean;
  /** Undefined if the fault fits none of the program's operations. */
  run?: FaultRun;
  verdict: Verdict;
  rank: Rank;
  /** Unique and stable: `lost-answer, first use`. */
  name: string;
  /** The verdict in words. */
  word: string;
  happened: string;
  /** What it did wrong, without the checks that also fail without faults. */
  findings: CardFinding[];
  again: string;
}

/** Command lines that the card suggests. */
export interface CommandLines {
  /** Grades the program again: as `--fault` selects, or under all faults of the card. */
  again(selector?: string): string;
  /** Describes a fault. */
  about(fault: string): string;
}

/** A grade, prepared for every presentation. */
export interface Card {
  grade: Grade;
  /** The runs under faults, in the order of their ranks. With a goal, those without faults are among them. */
  rows: CardRow[];
  /** What failed checks show without faults. */
  baseline: CardFinding[];
  /** All findings, the worst first. Equal findings are one problem. */
  problems: CardProblem[];
  /** The verdict in a sentence or two. */
  sentence: string;
  /** The number of runs, in words. */
  runs: string;
  /** With a goal: how often the program passed. */
  passed: Passed[];
  /** Sentences about what this grade does not show. */
  notes: string[];
  /** Printed lines that differ for a good reason, each with its run. */
  excused: string[];
  /** What few clients do, a line for each habit that this one lacks. */
  advice: string[];
  /** Requests of the run without faults that the service refused. */
  refused: Evidence[];
  /** The command lines to run next. */
  next: string[];
  /** Grades the program again under all faults of the card. */
  again: string;
  atMs: number;
  /** What changed since an earlier card. */
  changes?: Changes;
}

/** Prepares a grade for presentation. `atMs`: when the program was graded. */
export function toCard(graded: Grade, atMs: number, lines: CommandLines): Card {
  // The command line may contain secrets, for example.
  const grade = mapStrings(graded, withoutSecrets);
  const { baseline, faults, notCompared, goal } = grade;
  const known = failedChecks(baseline.checks).map(({ name }) => name);
  const rows = [...gradesOfTrials(baseline), ...faults]
    .flatMap((fault) => rowsOf(fault, known, lines))
    .toSorted((a, b) => urgency(a.rank, a.verdict) - urgency(b.rank, b.verdict));
  const ofBaseline = failedChecks(baseline.checks).map((check) =>
    ofCheck(check, baseline.requests, { where: withoutFaults, again: lines.again() }),
  );
  const problems = grouped([...ofBaseline, ...rows.flatMap(({ findings }) => findings)], goal);
  const [worst] = problems;
  return {
    ...{ grade, rows, problems, atMs },
    baseline: ofBaseline,
    sentence: sentenceOf(grade, rows, problems),
    runs: runsInWords(grade, rows),
    passed: passedOf(grade),
    notes: [
      grade.isQuick &&
        `Quick: ${counted(catalogueOfFaults.length - faults.length, 'fault')}, and later uses of each operation, were not run.`,
      baseline.nothingToCompare && 'Nothing to compare, so a survived run only means exit status 0.',
      notCompared.length > 0 &&
        `Not compared, because it also varies without faults: ${notCompared.join('; ')}.`,
    ].filter((note) => typeof note === 'string'),
    excused: rows.flatMap(({ name, run }) => (run?.excused ?? []).map((line) => `${name}: ${line}`)),
    advice: adviceOn(grade),
    refused: baseline.refused.map((one) => refusal(one, baseline)),
    next: worst ? [...(worst.fault ? [lines.about(worst.fault)] : []), worst.again] : [],
    again: lines.again(),
  };
}

function rowsOf(grade: FaultGrade, known: readonly string[], lines: CommandLines): CardRow[] {
  const { fault, required, runs } = grade;
  if (runs.length === 0) {
    const none = { verdict: 'not-reached', rank: 'not-reached', word: verdictWords['not-reached'] } as const;
    const happened = 'fits no operation that the program uses';
    return [{ fault, required, ...none, name: fault, happened, findings: [], again: lines.again(fault) }];
  }
  return runs.map((run) => {
    const { name, verdict } = run;
    const rank = rankOf({ ...run, required });
    return {
      ...{ fault, required, run, verdict, rank, name, word: verdictInWords(run), happened: happened(run) },
      findings: verdict === 'not-reached' ? [] : findingsOf(fault, rank, run, known, lines),
      again: lines.again(useOf(fault, run).selector),
    };
  });
}

/** The rank of the worst row of a fault. A run that survived may have broken a rule: then it must be fixed, too. */
export function rankOfFault(fault: string, { rows }: Pick<Card, 'rows'>): Rank {
  const own = rows.filter((row) => row.fault === fault);
  const found = own.map(({ rank, findings }) =>
    findings.some((finding) => finding.rank === 'must-fix') ? 'must-fix' : rank,
  );
  return ranks.find((rank) => found.includes(rank)) ?? 'not-reached';
}

/** What happened in a run, in a few words. */
export function happened(run: FaultRun): string {
  const found = run.deviations.filter(({ isWarning }) => !isWarning);
  const first = found.find(({ kind }) => kindVerdicts[kind] === run.verdict) ?? found[0];
  const undone = run.deviations.find(isUndoneByHung);
  const last = run.exitStatus === 0 ? run.lastWords : errorLine(run.lastLines);
  const deviation = first && found.length > 1 ? `${first.what} (+${found.length - 1})` : first?.what;
  // A program may give up under some faults.
  const gaveUp = run.exitStatus !== 0 || run.goalReached === false;
  const what = {
    survived: gaveUp ? `gave up after ${counted(run.performed, 'failure')}` : undefined,
    'not-reached': 'the fault was never performed',
    failed: `${last || 'it printed nothing'}${run.goalReached ? '; the goal is reached, though' : ''}`,
    hung: `${howEnded(run)}${undone ? `, with work not done: ${undone.what}` : ''}`,
  }[run.verdict as string];
  return [what ?? deviation, gaveUpInWords(run)].filter((text) => text !== undefined).join('; ');
}

/** What a run did wrong. `known`: the checks that also fail without faults. */
function findingsOf(
  fault: string,
  rankOfRun: Rank,
  run: FaultRun,
  known: readonly string[],
  lines: CommandLines,
): CardFinding[] {
  const about = faultNamed(fault);
  const rank = rankOfRun === 'must-fix' ? 'must-fix' : 'should-fix';
  const at = (ids: readonly string[]) => {
    const { name, selector } = useOf(fault, run, ids);
    // The name of the run itself has the number.
    const isNumbered = run.trial !== undefined && name !== run.name;
    return {
      where: isNumbered ? `${name}, trial ${run.trial}` : name,
      ...(about && { fault }),
      again: lines.again(selector),
    };
  };
  const failed = failedChecks(run.checks).filter(({ name }) => !known.includes(name));
  const isRelevant = ({ name, level }: CheckResult) => level === 'required' || isObservableUnder(name, fault);
  const [advising] = failed
    .filter(isRelevant)
    .toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
  const { advice, level } = advising ?? {};
  const ofChecks = failed.map((check) => ofCheck(check, run.requests, at(check.evidence)));
  // Another deviation explains a missing line, but not what an agent claims.
  const isShown = ({ isWarning, kind }: Deviation) =>
    !isWarning &&
    (!ofOutput.includes(kindVerdicts[kind]) ||
      ofOutput.includes(run.verdict) ||
      run.goalReached !== undefined);
  const ofDeviations = run.deviations.filter(isShown).map((deviation): CardFinding => {
    const { kind, what, requests, service, change } = deviation;
    return {
      rank,
      ...{ kind: kindVerdicts[kind], title: verdictWords[kindVerdicts[kind]], what },
      ...{ evidence: evidenceOf(run.requests, requests, fault), ...at(requests) },
      ...{ service: service ?? doesOf(about), goodClient: about?.goodClient },
      // The advice of a check is more specific, except for something that was done twice.
      change: kind === 'twice' ? change : ((level === 'required' ? advice : undefined) ?? change ?? advice),
    };
  });
  if (run.verdict !== 'failed' && run.verdict !== 'hung') return [...ofDeviations, ...ofChecks];
  const affected = run.requests.filter((request) => isAffectedBy(fault, request)).map(({ id }) => id);
  const refused = run.requests.findLast(
    (request) => Number(request.status) >= 400 && !isAffectedBy(fault, request),
  );
  const behind = [...affected.slice(0, maxAffected), refused?.id, refused?.retryOf];
  const ending: CardFinding = {
    ...{ rank, kind: run.verdict, title: verdictInWords(run), what: happened(run) },
    ...{ evidence: evidenceOf(run.requests, behind, fault), ...at(affected) },
    ...{ service: doesOf(about), goodClient: about?.goodClient },
    change:
      refused?.method === 'DELETE' && refused.status === 404 && refused.retryOf !== undefined
        ? 'Treat 404 after a repeated DELETE as success: the first DELETE removed the resource.'
        : ((run.verdict === 'hung' && level !== 'required' ? undefined : advice) ?? remedyFor(about, run)),
  };
  return [ending, ...ofDeviations, ...ofChecks];
}

/** Verdicts that rest on what the program printed. */
const ofOutput: readonly Verdict[] = [kindVerdicts.printed, kindVerdicts.reported];

/** The maximum number of requests shown as evidence for a program that failed or hung. */
const maxAffected = 12;

/** What to change in a program that failed or hung, if no check has advice. */
function remedyFor(fault: Fault | undefined, { verdict, faults, gaveUpAfterMs }: FaultRun): string {
  if (verdict === 'failed')
    return 'Handle this case instead of exiting, so that the result is the same as without faults.';
  if (fault?.isSilent && !gaveUpAfterMs) return 'Set a timeout for each request that covers the whole body.';
  if (fault?.group === 'Streams') return changeForStream(fault);
  if (faults.some(({ times = 1 }) => times > 1)) return attemptsBounded.advice;
  return 'Make sure that the program ends: limit the attempts, the waits and the pages that it reads.';
}

/** What the service does, without the part for operators. */
const doesOf = (fault: Fault | undefined) => fault?.does.replace(onlyDirect, '').trim();

/** Whether a fault makes a check observable. */
const isObservableUnder = (check: string, fault: string | undefined) =>
  fault !== undefined && catalogue.find(({ name }) => name === check)?.faults.includes(fault) === true;

function ofCheck(
  { name, level, because, evidence, advice }: CheckResult,
  requests: readonly RecordedRequest[],
  at: Pick<CardFinding, 'where' | 'fault' | 'again'>,
): CardFinding {
  const { fault } = at;
  const check = catalogue.find((one) => one.name === name);
  return {
    rank: level === 'required' ? 'must-fix' : 'should-fix',
    ...{ kind: 'check', title: name, what: because, ...at },
    evidence: evidenceOf(requests, evidence, fault),
    service: isObservableUnder(name, fault) ? doesOf(faultNamed(fault ?? '')) : undefined,
    ...{ goodClient: check?.asks, change: advice },
  };
}

const isAdvice = ({ name }: CheckResult) => catalogue.find((one) => one.name === name)?.isAdvice === true;

const failedChecks = (checks: readonly CheckResult[]) =>
  checks.filter((check) => check.result === 'failed' && !isAdvice(check));

/** The advice of checks that failed in any run, once each. */
function adviceOn({ baseline, faults }: Grade): string[] {
  const all = [baseline, ...faults.flatMap(({ runs }) => runs)].flatMap(({ checks }) => checks);
  const failed = all.filter((check) => check.result === 'failed' && isAdvice(check));
  return [
    ...new Set(failed.map(({ name, advice, guide }) => `${name}: ${advice} See the guide “${guide}”.`)),
  ];
}

const shownKeyLength = 8;

/** The requests with these ids. */
function evidenceOf(
  requests: readonly RecordedRequest[],
  ids: readonly (string | undefined)[],
  fault = '',
): Evidence[] {
  const startMs = Date.parse(requests[0]?.at ?? '');
  return requests
    .filter(({ id }) => ids.includes(id))
    .map((request) => ({
      ...{ id: request.id, method: request.method, target: request.target },
      at: `+${inSeconds(Date.parse(request.at) - startMs, 2)}`,
      ...keyOf(request),
      outcome: outcomeOf(request).word,
      isAffected: isAffectedBy(fault, request),
    }));
}

/** The first characters of the `Idempotency-Key` of a request. They distinguish keys, and are not secret. */
export function keyOf({ headers }: Pick<RecordedRequest, 'headers'>): { key?: string } {
  const key = headers['idempotency-key'];
  return key === undefined ? {} : { key: cut(key, shownKeyLength) };
}

function refusal({ id, status, code, operation }: Baseline['refused'][number], { requests }: Baseline) {
  const [evidence] = evidenceOf(requests, [id]);
  const outcome = [status, code].filter((word) => word !== undefined).join(' ');
  const unknown = { id, at: '', method: '', target: operation ?? '', isAffected: false };
  return { ...(evidence ?? unknown), outcome };
}

/** Kinds of findings, the worst first. Failed checks come before hung and failed runs. */
const worstFirst: readonly CardFinding['kind'][] = severity.flatMap((verdict) =>
  verdict === 'hung' ? ['check', verdict] : verdict,
);
const alikeByTitle: readonly CardFinding['kind'][] = ['check', 'hung', 'failed'];

/** Joins equal findings, the worst first. Ignores `what` of the kinds `alike`, because it differs from run to run. */
function grouped(findings: readonly CardFinding[], goal: Grade['goal']): CardProblem[] {
  const alike = [...alikeByTitle, ...(goal ? [kindVerdicts.printed] : [])];
  const keyOf = ({ rank, kind, title, what }: CardFinding) =>
    JSON.stringify([rank, title, alike.includes(kind) || what]);
  const groups = [...Map.groupBy(findings, keyOf).values()] as [CardFinding, ...CardFinding[]][];
  const problems = groups.map(([first, ...others]) => ({
    ...first,
    alsoAt: others.map(({ where }) => where),
  }));
  return problems.toSorted(
    (a, b) => urgency(a.rank, a.kind) - urgency(b.rank, b.kind) || b.alsoAt.length - a.alsoAt.length,
  );
}

/** A number by which to sort, the most urgent first. */
const urgency = (rank: Rank, kind: CardFinding['kind']) =>
  ranks.indexOf(rank) * worstFirst.length + worstFirst.indexOf(kind);

function runsInWords({ runCount, faults, baseline, goal }: Grade, rows: readonly CardRow[]): string {
  if (baseline.problem !== undefined) return `${counted(runCount, 'run')} without faults.`;
  const under = rows.filter(({ run, fault }) => run && fault !== withoutFaults).length;
  const reached = faults.filter(({ runs }) => runs.length > 0).length;
  const each = goal ? ` ${counted(goal.trials, 'trial')} each.` : '';
  return `${counted(runCount, 'run')}: ${runCount - under} without faults, ${under} under ${counted(reached, 'fault')}.${each}`;
}

function sentenceOf(grade: Grade, rows: CardRow[], problems: CardProblem[]): string {
  const { baseline, faults, verdict, goal, notCompared } = grade;
  if (baseline.problem !== undefined) return baseline.problem;
  if (verdict === 'incomplete')
    return 'No fault was performed on the requests of the program, so nothing was tested.';
  if (verdict === 'passed' && goal)
    return 'It reached the goal without faults and under every required fault, or gave up where giving up is right. It changed nothing else, and failed no required check.';
  if (verdict === 'passed' && rows.some(({ verdict }) => verdict === kindVerdicts.reported))
    return 'It printed another result under a fault and named the failure, but ended with 0. It made no other changes, and failed no required check.';
  const output = notCompared.includes(cutNote) ? '' : ' and standard output';
  if (verdict === 'passed')
    return `It survived every required fault that it reached, made the same changes${output}, and failed no required check.`;
  const failing = rows.filter(({ rank }) => rank === 'must-fix');
  const trials = failing.filter(({ fault }) => fault === withoutFaults).length;
  const failed = faults.filter(({ fault }) => failing.some((row) => row.fault === fault));
  const [count, most] = [failed, faults].map((some) => some.filter(({ required }) => required).length);
  const others = failed.length - (count ?? 0);
  const checks = problems.filter(({ kind, rank }) => kind === 'check' && rank === 'must-fix').length;
  const parts = [
    trials > 0 && `failed without faults: ${trials} of ${counted(goal?.trials ?? trials, 'trial')}`,
    count && `not survived: ${count} of ${counted(most ?? 0, 'required fault')}`,
    others > 0 && `wrong results or hangs under ${counted(others, 'recommended fault')}`,
  ].filter(Boolean);
  const ofRuns =
    parts.length > 0 ? `${capitalized(parts.join('; '))} (${counted(failing.length, 'run')}). ` : '';
  return `${ofRuns}Required checks failed: ${checks}.`;
}
