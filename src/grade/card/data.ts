import { Compile } from 'typebox/schema';
import { counted } from '../../foundation/words.ts';
import { checksVersion } from '../../lab/checks/list.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import { CardData, type CardRun, type Changes, cardVersion } from '../card-schema.ts';
import { type FaultRun, withoutFaults } from '../grade.ts';
import { severity } from '../verdict.ts';
import { type Card, type CardFinding, type CardRow, keyOf } from './card.ts';
import { planNameOf } from './trials.ts';
import { verdictInWords } from './words.ts';

/** A card as data, as `docs/grade-card.md` describes it. */
export function toData({ grade, rows, baseline, sentence, atMs, changes, passed }: Card): CardData {
  const { command, faults, notCompared, runCount, verdict, goal, isQuick } = grade;
  const rowOf = new Map(rows.map((row) => [row.run, row]));
  const toRunOf = (run: FaultRun) => toRun(rowOf.get(run) as CardRow);
  const { trials = [], ...ofBaseline } = grade.baseline;
  return {
    ...{ cardVersion, checksVersion, at: new Date(atMs).toISOString(), command, verdict, sentence, runCount },
    ...(isQuick && { isQuick }),
    baseline: {
      ...ofBaseline,
      findings: baseline.map(findingOf),
      requests: grade.baseline.requests.map(requestOf),
    },
    faults: faults.map(({ fault, required, verdict, runs }) => ({
      ...{ fault, required, verdict },
      runs: runs.map(toRunOf),
    })),
    ...(goal && { goal: { ...goal, passed, runs: trials.map(toRunOf) } }),
    notCompared,
    ...(changes && { changes }),
  } as CardData;
}

/** Adds the changes since an earlier card. */
export const comparedWith = (earlier: CardData, card: Card): Card => ({
  ...card,
  changes: changesSince(earlier, toData(card)),
});

function toRun({ run, rank, findings, again }: CardRow) {
  const { deviations: _, label: __, mayWaitLong: ___, faults = [], requests = [], ...facts } = run ?? {};
  return {
    ...facts,
    strikes: faults.map(({ fault: _, operation, after = 0, ...parameters }) => ({
      ...{ operation, after, parameters },
    })),
    ...{ rank, findings: findings.map(findingOf), requests: requests.map(requestOf), again },
  };
}

const findingOf = ({ evidence, ...finding }: CardFinding) => ({
  ...finding,
  requests: evidence.map(({ id }) => id),
});

function requestOf(request: RecordedRequest) {
  const { headers: _, answerHeaders, requestId: _id, body: _body, ...facts } = request;
  const { key } = keyOf(request);
  const retryAfter = answerHeaders['retry-after'];
  return {
    ...facts,
    ...(key !== undefined && { idempotencyKey: key }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

const cardSchema = Compile(CardData);

/** Reads a card that `grade --json` printed. Throws an error that says what is wrong with the card. */
export function readCard(text: string): CardData {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error('is not JSON: pass a card from "petstore grade --json"');
  }
  const version = (data as Partial<CardData> | null)?.cardVersion;
  if (typeof version === 'number' && version !== cardVersion)
    throw new Error(`is a card of version ${version}, but this program reads version ${cardVersion}`);
  if (!cardSchema.Check(data)) throw new Error('is not a card from "petstore grade --json"');
  return data;
}

/** Something that both cards may have, and how good it is. */
interface Item {
  word: string;
  grade: number;
}

/** Compares runs, checks and the baseline with an earlier card. Leaves out faults that only one card has. */
function changesSince(earlier: CardData, now: CardData): Changes {
  const isOneGoal = earlier.goal?.text === now.goal?.text;
  const common = namesOf(earlier).filter((fault) => isOneGoal && namesOf(now).includes(fault));
  const leftOut = namesOf(earlier).length + namesOf(now).length - 2 * common.length;
  const isQuick = earlier.isQuick || now.isQuick;
  const notes = [
    earlier.checksVersion !== now.checksVersion &&
      `The earlier card has version ${earlier.checksVersion} of the checks, this one has version ${now.checksVersion}.`,
    !isOneGoal && 'Runs are left out, because the cards have different goals.',
    isQuick && 'A quick card: compared are the runs that both cards have. The others were not run.',
    !isQuick &&
      isOneGoal &&
      leftOut > 0 &&
      `Left out: ${counted(leftOut, 'fault')} that only one of the cards has.`,
  ].filter(Boolean);
  const hasTrials = [earlier, now].some(({ goal }) => goal !== undefined && goal.trials > 1);
  const planNames = [earlier, now].map((card) => new Set(runsOf(card, common).map(planNameOf)));
  const isCompared = (run: CardRun) => !isQuick || planNames.every((names) => names.has(planNameOf(run)));
  const [before, after] = [earlier, now].map((card) =>
    itemsOf(card, runsOf(card, common).filter(isCompared), hasTrials),
  ) as [Map<string, Item>, Map<string, Item>];
  const both = [...after].flatMap(([name, item]) => {
    const old = before.get(name);
    return old ? [{ name, before: old.word, now: item.word, gain: item.grade - old.grade }] : [];
  });
  const changed = (isSuch: (gain: number) => boolean) =>
    both.filter(({ gain }) => isSuch(gain)).map(({ gain: _, ...change }) => change);
  const only = (items: typeof before, others: typeof before) =>
    [...items].filter(([name]) => !others.has(name));
  return {
    ...{ since: earlier.at, before: earlier.verdict },
    ...(notes.length > 0 && { note: notes.join(' ') }),
    better: changed((gain) => gain > 0),
    worse: changed((gain) => gain < 0),
    new: only(after, before).map(([name, { word }]) => ({ name, now: word })),
    gone: only(before, after).map(([name, { word }]) => ({ name, before: word })),
  };
}

const namesOf = ({ faults }: CardData) => faults.map(({ fault }) => fault);

/** The runs under these faults in which the fault was performed. */
const runsOf = ({ faults }: CardData, among: readonly string[]): CardRun[] =>
  faults
    .flatMap(({ fault, runs }) => (among.includes(fault) ? runs : []))
    .filter(({ verdict }) => verdict !== 'not-reached');

/** What is compared of a card. Leaves out unobserved checks. `hasTrials`: a run counts by the share of its trials that passed. */
function itemsOf(
  { baseline, goal }: CardData,
  runs: readonly CardRun[],
  hasTrials: boolean,
): Map<string, Item> {
  const ofRuns = goal ? shareOf(goal.runs) : { word: 'runs', grade: 1 };
  const ofBaseline = baseline.problem === undefined ? ofRuns : { word: 'has a problem', grade: 0 };
  const items = new Map<string, Item>([[withoutFaults, ofBaseline]]);
  for (const [name, some] of Map.groupBy(runs, planNameOf)) {
    const [run] = some as [CardRun, ...CardRun[]];
    const item = { word: verdictInWords(run), grade: severity.indexOf(run.verdict) };
    items.set(name, hasTrials ? shareOf(some) : item);
  }
  const all = [baseline, ...(goal?.runs ?? []), ...runs];
  for (const { name, result } of all.flatMap(({ checks }) => checks)) {
    if (result === 'not_observed' || items.get(name)?.word === 'failed') continue;
    items.set(name, { word: result, grade: result === 'passed' ? 1 : 0 });
  }
  return items;
}

/** The share of the trials that passed. */
function shareOf(trials: readonly CardRun[]): Item {
  const passed = trials.filter(({ verdict }) => verdict === 'survived').length;
  return { word: `${passed} of ${trials.length}`, grade: passed / trials.length };
}
