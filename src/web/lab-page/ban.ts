import { burstRequest, isOwn } from '../../lab/own-requests.ts';
import { burstSize } from './burst.ts';
import { needsService } from './panel.ts';
import { recording } from './recording.ts';
import { html, nothing, type TemplateResult } from './template.ts';
import { endToSecond, toBothTimes, toCountdown, toLength } from './times.ts';
import type { Account } from './types.ts';

/** The longest shown part of a path or a request id, which anybody may have sent. */
const maxShown = 300;

export const isBanned = ({ ban }: Account, nowMs: number): boolean =>
  ban.until !== undefined && nowMs < Date.parse(ban.until);

/** The ban: its countdown, its reason and the request that began it. `show` opens that request, if it was recorded. */
export function banPanel(
  account: Account,
  nowMs: number,
  actions: { show?: (() => void) | undefined; start?: (() => void) | undefined },
): TemplateResult {
  const { ban, strikesAllowed } = account;
  const [sinceMs, untilMs] = [Date.parse(ban.since as string), Date.parse(ban.until as string)];
  return html`<div class="ban">
    <h3>
      <svg viewBox="0 0 20 20" aria-hidden="true"><path fill-rule="evenodd" d="M2 2h16v16h-16zM5 8.5v3h10v-3z" /></svg>
      This key is banned
    </h3>
    <p class="countdown" role="timer">${toCountdown(untilMs - nowMs)}</p>
    <p>
      It ends by itself at <time datetime=${ban.until}><strong>${toBothTimes(endToSecond(untilMs), nowMs)}</strong></time>. It began at
      <time datetime=${ban.since}>${toBothTimes(sinceMs, nowMs)}</time>.
    </p>
    <p>
      <strong>Why:</strong> ${strikesAllowed} requests of that minute were refused with 429, as many as are borne. The next one began the
      ban, and got 403.
    </p>
    <p>
      <strong>What to do:</strong> Wait until the ban ends, and have the client wait after each 429 as <code>Retry-After</code> says: one
      that does is never banned. <a href="reference#tag/rate-limits">Rate limits</a>
    </p>
    ${beganBy(account, nowMs, actions)}
    <p>
      Until then every request is answered with 403; none of them counts or makes the ban longer. The next ban would last
      ${toLength(ban.nextSeconds)}.
    </p>
  </div>`;
}

function beganBy(
  { ban: { by }, recording: active }: Account,
  nowMs: number,
  { show, start }: Parameters<typeof banPanel>[2],
): TemplateResult {
  const next = active
    ? 'A recording runs now, which keeps the requests that come next.'
    : 'Start a recording, and it keeps what comes next: the next time you can open that request here.';
  return html`<p><strong>Begun by</strong> ${by ? request(by, nowMs) : html`a request that is not known.`} ${show ? nothing : next}</p>
    ${
      show
        ? html`<p><button type="button" @click=${show}>Show this request</button></p>`
        : start
          ? needsService(
              html`<p><button type="button" aria-disabled=${recording.isBusy} @click=${start}>Start recording</button></p>`,
            )
          : nothing
    }`;
}

const request = (
  { method, path, requestId, at }: NonNullable<Account['ban']['by']>,
  nowMs: number,
): TemplateResult =>
  html`<code>${`${method} ${path}`.slice(0, maxShown)}</code> at <time datetime=${at}>${toBothTimes(Date.parse(at), nowMs)}</time>,
    request <code>${requestId.slice(0, maxShown)}</code>${senderOf(requestId)}.`;

function senderOf(requestId: string): string {
  if (requestId.startsWith(burstRequest)) return `, one of the ${burstSize} that this page sent`;
  return isOwn({ requestId }) ? ', by this page for itself' : '';
}
