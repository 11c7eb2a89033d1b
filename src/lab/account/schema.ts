import Type, { type Static } from 'typebox';
import { planNames } from '../../limits/plans.ts';
import { DateTime } from '../../schema.ts';

const count = (description: string, example: number) =>
  Type.Integer({ format: 'int32', minimum: 0, description, examples: [example] });

const Window = Type.Object(
  {
    limit: count('Requests that are admitted in it.', 60),
    remaining: count('Requests that are left in it.', 58),
    reset: Type.Integer({
      format: 'int64',
      description: 'When it ends, in seconds since 1970, as `X-RateLimit-Reset`.',
      examples: [1_795_253_460],
    }),
  },
  { title: 'AccountWindow', description: 'A minute or a day in which requests are counted.' },
);

const Ban = Type.Object(
  {
    since: Type.Optional(DateTime('When it began. Absent without a ban.', '2026-11-21T09:30:00.000Z')),
    until: Type.Optional(DateTime('When it is over. Absent without a ban.', '2026-11-21T09:31:00.000Z')),
    nextSeconds: count('How long the next would be if it began now, in seconds.', 60),
  },
  {
    title: 'AccountBan',
    description: 'The ban of the key, if there is one, and how long the next would be.',
  },
);

const Active = Type.Object(
  {
    id: Type.String({ description: 'Its id.', examples: ['rec_602845719936'] }),
    expiresAt: DateTime('When it ends by itself.', '2026-11-21T10:30:00.000Z'),
  },
  { title: 'ActiveOfAccount', description: 'What of the lab is active.' },
);

export const Account = Type.Object(
  {
    keyId: Type.String({ description: 'The id of the key.', examples: ['key_318204975513'] }),
    plan: Type.Enum(planNames, { type: 'string', description: 'The plan of the key.', examples: ['free'] }),
    workspace: Type.String({ description: 'The name of its workspace.', examples: ['demo'] }),
    minute: Window,
    day: Window,
    strikes: count('Requests of this minute that were refused with 429.', 0),
    strikesAllowed: count('One more in a minute begins a ban.', 60),
    ban: Ban,
    openStreams: count('Streams of events that it has open, on all instances.', 0),
    rehearsal: Type.Optional(Active),
    recording: Type.Optional(Active),
  },
  { title: 'Account', description: 'How a key stands.' },
);
export type Account = Static<typeof Account>;
