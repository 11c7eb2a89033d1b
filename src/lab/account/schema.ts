import Type, { type Static } from 'typebox';
import { planNames, plans } from '../../limits/plans.ts';
import { DateTime, Shown, Units } from '../../schema.ts';

const seconds = (text: string) => Date.parse(text) / 1_000;

const Window = Type.Object(
  {
    limit: Units(0, 'Requests that are admitted in it.', 60),
    remaining: Units(0, 'Requests that are left in it.', 58),
    reset: Type.Integer({
      format: 'int64',
      description: 'When it ends, in seconds since 1970, as `X-RateLimit-Reset`.',
      examples: [seconds('2026-11-21T09:31:00Z')],
    }),
  },
  { title: 'AccountWindow', description: 'A minute or a day in which requests are counted.' },
);

const Ban = Type.Object(
  {
    since: Type.Optional(DateTime('When it began. Absent without a ban.', '2026-11-21T09:30:00.000Z')),
    until: Type.Optional(DateTime('When it is over. Absent without a ban.', '2026-11-21T09:31:00.000Z')),
    nextSeconds: Units(0, 'How long the next would be if it began now, in seconds.', 60),
  },
  {
    title: 'AccountBan',
    description: 'The ban of the key, if there is one, and how long the next would be.',
  },
);

const Active = Type.Object(
  {
    id: Shown('Its id.', 'rec_602845719936'),
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
    strikes: Units(0, 'Requests of this minute that were refused with 429.', 0),
    strikesAllowed: Units(0, 'One more in a minute begins a ban.', 60),
    ban: Ban,
    openStreams: Units(0, 'Streams of events that it has open, on all instances.', 0),
    rehearsal: Type.Optional(Active),
    recording: Type.Optional(Active),
  },
  {
    title: 'Account',
    description: 'How a key stands.',
    // One that can be: parts with the same schema have different values.
    examples: [
      {
        ...{ keyId: 'key_318204975513', plan: 'free', workspace: 'demo' },
        minute: { limit: plans.free.perMinute, remaining: 58, reset: seconds('2026-11-21T09:31:00Z') },
        day: { limit: plans.free.perDay, remaining: 742, reset: seconds('2026-11-22T00:00:00Z') },
        ...{ strikes: 0, strikesAllowed: 60, ban: { nextSeconds: 60 }, openStreams: 0 },
        rehearsal: { id: 'rhs_318204975513', expiresAt: '2026-11-21T09:40:00.000Z' },
        recording: { id: 'rec_602845719936', expiresAt: '2026-11-21T10:30:00.000Z' },
      },
    ],
  },
);
export type Account = Static<typeof Account>;
