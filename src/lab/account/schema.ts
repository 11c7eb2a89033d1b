import { type Static, Type } from 'typebox';
import { toDecision, unusedAccount, type WindowState } from '../../access/limits/decision.ts';
import { allLimitHeaders, bindingWindow } from '../../access/limits/headers.ts';
import { type ContentKind, contentKinds } from '../../db/tables.ts';
import { DateTime, Shown, Units } from '../../foundation/schema.ts';
import { planNames, plans } from '../../foundation/settings/plans.ts';
import { dayMs, minuteMs } from '../../foundation/time.ts';
import { maxBanPath } from '../lab-bounds.ts';

const exampleMs = Date.parse('2026-11-21T09:30:12.345Z');

const Window = Type.Object(
  {
    limit: Units(0, 'Requests admitted in this window.', 60),
    remaining: Units(0, 'Requests left in this window.', 58),
    reset: Type.Integer({
      format: 'int64',
      description: 'When it ends, in Unix seconds, like `X-RateLimit-Reset`.',
      examples: [Date.parse('2026-11-21T09:31:00Z') / 1_000],
    }),
  },
  { title: 'AccountWindow', description: 'A minute or a day in which requests are counted.' },
);

const BanStart = Type.Object(
  {
    requestId: Shown('`X-Request-Id` of the response.', '9f8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d'),
    method: Shown('Its method.', 'GET'),
    path: Shown(`The path without the query, cut at ${maxBanPath} characters.`, '/v1/pets'),
    at: DateTime('When it was refused.', '2026-11-21T09:30:00.000Z'),
  },
  { title: 'BanStart', description: 'The request that started the ban, if known.' },
);
export type BanStart = Static<typeof BanStart>;

const Ban = Type.Object(
  {
    since: Type.Optional(DateTime('When it started. Absent without a ban.', '2026-11-21T09:30:00.000Z')),
    until: Type.Optional(DateTime('When it ends. Absent without a ban.', '2026-11-21T09:31:00.000Z')),
    by: Type.Optional(BanStart),
    nextSeconds: Units(0, 'The length of the next ban if it started now, in seconds.', 60),
  },
  {
    title: 'AccountBan',
    description: 'The ban of the key, if there is one, and the length of the next ban.',
  },
);

const Active = Type.Object(
  {
    id: Shown('Its id.', 'rec_602845719936'),
    expiresAt: DateTime('When it expires.', '2026-11-21T10:30:00.000Z'),
  },
  { title: 'ActiveOfAccount', description: 'An active rehearsal or recording.' },
);

export const toWindow = ({ quota, remaining, endsAtMs }: WindowState): Static<typeof Window> => ({
  limit: quota,
  remaining,
  reset: Math.ceil(endsAtMs / 1_000),
});

const exampleState = toDecision(
  'admitted',
  {
    ...unusedAccount,
    ...{ minute: Math.floor(exampleMs / minuteMs), minuteCount: 2 },
    ...{ day: Math.floor(exampleMs / dayMs), dayCount: 258 },
  },
  plans.free,
  exampleMs,
  false,
);
const exampleHeaders = { ...allLimitHeaders(exampleState, true) };

export const Account = Type.Object(
  {
    at: DateTime('The time of the service.', new Date(exampleMs).toISOString()),
    keyId: Shown('The id of the key.', 'key_318204975513'),
    plan: Type.Enum(planNames, { type: 'string', description: 'The plan of the key.', examples: ['free'] }),
    workspace: Shown('The name of its workspace.', 'demo'),
    sharing: Shown(
      'How limits are counted. `on`: by all instances together. `off`: by each instance separately, as configured. `away`: by each instance separately, because the shared store is unreachable.',
      'off',
    ),
    minute: Window,
    day: Window,
    binding: Shown('The window that `X-RateLimit-*` describe: `minute` or `day`.', 'minute'),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'The rate limit headers that a response would have now, with `Retry-After` if a request would be refused.',
      examples: [exampleHeaders],
    }),
    strikes: Units(0, 'Requests that got 429 in this minute.', 0),
    strikesAllowed: Units(
      0,
      'The number of strikes in a minute that do not cause a ban. One more starts it.',
      60,
    ),
    ban: Ban,
    openStreams: Units(0, 'Open event streams of the key, on all instances.', 0),
    rehearsal: Type.Optional(Active),
    recording: Type.Optional(Active),
  },
  {
    title: 'Account',
    description: 'The state of a key.',
    // Written by hand, because the schemas of both windows have the same examples.
    examples: [
      {
        at: new Date(exampleMs).toISOString(),
        ...{ keyId: 'key_318204975513', plan: 'free', workspace: 'demo', sharing: 'off' },
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

/** The content of the demo data, for the examples. */
const demonstration: Partial<Record<ContentKind, number>> = { categories: 7, pets: 20, orders: 8 };

const countOf = (kind: ContentKind) => Units(0, `The number of ${kind}.`, demonstration[kind] ?? 0);

export const WorkspaceContent = Type.Object(
  Object.fromEntries(contentKinds.map((kind) => [kind, countOf(kind)])),
  { title: 'WorkspaceContent', description: 'The content of a workspace.' },
);
