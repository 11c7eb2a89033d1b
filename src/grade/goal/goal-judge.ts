import { safeText } from '../../foundation/redact.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import type { BaselineRuns } from '../baseline.ts';
import { explainer } from '../compare/explain.ts';
import type { StoreState } from '../compare/state.ts';
import { type StoreResult, storeResultOf } from '../compare/store-result.ts';
import type { Run } from '../run/run.ts';
import type { Judge, Judgement } from '../verdict.ts';
import { claims, contains, filled, type Goal } from './goal-file.ts';
import { type GoalOutcome, judgeByGoal } from './goal-outcome.ts';

/** The maximum number of characters of a last line on a card. */
const maxWords = 200;

/** Judges runs by a goal: the final store, and whether the last line of the program is right. */
export class GoalJudge implements Judge {
  readonly #goal: Goal;
  readonly #initial: StoreResult;
  /** A run that reached the goal. */
  readonly #base: Run;
  readonly checksOf: BaselineRuns['checksOf'];

  /** `baselineRuns`: the runs without faults. If any of them reached the goal, the first one did. */
  constructor(goal: Goal, initial: StoreState, baselineRuns: BaselineRuns) {
    this.#goal = goal;
    this.#initial = storeResultOf(initial, initial);
    [this.#base] = baselineRuns.runs;
    this.checksOf = (run) => baselineRuns.checksOf(run);
  }

  judge(run: Run, fault?: Fault): Judgement {
    const outcome = judgeByGoal(this.#goal, this.#initial, run.storeResult, this.#base.storeResult);
    const goalReached = outcome.differences.length === 0;
    const isDone = run.exitStatus === 0;
    const { says } = this.#goal;
    const claimsDone = isDone && (says === undefined || claims(run.printed.last, says));
    const spoken = isDone ? this.#aboutWords(run.printed.last, outcome, claimsDone, fault) : [];
    const { ofStore, ofPrint } = explainer(fault, this.#base, run, []);
    return {
      deviations: [
        ...ofStore(outcome.differences),
        ...ofPrint(spoken, false).map((one) => ({ ...one, change: adviceOnWords })),
      ],
      // The program may report a failure by its last line instead of its exit status.
      gaveUp: !isDone || (!goalReached && !claimsDone),
      // The rest of the store must not change, even if the program reports a failure.
      countsWhenGivenUp: ['twice', 'other'],
      facts: { goalReached, lastWords: shown(run.printed.last) },
    };
  }

  /** What is wrong with the last line of a program that exited with 0, in sentences. */
  #aboutWords(
    words: string,
    { differences, found }: GoalOutcome,
    claimsDone: boolean,
    fault?: Fault,
  ): string[] {
    const { says } = this.#goal;
    if (differences.length > 0)
      return claimsDone
        ? [`${says ? `said "${shown(words)}"` : 'ended with 0'}, but the goal is not reached`]
        : [];
    if (!says) return [];
    const right = filled(says, found);
    // Such a fault changes the values that the program reads, so its last line may have other values.
    const isRight =
      fault?.shows && !['pages', 'fewer events'].includes(fault.shows) ? claimsDone : contains(words, right);
    return isRight ? [] : [`said "${shown(words)}", but the store says "${shown(right)}"`];
  }
}

const adviceOnWords =
  'Read the store before you print the last line, and report what it shows. If the goal is not reached, exit with a status other than 0, or print a last line without the text of `says`.';

const shown = (words: string) => safeText(words, maxWords);
