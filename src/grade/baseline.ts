import { type Expected, expectedOf } from '../lab/checks/expected.ts';
import { placeOf } from '../lab/checks/page-links.ts';
import { pagesToTheEnd } from '../lab/checks/pages.ts';
import { type Levels, reportOn } from '../lab/checks/report.ts';
import type { CheckResult } from '../lab/checks/report-schema.ts';
import { rewindsStream, streamsResumed } from '../lab/checks/streams.ts';
import type { Fault } from '../lab/faults/shared/fault.ts';
import type { RecordedRequest } from '../lab/recordings/schema.ts';
import { toRecorded } from '../lab/recordings/serialize-request.ts';
import type { TargetApi } from '../lab/target-api.ts';
import {
  differencesOf,
  sameThings,
  type Variation,
  variationInWords,
  variationOf,
} from './compare/compare.ts';
import { committedIn, explainer, neverAnswered } from './compare/explain.ts';
import type { Line } from './compare/lines.ts';
import { compareOutput, expectedLines, type OutputFacts } from './compare/output.ts';
import { cutNote } from './compare/printed-lines.ts';
import type { StoreState } from './compare/state.ts';
import { type StoreResult, storeResultOf } from './compare/store-result.ts';
import { type Baseline, isAffectedBy } from './grade.ts';
import type { Usage } from './run/plan.ts';
import type { Run } from './run/run.ts';
import { type Judge, type Judgement, shownRequests } from './verdict.ts';

interface BaselineOptions {
  /** The API that the program uses. */
  api: TargetApi;
  /** Whether to ignore what the program prints, or which lines of it. */
  ignoredOutput?: true | RegExp | undefined;
  levels?: Levels | undefined;
  /** Whether the program may send different requests each time. */
  varies?: boolean;
}

/** The runs of the program without faults. Runs under faults are compared with them. */
export class BaselineRuns implements Judge {
  readonly runs: readonly [Run, ...Run[]];
  readonly #initial: StoreResult;
  readonly #variation: Variation;
  readonly #changesStore: boolean;
  readonly #lines: readonly Line[];
  /** The lines of the command of `result`. */
  readonly #results: readonly Line[];
  readonly #expected: Expected;
  readonly #options: BaselineOptions;

  constructor(runs: readonly [Run, ...Run[]], initial: StoreState, options: BaselineOptions) {
    this.runs = runs;
    this.#options = options;
    const [first, ...others] = runs;
    const expected = expectedOf(
      runs.map(({ requests }) => toRecorded(requests)),
      options.api,
    );
    const { timesOf: _, ...varying } = expected;
    this.#expected = options.varies ? varying : expected;
    this.#initial = storeResultOf(initial, initial);
    const results = others.map(({ storeResult }) => storeResult);
    this.#variation = variationOf(first.storeResult, results, this.#initial);
    this.#changesStore = runs.some(({ storeResult }) => this.#changes(storeResult));
    const { ignoredOutput } = options;
    const outputs = ignoredOutput === true ? [] : runs.map(({ printed }) => printed);
    this.#lines = expectedLines(outputs, ignoredOutput instanceof RegExp ? ignoredOutput : undefined);
    this.#results = expectedLines(runs.map(({ result }) => result));
  }

  /** Adds another run without faults. It may show that a value varies. */
  with = (run: Run) => new BaselineRuns([...this.runs, run], this.#initial.state, this.#options);

  #changes = (result: StoreResult) =>
    result.hasChanges || differencesOf(this.#initial, result, { initial: this.#initial }).length > 0;

  /** Why nothing can be compared with these runs, in a sentence. */
  problem(timeoutMs: number): string | undefined {
    const [first, ...others] = this.runs.map((run) => problemOf(run, timeoutMs));
    const later = others.find((problem) => problem !== undefined);
    return first ?? (later && `The first run succeeded, but a later one did not. ${later}`);
  }

  toBaseline(problem?: string): Baseline {
    const run = this.runs.at(-1) as Run;
    const { exitStatus, lastLines, tookMs, requests } = run;
    return {
      ...{ exitStatus, lastLines, tookMs, checks: this.checksOf(run) },
      operations: this.usage.operations.map(({ operation, uses }) => ({ operation: operation.id, uses })),
      requests: shownRequests(requests),
      refused: this.#refused(),
      ...(problem !== undefined && { problem }),
      nothingToCompare: !this.#changesStore && this.#lines.length + this.#results.length === 0,
    };
  }

  /** For each used operation, the smallest number of uses in a run that used it. */
  get usage(): Usage {
    const { api } = this.#options;
    const counts = this.runs.map(({ requests }) => Map.groupBy(requests, ({ operation }) => operation));
    const used = new Set(counts.flatMap((count) => [...count.keys()]));
    const byId = new Map(api.operations.map((operation) => [operation.id, operation]));
    const isStream = ({ operation = '' }: RecordedRequest) => byId.get(operation)?.success.kind === 'stream';
    const durations = this.runs.flatMap(({ requests }) =>
      requests.flatMap((request) => (isStream(request) ? [] : request.durationMs)),
    );
    return {
      api,
      operations: [...used].flatMap((id = '') => {
        const operation = byId.get(id);
        const uses = Math.min(...counts.flatMap((count) => count.get(id)?.length ?? []));
        return operation ? [{ operation, uses }] : [];
      }),
      requestCount: Math.min(...this.runs.map(({ requestCount }) => requestCount)),
      longestMs: durations.reduce((longest, ms) => Math.max(longest, ms), 0),
    };
  }

  /**
   * Judges a run under a fault by its deviations from these runs. An exit status other than 0 reports that work is not done. `again`: another
   * run under the same fault, which confirms a line only if it lacks the same one.
   */
  judge(run: Run, fault: Fault, again?: Run): Judgement {
    const { differences, unread, printed, left } = this.#compare(run, fault);
    const second = again && this.#compare(again, fault);
    const confirmed = (found: ReadonlyMap<string, string>, others = found) =>
      [...found].flatMap(([line, sentence]) => (others.has(line) ? sentence : []));
    const byResult = (sentences: readonly string[]) => sentences.map((one) => `the result command ${one}`);
    const { ofStore, ofPrint } = explainer(fault, this.runs[0], run, unread);
    return {
      deviations: [
        ...ofStore(differences),
        ...ofPrint(confirmed(printed.found, second?.printed.found), printed.namesFailure),
        ...ofPrint(byResult(confirmed(left.found, second?.left.found)), false),
      ],
      ...{ gaveUp: run.exitStatus !== 0, countsWhenGivenUp: ['twice'] },
      excused: [...printed.excused, ...byResult(left.excused)],
    };
  }

  #compare(run: Run, fault: Fault) {
    const [base] = this.runs;
    const known = { initial: this.#initial, variation: this.#variation };
    const differences = differencesOf(base.storeResult, run.storeResult, known);
    const checks = this.checksOf(run);
    const failed = (name: string) => checks.find((one) => one.name === name && one.result === 'failed');
    const unread = failed(pagesToTheEnd.name);
    const { others, otherEvents } = run.storeResult;
    const touched = run.requests.filter((request) => isAffectedBy(fault.name, request));
    const changing = new Set(committedIn(run).map(({ operation }) => operation));
    const mayChange = ({ operation }: RecordedRequest) => changing.has(operation);
    const hasResponses = neverAnswered(base.requests, run.requests).every(mayChange);
    const readsEvents = run.requests.some(({ target }) => /\/store\/events\b/.test(target));
    const facts: OutputFacts = {
      ...{ fault, others, isLimit: limitsOf(base, run) },
      otherCounts: readsEvents ? otherEvents : others.filter(({ property }) => property === 'stock').length,
      isSameThing: sameThings(base.storeResult, run.storeResult, known),
      isCount: (was, is) => was === `${base.requestCount}` && is === `${run.requestCount}`,
      repeatsChange: differences.length === 0 && hasResponses && touched.some(mayChange),
      readsListsToEnd: !unread,
      leavesLists:
        touched.length > 0 &&
        touched.every(({ target }) => this.#expected.leftLists.has(placeOf(target).read)),
      restartsStream: failed(streamsResumed.name) !== undefined || rewindsStream(toRecorded(run.requests)),
    };
    return {
      ...{ differences, unread: unread?.evidence ?? [] },
      printed: compareOutput(this.#lines, run.printed, facts),
      left: compareOutput(this.#results, run.result, facts),
    };
  }

  /** Judges a run by all checks. A request that the program also sends without faults does not count as a retry. */
  checksOf({ requests }: Run, result?: 'equal' | 'different'): CheckResult[] {
    const { api, levels = {} } = this.#options;
    // With the same result, it has read each list far enough. With another one, it has not.
    const isFar = { leftLists: { has: () => true } };
    const expected = result === 'equal' ? { ...this.#expected, ...isFar } : this.#expected;
    const ofLists = result === 'different' ? { [pagesToTheEnd.name]: 'required' as const } : {};
    return reportOn('grade', toRecorded(requests), api, { expected, levels: { ...ofLists, ...levels } })
      .checks;
  }

  /** What varies between these runs, in words. */
  get notCompared(): string[] {
    const isCut = this.runs.some(({ printed }) => printed.isCut);
    return [...variationInWords(this.#variation, this.runs[0].storeResult), ...(isCut ? [cutNote] : [])];
  }

  /** The refusals that every run got, with the request ids of the last run. */
  #refused(): Baseline['refused'] {
    const refusals = this.runs.map(({ requests }) => requests.flatMap(refusalOf));
    const nameOf = ({ id: _, ...refusal }: Baseline['refused'][number]) => JSON.stringify(refusal);
    const names = refusals.map((some) => new Set(some.map(nameOf)));
    return (refusals.at(-1) ?? []).filter((one) => names.every((some) => some.has(nameOf(one))));
  }
}

/** Whether the value of a limit header in the base became another value of that header in a run. */
function limitsOf(base: Run, run: Run): OutputFacts['isLimit'] {
  const limitsIn = ({ requests }: Run) =>
    requests
      .flatMap(({ answerHeaders }) => Object.entries(answerHeaders))
      .filter(([name]) => /^(?:x-)?ratelimit|^retry-after$/.test(name));
  const [ofBase, ofRun] = [limitsIn(base), limitsIn(run)];
  return (was, is) =>
    ofBase.some(([name, value]) => value === was && ofRun.some(([same, now]) => same === name && now === is));
}

const refusalOf = ({ id, operation, status = 0, code }: RecordedRequest): Baseline['refused'] =>
  status >= 400 && status < 500
    ? [{ id, ...(operation && { operation }), status, ...(code && { code }) }]
    : [];

/** Why other runs cannot be compared with a run without faults. Undefined if they can. */
function problemOf(run: Run, timeoutMs: number) {
  const { problem, exitStatus } = run;
  if (problem !== undefined) return problem;
  if (exitStatus === undefined)
    return `Without faults the program does not end within ${timeoutMs / 1_000} s. If it needs longer, raise --timeout.`;
  const unused = unusedReason(run);
  if (exitStatus !== 0)
    return `Without faults the program exits with ${exitStatus}, not with 0.${unused ? ` ${unused}` : ''}`;
  return unused;
}

/** Why a run did not use the store, in a sentence. Undefined if it did. */
export function unusedReason({ requestCount, requests }: Run): string | undefined {
  if (requestCount === 0)
    return 'No request with the key in PETSTORE_API_KEY reached the API: does the program read PETSTORE_BASE_URL?';
  if (!requests.some(({ operation }) => operation))
    return 'None of its requests matches an operation of the API. PETSTORE_BASE_URL ends in /v1: append paths such as /pets.';
  return undefined;
}
