import { durationInWords } from '../../foundation/words.ts';
import type { KeyAccount } from './account.ts';
import { isOfDemo, isOfPage } from './api.ts';
import { type KeyContext, needsService, showButton } from './panel.ts';
import { html, nothing, type TemplateResult } from './template.ts';
import { endToSecond, toBothTimes, toCountdown } from './times.ts';

/** The longest shown part of a path or a request id, which anybody may have sent. */
const maxShown = 300;

/** The ban: countdown, reason and first request, which opens if recorded. `start` starts a recording if none is active. */
export function banPanel(
  context: KeyContext,
  account: KeyAccount,
  nowMs: number,
  start?: () => void,
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
      <strong>Why:</strong> ${strikesAllowed} requests of that minute got 429, the maximum before a ban. The next one began the
      ban, and got 403.
    </p>
    <p>
      <strong>What to do:</strong> Wait until the ban ends. Change the client: after each 429, it must wait as long as <code>Retry-After</code> says.
      Such a client is never banned. <a href="reference#tag/rate-limits">Rate limits</a>
    </p>
    ${beganBy(context, account, nowMs, start)}
    <p>
      Until then every request gets 403. None of them counts or makes the ban longer. The next ban would last
      ${durationInWords(ban.nextSeconds)}.
    </p>
  </div>`;
}

function beganBy(
  { session, recording }: KeyContext,
  { ban: { by }, recording: active }: KeyAccount,
  nowMs: number,
  start: (() => void) | undefined,
): TemplateResult {
  const recorded = by && recording.find(by.requestId);
  const next = active
    ? 'A recording is active: it keeps the next requests.'
    : 'Start a recording: next time you can open that request here.';
  return html`<p><strong>Started by</strong> ${by ? request(by, nowMs) : html`an unknown request.`} ${recorded ? nothing : next}</p>
    ${
      recorded
        ? html`<p>${showButton(recording, by.requestId)}</p>`
        : start && !active
          ? needsService(
              session,
              html`<p><button type="button" aria-disabled=${recording.isBusy} @click=${start}>Start recording</button></p>`,
            )
          : nothing
    }`;
}

const request = (
  { method, path, requestId, at }: NonNullable<KeyAccount['ban']['by']>,
  nowMs: number,
): TemplateResult =>
  html`<code>${`${method} ${path}`.slice(0, maxShown)}</code> at <time datetime=${at}>${toBothTimes(Date.parse(at), nowMs)}</time>,
    request <code>${requestId.slice(0, maxShown)}</code>${senderOf(requestId)}.`;

function senderOf(requestId: string): string {
  if (isOfDemo(requestId)) return ', sent by a demo on this page';
  return isOfPage(requestId) ? ', sent by this page itself' : '';
}
