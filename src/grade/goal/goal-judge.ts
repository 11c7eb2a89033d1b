import { escapeTerminal } from '../../foundation/escape-terminal.ts';
import { withoutSecrets } from '../../foundation/redact.ts';
import type { Fault } from '../../lab/faults/shared/fault.ts';
import { explainer } from '../compare/explain.ts';
import { type Past, pastOf } from '../compare/past.ts';
import type { StoreState } from '../compare/state.ts';
import type { Deviation } from '../grade.ts';
import type { Judge, Judgement } from '../judge.ts';
import type { Reference } from '../reference.ts';
import type { Run } from '../run/run.ts';
import type { Goal } from './goal-file.ts';
import { judgeByGoal, type Outcome } from './outcome.ts';
import { claims, contains, filled } from './says.ts';

/** The longest last words that a card shows, in characters. */
const maxWords = 200;

/** Judges runs by a goal: what the store holds in the end, and whether the program says so. */
export class GoalJudge implements Judge {
  readonly #goal: Goal;
  readonly #initial: Past;
  /** A run that shows how the goal is reached. */
  readonly #base: Run;
  readonly checksOf: Reference['checksOf'];

  /** `reference`: the runs without faults, one that reached the goal before the others. */
  constructor(goal: Goal, initial: StoreState, reference: Reference) {
    this.#goal = goal;
    this.#initial = pastOf(initial, initial);
    [this.#base] = reference.runs;
    this.checksOf = (run) => reference.checksOf(run);
  }

  judge(run: Run, fault?: Fault): Judgement {
    const outcome = judgeByGoal(this.#goal, this.#initial, run.past, this.#base.past);
    const goalReached = outcome.differences.length === 0;
    const isDone = run.exitStatus === 0;
    const { says } = this.#goal;
    const claimsDone = isDone && (says === undefined || claims(run.printed.last, says));
    const spoken = isDone ? this.#aboutWords(run.printed.last, outcome, claimsDone, fault) : [];
    const { ofStore, ofPrint } = fault ? explainer(fault, this.#base, run) : plainly(run);
    return {
      deviations: [
        ...ofStore(outcome.differences),
        ...ofPrint(spoken).map((one) => ({ ...one, change: adviceOnWords })),
      ],
      // To say so by words is as good as by the exit status.
      gaveUp: !isDone || (!goalReached && !claimsDone),
      // The rest of the store must stay as it was, even if the program reports a failure.
      evenSo: ['twice', 'other'],
      facts: { goalReached, lastWords: shown(run.printed.last) },
    };
  }

  /** What is wrong with the last words of a program that ended well, in sentences. */
  #aboutWords(words: string, { differences, found }: Outcome, claimsDone: boolean, fault?: Fault): string[] {
    const { says } = this.#goal;
    if (differences.length > 0)
      return claimsDone
        ? [`${says ? `said "${shown(words)}"` : 'ended with 0'}, but the goal is not reached`]
        : [];
    if (!says) return [];
    const right = filled(says, found);
    // Such a fault changes the values that the program reads.
    const isRight = fault?.changesAnswers ? claimsDone : contains(words, right);
    return isRight ? [] : [`said "${shown(words)}", but the store says "${shown(right)}"`];
  }
}

const adviceOnWords =
  'Read the store before you print the last line, and report what it shows. If the goal is not reached, exit with a status other than 0, or print a last line without the text of `says`.';

const shown = (words: string) => {
  const plain = escapeTerminal(withoutSecrets(words));
  return plain.length > maxWords ? `${plain.slice(0, maxWords)}…` : plain;
};

/** Deviations of a run without faults: what it did, and the requests behind that. */
const plainly = ({ requests }: Run) => ({
  ofStore: (differences: Outcome['differences']) =>
    differences.map(({ kind, what, changes }): Deviation => {
      const made = requests.filter((one) => changes.some(({ requestId }) => requestId === one.requestId));
      return { kind, what, requests: made.map(({ id }) => id) };
    }),
  ofPrint: (sentences: readonly string[]) =>
    sentences.map((what): Deviation => ({ kind: 'printed', what, requests: [] })),
});
