import type { Static } from 'typebox';
import { type ContentKind, contentKinds } from '../../db/tables.ts';
import { DateTime, Shown, Units } from '../../foundation/schema.ts';
import { dayMs, minuteMs } from '../../foundation/time.ts';
import { Type } from '../../foundation/type.ts';
import { newAccount, toDecision, type WindowState } from '../../limits/decision.ts';
import { allLimitHeaders, bindingWindow } from '../../limits/headers.ts';
import { planNames, plans } from '../../limits/plans.ts';
import { maxBanPath } from '../lab-bounds.ts';

const exampleMs = Date.parse('2026-11-21T09:30:12.345Z');

const Window = Type.Object(
  {
    limit: Units(0, 'Requests that are admitted in it.', 60),
    remaining: Units(0, 'Requests that are left in it.', 58),
    reset: Type.Integer({
      format: 'int64',
      description: 'When it ends, in seconds since 1970, as `X-RateLimit-Reset`.',
      examples: [Date.parse('2026-11-21T09:31:00Z') / 1_000],
    }),
  },
  { title: 'AccountWindow', description: 'A minute or a day in which requests are counted.' },
);

const BanStart = Type.Object(
  {
    requestId: Shown('`X-Request-Id` of its answer.', '9f8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d'),
    method: Shown('Its method.', 'GET'),
    path: Shown(`Its path, without a query; the first ${maxBanPath} characters.`, '/v1/pets'),
    at: DateTime('When it was refused.', '2026-11-21T09:30:00.000Z'),
  },
  {
    title: 'BanStart',
    description: 'The request that began the ban, if it is known.',
  },
);
export type BanStart = Static<typeof BanStart>;

const Ban = Type.Object(
  {
    since: Type.Optional(DateTime('When it began. Absent without a ban.', '2026-11-21T09:30:00.000Z')),
    until: Type.Optional(DateTime('When it is over. Absent without a ban.', '2026-11-21T09:31:00.000Z')),
    by: Type.Optional(BanStart),
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

export const toWindow = ({ quota, remaining, endsAtMs }: WindowState): Static<typeof Window> => ({
  limit: quota,
  remaining,
  reset: Math.ceil(endsAtMs / 1_000),
});

/** The limits of the key in the example. */
const exampleState = toDecision(
  'admitted',
  {
    ...newAccount,
    ...{ minute: Math.floor(exampleMs / minuteMs), minuteCount: 2 },
    ...{ day: Math.floor(exampleMs / dayMs), dayCount: 258 },
  },
  plans.free,
  exampleMs,
  false,
);
const exampleHeaders = { ...allLimitHeaders(exampleState) };

export const Account = Type.Object(
  {
    at: DateTime('The time of the service.', new Date(exampleMs).toISOString()),
    keyId: Type.String({ description: 'The id of the key.', examples: ['key_318204975513'] }),
    plan: Type.Enum(planNames, { type: 'string', description: 'The plan of the key.', examples: ['free'] }),
    workspace: Type.String({ description: 'The name of its workspace.', examples: ['demo'] }),
    sharing: Shown(
      'How limits are counted: `on`, by all instances together; `off`, by each instance alone, as this installation is set up; `away`, by each alone, because what they share cannot be reached.',
      'off',
    ),
    minute: Window,
    day: Window,
    binding: Shown('The window of which `X-RateLimit-*` speak: `minute` or `day`.', 'minute'),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'The header fields about limits as an answer to the key would have them now, with `Retry-After` where a request would be refused.',
      examples: [exampleHeaders],
    }),
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
    // Written by hand, since the schemas of both windows have the same examples.
    examples: [
      {
        ...{
          at: new Date(exampleMs).toISOString(),
          keyId: 'key_318204975513',
          plan: 'free',
          workspace: 'demo',
          sharing: 'off',
        },
        ...{ minute: toWindow(exampleState.minute), day: toWindow(exampleState.day) },
        ...{ binding: bindingWindow(exampleState), headers: exampleHeaders },
        ...{ strikes: 0, strikesAllowed: 60, ban: { nextSeconds: 60 }, openStreams: 0 },
        rehearsal: { id: 'rhs_318204975513', expiresAt: '2026-11-21T09:40:00.000Z' },
        recording: { id: 'rec_602845719936', expiresAt: '2026-11-21T10:30:00.000Z' },
      },
    ],
  },
);
export type Account = Static<typeof Account>;

/** What the demonstration data holds, for the examples. */
const demonstration: Partial<Record<ContentKind, number>> = { categories: 7, pets: 20, orders: 8 };

const countOf = (kind: ContentKind) =>
  Units(0, `${kind[0]?.toUpperCase()}${kind.slice(1)} that there are.`, demonstration[kind] ?? 0);

export const WorkspaceContent = Type.Object(
  Object.fromEntries(contentKinds.map((kind) => [kind, countOf(kind)])),
  { title: 'WorkspaceContent', description: 'What a workspace holds.' },
);
