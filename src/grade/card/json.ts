import { checksVersion } from '../../lab/checks/list.ts';
import type { RecordedRequest } from '../../lab/recordings/schema.ts';
import { type CardData, cardVersion } from '../card-schema.ts';
import type { FaultRun } from '../grade.ts';
import { type Card, type Finding, keyOf, type Row } from './card.ts';
import { changesSince } from './changes.ts';

/** A card as data, as `docs/grade-card.md` describes it. */
export function toData({ grade, rows, baseline, sentence, atMs, changes, passed }: Card): CardData {
  const { command, faults, notCompared, runCount, verdict, goal } = grade;
  const rowOf = new Map(rows.map((row) => [row.run, row]));
  const toRunOf = (run: FaultRun) => toRun(rowOf.get(run) as Row);
  const { trials = [], ...ofBaseline } = grade.baseline;
  return {
    ...{ cardVersion, checksVersion, at: new Date(atMs).toISOString(), command, verdict, sentence, runCount },
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

function toRun({ run, rank, findings, again }: Row) {
  const { deviations: _, label: __, mayWaitLong: ___, faults = [], requests = [], ...facts } = run ?? {};
  return {
    ...facts,
    strikes: faults.map(({ fault: _, operation, after = 0, ...parameters }) => ({
      ...{ operation, after, parameters },
    })),
    ...{ rank, findings: findings.map(findingOf), requests: requests.map(requestOf), again },
  };
}

const findingOf = ({ evidence, ...finding }: Finding) => ({
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
