import { limitHeaders } from '../../access/limits/headers.ts';
import { fault, integer } from './shared/fault.ts';
import { refuse, shownWindows } from './shared/limit-refusals.ts';

export const nearLimit = fault({
  name: 'near-limit',
  parameters: {
    remaining: integer(
      { minimum: 1, maximum: 1_000, default: 5 },
      'The number of requests left at the start of each minute.',
    ),
  },
  isCondition: true,
  scope: 'key',
  perMinute: ({ remaining }) => remaining,
  errors: ['rate_limited'],
  group: 'Limits and bans',
  level: 'required',
  does: '`X-RateLimit-Remaining` says that few requests are left in this minute. When they are used up, requests get 429 until the minute ends.',
  goodClient: 'Slows down, or waits when no requests are left.',
  whyItMatters: 'Clients that do not read the headers notice a limit only when they get 429.',
  perform: (invocation) => {
    const { request, services, untilMs, left, decision, touch } = invocation;
    touch();
    if (left < 0) throw refuse(invocation, 'minute');
    const { minute, day } = shownWindows(decision);
    const remaining = Math.min(left, minute.remaining);
    const shown = { minute: { ...minute, remaining, endsAtMs: untilMs }, day };
    request.limitHeaders = limitHeaders({ ...decision, ...shown }, services.hasDraftLimits);
  },
});
