import { html, type TemplateResult } from './template.ts';

interface Ring {
  /** As in "left in this minute". */
  name: string;
  limit: number;
  remaining: number;
  /** The share of the window that is left, from 0 to 1. */
  timeLeft: number;
  isBanned: boolean;
}

const number = (value: number) => value.toLocaleString('en');

/** A million as 1M. */
const short = (value: number) =>
  value < 1_000_000
    ? number(value)
    : value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 2 });

/** The font size of a text that fits into the ring. */
const sizeOf = (text: string, largest: number) => String(Math.min(largest, 140 / text.length));

/** A window of a limit: thick the used requests, thin the time left, in its middle the requests left. `ring.css` has the colors. */
export function ring({ name, limit, remaining, timeLeft, isBanned }: Ring): TemplateResult {
  const left = number(isBanned ? 0 : remaining);
  const ofLimit = `of ${short(limit)} left`;
  const state = isBanned ? 'banned' : remaining === 0 ? 'limited' : 'open';
  const used = limit > 0 ? (100 * (limit - remaining)) / limit : 100;
  const label = `${left} of ${number(limit)} left in this ${name}${isBanned ? ', during the ban' : ''}`;
  return html`<svg class="ring ${state}" viewBox="0 0 120 120" role="img" aria-label=${label}>
    <g fill="none" transform="rotate(-90 60 60)">
      <circle class="track" cx="60" cy="60" r="46" />
      <circle class="used" cx="60" cy="60" r="46" pathLength="100" stroke-dasharray=${isBanned ? '2.5 2.5' : `${used} 100`} />
      <circle class="time" cx="60" cy="60" r="57" pathLength="100" stroke-dasharray="${100 * timeLeft} 100" />
    </g>
    <text class="left" x="60" y="66" font-size=${sizeOf(left, 34)}>${left}</text>
    <text class="of" x="60" y="82" font-size=${sizeOf(ofLimit, 11)}>${ofLimit}</text>
  </svg>`;
}
