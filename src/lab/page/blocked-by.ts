import { html, nothing, type View } from './template.ts';
import { endToSecond, toLocalTime } from './times.ts';

/** Why a key cannot ask the API, and until when. */
export interface Block {
  reason: string;
  untilMs: number;
}

interface Limits {
  ban: { until?: string | undefined };
  minute: { remaining: number; reset: number };
  day: { remaining: number; reset: number };
}

/** The ban or the used-up window of an account, if there is one. */
export function blockOf({ ban, minute, day }: Limits): Block | undefined {
  if (ban.until) return { reason: 'This key is banned', untilMs: endToSecond(Date.parse(ban.until)) };
  if (day.remaining === 0)
    return { reason: 'This key has used all requests of the day', untilMs: day.reset * 1_000 };
  if (minute.remaining === 0)
    return { reason: 'This key has used all requests of the minute', untilMs: minute.reset * 1_000 };
  return undefined;
}

export const blockedNote = (block: Block | undefined, nowMs: number): View =>
  block
    ? html`<p class="note">
        ${block.reason}: this tab cannot send requests until ${toLocalTime(block.untilMs, nowMs)}. The data stays visible.
      </p>`
    : nothing;
