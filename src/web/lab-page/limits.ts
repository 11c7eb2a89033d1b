import { burstRequest } from '../../lab/own-requests.ts';
import { baseUrl, reasonOf } from './api.ts';
import { banPanel, isBanned } from './ban.ts';
import { Burst, burstInWords, burstSize, burstStrip, predictBurst } from './burst.ts';
import { copiedOrSelected } from './copying.ts';
import { linesOf, type Piece } from './limit-headers.ts';
import { addPanel, Panel } from './panel.ts';
import { recording } from './recording.ts';
import { ring } from './ring.ts';
import { session } from './session.ts';
import { sleep, untilKeyChange } from './state.ts';
import { html, nothing, type View, when } from './template.ts';
import { toCountdown, toLength, toLocalTime } from './times.ts';
import type { Account } from './types.ts';

/** How often the account is read during a burst. */
const readEveryMs = 500;

const windows = [
  { name: 'minute', lengthMs: 60_000 },
  { name: 'day', lengthMs: 86_400_000 },
] as const;

const sharing: Record<string, View> = {
  off: html`<span class="quiet">by this instance alone</span>`,
  on: html`together by all instances`,
  away: html`<span class="badge warn">each instance alone</span> What shares them is away. Until it is back, each instance counts
    alone, so that together they admit more.`,
};

/** The service takes less for a request. */
const burstTimeoutMs = 30_000;

class Limits extends Panel {
  #burst: Burst | undefined;
  /** It stays the same while a burst runs, so that the button below it does not move. */
  #prediction: View = nothing;
  #copied = '';
  #copies = 0;
  #failure = '';
  #tick: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement) {
    super(element);
    recording.onChange(() => this.draw());
  }

  protected view(): View {
    clearTimeout(this.#tick);
    const { account, connection } = session;
    if (!account) return nothing;
    const isLive = connection === 'live';
    // Time counts down only while the page knows the account.
    const nowMs = isLive ? session.nowMs() : Date.parse(account.at);
    if (isLive && !document.hidden) this.#tick = setTimeout(() => this.draw(), 1_000 - (nowMs % 1_000));
    const banned = isBanned(account, nowMs);
    return html`<h2>Limits</h2>
      ${isLive ? nothing : html`<p class="quiet">As it stood at ${toLocalTime(nowMs, nowMs)}.</p>`}
      <p class="unseen" role="status">${stateOf(account, banned)}</p>
      ${when(banned, () => this.#ban(account, nowMs))}
      <p class="failure" role="alert">${this.#failure}</p>
      ${when(
        account.rehearsal,
        () => html`<p class="rehearsed">
              <a href="#faults">A rehearsal is active</a>: answers may say otherwise. These are the real limits.
            </p>`,
      )}
      <div class="rings">${windows.map((window) => this.#window(window, account, nowMs, banned))}</div>
      <p class="quiet">${banned ? legendOfBan : legend}</p>
      ${this.#bursts(account, connection !== 'away')} ${strikes(account, banned)} ${facts(account)} ${this.#headers(account, banned)}
      <p class="quiet">What is shown here is read from the lab: it takes nothing from the limits, and works during a ban.</p>`;
  }

  #ban(account: Account, nowMs: number): View {
    const recorded = account.ban.by && recording.find(account.ban.by.requestId);
    return banPanel(account, nowMs, {
      show: recorded && (() => recording.show(recorded.id)),
      start: account.recording ? undefined : () => void this.#startRecording(),
    });
  }

  #window({ name, lengthMs }: (typeof windows)[number], account: Account, nowMs: number, banned: boolean) {
    const { limit, remaining, reset } = account[name];
    const leftMs = Math.max(0, reset * 1_000 - nowMs);
    const binds = !banned && account.binding === name;
    const atItsEnd = reset * 1_000 <= Date.parse(account.ban.until ?? '') ? limit : remaining;
    return html`<div class="window ${binds ? 'binds' : ''}">
      ${ring({ name, limit, remaining, timeLeft: Math.min(1, leftMs / lengthMs), isBanned: banned })}
      <h3>${name === 'day' ? 'Day' : 'Minute'}</h3>
      <p class="badges">
        ${when(binds, () => html`<span class="badge binding">binding</span>`)}
        ${banned ? html`<span class="badge bad">banned</span>` : remaining === 0 ? html`<span class="badge warn">used up</span>` : nothing}
      </p>
      <p>
        <strong class="reset">${toCountdown(leftMs)}</strong>
        <span class="quiet">to the reset${banned ? ' of the window' : ''}<br />at ${toLocalTime(reset * 1_000, nowMs)}</span>
      </p>
      ${when(banned, () => html`<p class="quiet">${atItsEnd.toLocaleString('en')} left when the ban ends</p>`)}
    </div>`;
  }

  #headers({ headers, binding, minute, day, rehearsal }: Account, banned: boolean): View {
    const lines = linesOf(headers, binding, banned);
    const text = lines.map((line) => line.map((piece) => piece.text).join('')).join('\n');
    return html`<div class="row spread">
        <h3>Header fields now</h3>
        <button type="button" @click=${() => this.#copy(text)}>Copy</button>
      </div>
      <ul class="lines">
        ${lines.map((line) => html`<li class=${line.some(({ isMarked }) => isMarked) ? 'marked' : ''}><code>${line.map(piece)}</code></li>`)}
      </ul>
      <p role="status">${this.#copied}</p>
      <p class="quiet">
        As an answer would carry them. Marked: ${banned ? 'what tells of the ban' : `what tells of the ${binding}, which binds`}.
        ${when(!banned && minute.remaining > 0 && day.remaining > 0, () => html`No <code>Retry-After</code>: a request would be admitted${rehearsal ? ', unless a fault acts' : ''}.`)}
      </p>`;
  }

  #bursts(account: Account, isAnswering: boolean): View {
    const burst = this.#burst;
    const isRunning = burst?.isRunning ?? false;
    if (!isRunning)
      this.#prediction = html`<p>${predictBurst(account)} ${account.rehearsal ? 'So it is unless a fault acts.' : nothing}</p>`;
    return html`<h3>Run into the limit</h3>
      <p>
        ${burstSize} real requests, ten at a time, from a client that does not look at answers. They take up to ${burstSize} of
        the limit, and whoever does it again and again is banned.
      </p>
      ${this.#prediction}
      <p class="row">
        <button type="button" class=${isRunning ? '' : 'primary'} ?disabled=${!isAnswering && !isRunning} @click=${(event: MouseEvent) => this.#toggle(event)}>
          ${isRunning ? 'Stop' : `Send ${burstSize} requests`}
        </button>
        <code>GET /v1/pets?limit=1</code>
        ${isAnswering || isRunning ? nothing : html`<span class="quiet">The service does not answer.</span>`}
      </p>
      ${burst ? burstStrip(burst) : nothing}
      <div role="status">${burst ? burstInWords(burst) : nothing}</div>`;
  }

  #toggle({ detail }: MouseEvent): void {
    // The second click of a double click stops nothing.
    if (detail > 1) return;
    if (this.#burst?.isRunning) this.#burst.stop();
    else void this.#send();
  }

  async #send(): Promise<void> {
    const { key } = session;
    const name = `${burstRequest}${Date.now().toString(36)}`;
    let readAtMs = Date.now();
    const burst = new Burst(
      (number, ended) =>
        fetch(`${baseUrl}/pets?limit=1`, {
          headers: { authorization: `Bearer ${key}`, 'x-request-id': `${name}-${number}` },
          cache: 'no-store',
          redirect: 'manual',
          signal: AbortSignal.any([ended, AbortSignal.timeout(burstTimeoutMs)]),
        }),
      () => {
        this.draw();
        if (Date.now() < readAtMs + readEveryMs) return;
        readAtMs = Date.now();
        void session.refresh();
      },
    );
    this.#burst = burst;
    await untilKeyChange(burst.run());
    await session.refresh();
  }

  async #copy(text: string): Promise<void> {
    this.#copied = await untilKeyChange(copiedOrSelected(text, this.element.querySelector('.lines')));
    this.draw();
    const copies = ++this.#copies;
    await sleep(5_000);
    if (copies !== this.#copies) return;
    this.#copied = '';
    this.draw();
  }

  async #startRecording(): Promise<void> {
    this.#failure = '';
    try {
      await recording.start();
    } catch (error) {
      this.#failure = reasonOf(error);
    }
    this.draw();
  }
}

const legend = html`Thick ring: what is used. Thin ring: the time to the reset. The binding window has the least left:
  <code>X-RateLimit-*</code> tell of it.`;
const legendOfBan = html`Dashed ring: nothing is admitted until the ban ends. Thin ring: the time to the reset.`;

/** A line may wrap before each piece. */
const piece = ({ text, isMarked }: Piece) => html`<wbr />${isMarked ? html`<mark>${text}</mark>` : text}`;

/** The state of the key for screen readers. */
function stateOf({ minute, day }: Account, banned: boolean): string {
  if (banned) return 'The key is banned.';
  if (day.remaining === 0) return 'The day is used up.';
  return minute.remaining === 0 ? 'The minute is used up.' : '';
}

function strikes({ strikes, strikesAllowed, ban }: Account, banned: boolean): View {
  const allowed = strikesAllowed.toLocaleString('en');
  if (banned) return html`<h3>Strikes</h3><p>They begin again from 0 after the ban.</p>`;
  return html`<h3>Strikes</h3>
    <p class="row strikes">
      <strong>${strikes.toLocaleString('en')} of ${allowed}</strong>
      <svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" role="meter" aria-label="Strikes"
        aria-valuenow=${strikes} aria-valuemin="0" aria-valuemax=${strikesAllowed}>
        <rect width=${(100 * strikes) / strikesAllowed} height="10" />
      </svg>
    </p>
    <p>
      A strike is a request that was refused with 429 in this minute. One more than ${allowed} in a minute begins a ban.
      It would last ${toLength(ban.nextSeconds)}.
    </p>`;
}

function facts({ keyId, plan, workspace, openStreams, sharing: counted }: Account): View {
  return html`<dl>
    <dt>Key</dt><dd><code>${keyId}</code></dd>
    <dt>Plan</dt><dd>${plan}</dd>
    <dt>Workspace</dt><dd>${workspace}</dd>
    <dt>Open streams</dt><dd>${openStreams}</dd>
    <dt>Limits are counted</dt><dd>${sharing[counted] ?? counted}</dd>
  </dl>`;
}

addPanel('lab-limits', Limits);
