import Type from 'typebox';
import { Shown } from '../../foundation/schema.ts';
import { levels } from '../faults/shared/fault.ts';
import { recordingId } from '../recordings/schema.ts';
import { results } from './check.ts';
import { maxEvidence, verdicts } from './report.ts';

const facts = {
  name: Shown('Its name, which stays.', 'retry-after.obeyed'),
  level: Type.Enum([...levels], {
    type: 'string',
    description: 'Whether the interface requires it of clients, or it is good practice.',
    examples: ['required'],
  }),
};

const help = {
  advice: Shown('What to do about a failure.', 'Read `Retry-After`, and send nothing before.'),
  guide: Shown('The guide of the reference that says more.', 'Rate limits'),
};

const version = Type.Integer({
  format: 'int32',
  minimum: 1,
  description:
    'The version of the checks. It is raised when one is added or removed, or comes to mean something else.',
  examples: [1],
});

const CheckResult = Type.Object(
  {
    ...facts,
    result: Type.Enum([...results], {
      type: 'string',
      description: 'What came of it. `not_observed`: the recording does not show it, for or against.',
      examples: ['failed'],
    }),
    evidence: Type.Array(Type.String({ description: 'The id of a recorded request.', examples: ['7'] }), {
      maxItems: maxEvidence,
      description: `The requests that show it, ${maxEvidence} at most.`,
    }),
    because: Shown('Why, in a sentence.', '2 requests came before the time that Retry-After had told.'),
    ...help,
  },
  { title: 'CheckResult', description: 'What came of one check.' },
);

export const Report = Type.Object(
  {
    recording: recordingId,
    version,
    verdict: Type.Enum([...verdicts], {
      type: 'string',
      description:
        '`failed`: a required check failed. `incomplete`: no required check was observed. `passed`: at least one was, and none failed. It speaks of checks alone: whether each fault of a rehearsal was performed, `GET /rehearsals/{rehearsalId}` tells.',
      examples: ['failed'],
    }),
    checks: Type.Array(CheckResult, { description: 'Every check, in the order of `GET /checks`.' }),
  },
  { title: 'Report', description: 'The report card of a recording.' },
);

const Check = Type.Object(
  {
    ...facts,
    asks: Shown(
      'What it asks of a client.',
      'After 429 and 503 the client waits as long as `Retry-After` says.',
    ),
    judged: Shown('What counts for and against a client.', 'Waiting counts from the end of the answer.'),
    unseen: Shown('When it is not observed.', 'No answer asked for a wait.'),
    faults: Type.Array(Type.String({ description: 'The name of a fault.', examples: ['rate-limited'] }), {
      description: 'The faults that bring it about.',
    }),
    ...help,
  },
  { title: 'Check', description: 'One thing that a good client does.' },
);

export const CheckList = Type.Object(
  { version, checks: Type.Array(Check, { description: 'All checks.' }) },
  { title: 'CheckList', description: 'What recordings are judged by.' },
);
