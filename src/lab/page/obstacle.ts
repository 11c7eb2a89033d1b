import { html, nothing, type TemplateResult } from './template.ts';
import { endToSecond, toLocalTime } from './times.ts';

/** How an account stands in the way of a request, and until when. */
export interface Obstacle {
  what: string;
  untilMs: number;
}

interface Limits {
  ban: { until?: string | undefined };
  minute: { remaining: number; reset: number };
  day: { remaining: number; reset: number };
}

export function obstacleOf({ ban, minute, day }: Limits): Obstacle | undefined {
  if (ban.until) return { what: 'This key is banned', untilMs: endToSecond(Date.parse(ban.until)) };
  if (day.remaining === 0)
    return { what: 'This key has used all requests of its day', untilMs: day.reset * 1_000 };
  if (minute.remaining === 0)
    return { what: 'This key has used all requests of its minute', untilMs: minute.reset * 1_000 };
  return undefined;
}

/** Why a part cannot ask the API now, and when it can. */
export const obstacleNote = (
  obstacle: Obstacle | undefined,
  nowMs: number,
): TemplateResult | typeof nothing =>
  obstacle
    ? html`<p class="note">
        ${obstacle.what}: nothing can be done here until ${toLocalTime(obstacle.untilMs, nowMs)}. What is shown stays.
      </p>`
    : nothing;
