import { type Static, Type } from 'typebox';
import { DateTime, Shown, Units } from '../foundation/schema.ts';
import { Report } from '../lab/checks/report-schema.ts';
import { RecordedRequests } from '../lab/recordings/schema.ts';

/** Verdicts on a program under a fault. */
export const runVerdicts = [
  'survived',
  'did-it-twice',
  'left-undone',
  'did-something-else',
  'printed-something-else',
  'reported-failure',
  'failed',
  'hung',
  'not-reached',
] as const;

/** How urgent something is for the author of the program, the most urgent first. */
export const ranks = ['must-fix', 'should-fix', 'survived', 'not-reached'] as const;

/** Raise it when a property is removed or changes its meaning. */
export const cardVersion = 1;

const enumerated = <const Value extends string>(
  values: readonly Value[],
  description: string,
  example: NoInfer<Value>,
) => Type.Unsafe<Value>({ type: 'string', enum: [...values], description, examples: [example] });

const CardVerdict = (description: string) =>
  enumerated(['passed', 'failed', 'incomplete'], description, 'failed');

const sent = RecordedRequests.items.properties;

const CardRequest = Type.Object({
  ...{ id: sent.id, at: sent.at, method: sent.method, target: sent.target, operation: sent.operation },
  idempotencyKey: Type.Optional(Shown('The first characters of its `Idempotency-Key`.', '9f8b7c6d…')),
  ...{ bodyBytes: sent.bodyBytes, status: sent.status, code: sent.code, durationMs: sent.durationMs },
  ...{ gapMs: sent.gapMs, retryOf: sent.retryOf, fault: sent.fault },
  retryAfter: Type.Optional(Shown('`Retry-After` of the response.', '2')),
  ...{ connection: sent.connection, left: sent.left, silenceMs: sent.silenceMs },
});

const requestId = Type.String({ description: 'The id of a request of this run.', examples: ['7'] });

const CardFinding = Type.Object({
  rank: enumerated(['must-fix', 'should-fix'], 'How urgent it is.', 'must-fix'),
  kind: enumerated([...runVerdicts, 'check'], 'A verdict, or `check` if a check failed.', 'did-it-twice'),
  title: Shown('The verdict in words, or the name of the check.', 'did it twice'),
  what: Shown('What happened, in a sentence.', 'two pets Smaug instead of one'),
  where: Shown('Where the fault was performed, or the run.', 'lost-answer at the 4th createPet'),
  fault: Type.Optional(Shown('The fault. Absent without faults.', 'lost-answer')),
  requests: Type.Array(requestId, { description: 'The requests behind it.' }),
  service: Type.Optional(Shown('What the service did.', 'committed request 4, then reset the connection')),
  goodClient: Type.Optional(Shown('What a good client does.', 'Retries with the same `Idempotency-Key`.')),
  change: Type.Optional(Shown('What to change.', 'Create the key once, before the loop of attempts.')),
  again: Shown(
    'A command that repeats this run.',
    'petstore grade --fault lost-answer:operation=createPet,after=3 -- node client.mjs',
  ),
});

const ending = {
  exitStatus: Type.Optional(
    Type.Integer({
      description:
        'The exit status, or 128 plus the number of the signal that ended the program. Absent if it did not end in time.',
      examples: [0],
    }),
  ),
  lastLines: Type.Array(Shown('A line.', 'done'), { description: 'The last lines of its output.' }),
  tookMs: Type.Number({ minimum: 0, description: 'How long the run took.', examples: [92] }),
};

const observed = {
  findings: Type.Array(CardFinding, { description: 'What the run did wrong, with the cause.' }),
  checks: Report.properties.checks,
  requests: Type.Array(CardRequest, { description: 'The requests of the program, in the order of time.' }),
};

const CardRun = Type.Object({
  name: Shown('The name of the run, the same on every card.', 'lost-answer, middle use'),
  trial: Type.Optional(
    Units(1, 'The number of the trial, from 1. Trials have the same fault and the same place.', 2),
  ),
  place: Type.Union([Type.Enum(['first', 'middle', 'last', 'whole']), Type.Integer({ minimum: 1 })], {
    description:
      "At which use of the program's operations the fault was performed. A number is the n-th use. `whole`: the fault is a condition, or it affects the whole key and was performed once, on whichever operation was used then.",
    examples: ['middle'],
  }),
  strikes: Type.Array(
    Type.Object({
      operation: Type.Optional(Shown('The operationId. Absent: any operation.', 'createPet')),
      after: Units(0, 'How many uses pass before the fault.', 3),
      parameters: Type.Optional(
        Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
          description: 'Its other parameters. `times`: how many uses in a row the fault affects. Default: 1.',
          examples: [{ shape: 'zero' }],
        }),
      ),
    }),
    { description: 'Which requests the fault affects. (These are not the strikes that lead to a ban.)' },
  ),
  verdict: enumerated(runVerdicts, 'The verdict on this run.', 'did-it-twice'),
  rank: enumerated(ranks, 'How urgent it is.', 'must-fix'),
  performed: Units(0, 'How often the fault was performed.', 1),
  ...ending,
  gaveUpAfterMs: Type.Optional(
    Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
      description:
        'Under a fault that sends nothing for a while (`stall`, `no-answer`, `stream-silent`): when the program gave up by itself. Null if it waited until the silence ended, or hung.',
      examples: [5_000],
    }),
  ),
  goalReached: Type.Optional(
    Type.Boolean({ description: 'With a goal: whether it was reached.', examples: [false] }),
  ),
  excused: Type.Optional(
    Type.Array(
      Shown('A line and the reason.', 'printed "2 retries" instead of "1 retry": it counts requests or time'),
      {
        description: 'Lines that differ from those without faults for a good reason.',
      },
    ),
  ),
  lastWords: Type.Optional(
    Shown('With a goal: the last line on its standard output.', 'done: order 9, 26 left'),
  ),
  ...observed,
  again: CardFinding.properties.again,
});

const ChangeList = (description: string) =>
  Type.Array(
    Type.Object({
      name: Shown('The name of a run or of a check.', 'lost-answer, first use'),
      before: Type.Optional(Shown('The verdict or result on the earlier card.', 'survived')),
      now: Type.Optional(Shown('The verdict or result on this card.', 'did it twice')),
    }),
    { description },
  );

export const Changes = Type.Object(
  {
    since: DateTime('When the earlier card was created.', '2026-11-21T09:30:00.000Z'),
    before: CardVerdict('The verdict on the earlier card.'),
    note: Type.Optional(Shown('Why the cards cannot be compared completely.', 'The checks have changed.')),
    better: ChangeList('What became better.'),
    worse: ChangeList('What became worse.'),
    new: ChangeList('What the earlier card did not have.'),
    gone: ChangeList('What only the earlier card had.'),
  },
  { description: 'What changed since an earlier card, with `--compare`.' },
);
export type Changes = Static<typeof Changes>;

export const CardData = Type.Object({
  cardVersion: Units(1, 'The version of this format.', cardVersion),
  checksVersion: Units(1, 'The version of the checks.', 3),
  at: DateTime('When the program was graded.', '2026-11-21T09:30:00.000Z'),
  command: Type.Array(Shown('A word.', 'node'), { description: 'The program and its arguments.' }),
  verdict: CardVerdict('The verdict on the program. `incomplete`: no fault was performed on its requests.'),
  sentence: Shown('The verdict in a sentence or two.', 'Not survived: 5 of 20 required faults.'),
  isQuick: Type.Optional(
    Type.Boolean({
      description:
        'Whether it is quick: most faults, and all but the first use of each operation, were not run.',
      examples: [true],
    }),
  ),
  runCount: Units(0, 'The number of runs, including those without faults.', 48),
  baseline: Type.Object(
    {
      problem: Type.Optional(
        Shown('Why nothing can be graded.', 'Without faults the program exits with 1, not with 0.'),
      ),
      ...ending,
      operations: Type.Array(
        Type.Object({
          operation: Shown('The operationId.', 'createPet'),
          uses: Units(1, 'How often the program used it.', 6),
        }),
        { description: 'The operations that it used, in the order of their first use.' },
      ),
      refused: Type.Array(
        Type.Object({
          id: requestId,
          operation: Type.Optional(Shown('The operationId.', 'createPet')),
          status: Units(400, 'The status code.', 422),
          code: Type.Optional(Shown('The code of the error.', 'validation_failed')),
        }),
        { description: 'Requests that the service refused without any fault.' },
      ),
      nothingToCompare: Type.Boolean({
        description:
          'Whether only exit statuses are compared: the program changes nothing and prints nothing.',
        examples: [false],
      }),
      ...observed,
    },
    { description: 'A run without faults, made before the runs under faults.' },
  ),
  faults: Type.Array(
    Type.Object({
      fault: Shown('The name of the fault.', 'lost-answer'),
      required: Type.Boolean({ description: 'Whether a client must survive it.', examples: [true] }),
      verdict: enumerated(runVerdicts, 'The worst of its runs.', 'did-it-twice'),
      runs: Type.Array(CardRun, {
        description: 'The runs under this fault. Empty if the fault fits no operation.',
      }),
    }),
    { description: 'The faults, in the order of the catalogue.' },
  ),
  goal: Type.Optional(
    Type.Object(
      {
        text: Shown('The task.', 'Order 2 of Nemo.'),
        trials: Units(1, 'How often the program ran without faults, and under each fault at each place.', 5),
        passed: Type.Array(
          Type.Object({
            name: Shown('A fault, or `without faults`, or `all faults`.', 'lost-answer'),
            reached: Units(1, 'The number of trials in which the fault was performed.', 10),
            passed: Units(0, 'How many of these trials passed.', 9),
            passHat: Type.Array(
              Type.Number({ minimum: 0, maximum: 1, description: 'A probability.', examples: [0.9] }),
              {
                description:
                  'pass^1, pass^2 and so on: pass^k is the probability that k trials in a row all pass. It is the mean over the places where the fault was performed.',
              },
            ),
          }),
          { description: 'How often the program passed.' },
        ),
        runs: Type.Array(CardRun, {
          description: 'Each run without faults, with the properties of `faults[].runs[]`.',
        }),
      },
      { description: 'The goal that judges the program, if one was given.' },
    ),
  ),
  notCompared: Type.Array(Shown('A difference.', 'name of pet Smaug'), {
    description: 'What is not compared, because it also differs between runs without faults.',
  }),
  changes: Type.Optional(Changes),
});
export type CardData = Static<typeof CardData>;

export type CardFault = CardData['faults'][number];
export type CardRun = CardFault['runs'][number];
