import { type Static, Type } from 'typebox';
import { Shown } from '../../foundation/schema.ts';
import { integer, levels } from '../faults/shared/fault.ts';
import { recordingId } from '../recordings/schema.ts';
import { results } from './check.ts';

/** The most requests that a result names as evidence. */
export const maxEvidence = 10;

const facts = {
  name: Shown('Its name, which never changes.', 'retry-after.obeyed'),
  level: Type.Enum([...levels], {
    type: 'string',
    description: 'Whether clients must (`required`) or should (`recommended`) do it.',
    examples: ['required'],
  }),
};

const help = {
  advice: Shown('How to fix a failure.', 'Read `Retry-After`, and send nothing until then.'),
  guide: Shown('The guide of the reference with more about it.', 'Rate limits'),
};

const version = integer(
  { minimum: 1 },
  'The version of the checks. It increases when a check is added, removed or changes its meaning.',
  1,
);

const CheckResult = Type.Object(
  {
    ...facts,
    result: Type.Enum([...results], {
      type: 'string',
      description: 'The result. `not_observed`: the recording has no evidence for or against it.',
      examples: ['failed'],
    }),
    evidence: Type.Array(Shown('The id of a recorded request.', '7'), {
      maxItems: maxEvidence,
      description: `The requests that show it, ${maxEvidence} at most.`,
    }),
    because: Shown('The reason, in a sentence.', 'The client sent 2 requests while the key was banned.'),
    ...help,
  },
  { title: 'CheckResult', description: 'The result of one check.' },
);
export type CheckResult = Static<typeof CheckResult>;

export const Report = Type.Object(
  {
    recording: recordingId,
    version,
    verdict: Type.Enum(['passed', 'failed', 'incomplete'], {
      type: 'string',
      description:
        '`failed`: a required check failed. `incomplete`: no required check was observed. `passed`: at least one was, and none failed. The verdict depends only on checks. `GET /rehearsals/{rehearsalId}` says whether each fault of a rehearsal was performed.',
      examples: ['failed'],
    }),
    checks: Type.Array(CheckResult, { description: 'Every check, in the order of `GET /checks`.' }),
  },
  { title: 'Report', description: 'The report card of a recording.' },
);
export type Report = Static<typeof Report>;

const Check = Type.Object(
  {
    ...facts,
    asks: Shown(
      'What it requires of a client.',
      'After 429 and 503 the client waits as long as `Retry-After` says.',
    ),
    judged: Shown(
      'What passes, what fails, and what is not judged.',
      'The wait starts with the refused request.',
    ),
    unseen: Shown('When it is not observed.', 'No response asked for a wait.'),
    faults: Type.Array(Shown('The name of a fault.', 'rate-limited'), {
      description: 'The faults that make it observable.',
    }),
    ...help,
  },
  { title: 'Check', description: 'A rule for clients, and how it is judged.' },
);

export const CheckList = Type.Object(
  { version, checks: Type.Array(Check, { description: 'All checks.' }) },
  { title: 'CheckList', description: 'The checks that judge recordings.' },
);
