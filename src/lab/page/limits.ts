import { burstRequest } from '../own-requests.ts';
import { banPanel, isBanned } from './ban.ts';
import { Burst, burstSize, foresee } from './burst.ts';
import { inWords, strip } from './burst-strip.ts';
import { copiedOrSelected } from './copying.ts';
import { linesOf, type Piece } from './header-lines.ts';
import { recording } from './recording.ts';
import { ring } from './ring.ts';
import { Section, type View } from './section.ts';
import { baseUrl, reasonOf, session } from './session.ts';
import { html, nothing } from './template.ts';
import { toCountdown, toLength, toLocalTime } from './times.ts';
import type { Account } from './types.ts';

/** While a burst runs, how the key stands is read more often. */
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

/** Longer than the service takes for a request. */
const burstTimeoutMs = 30_000;

class Limits extends Section {
  #burst: Burst | undefined;
  /** What would come of a burst. It stays as it is while one runs, so that the button below it does not move. */
  #foreseen: View = nothing;
  #copied = '';
  #told: ReturnType<typeof setTimeout> | undefined;
  #failure = '';
  #tick: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.follow(recording);
  }

  protected begin(): void {
    this.#burst = undefined;
    this.#copied = '';
    this.#failure = '';
  }

  protected view(): View {
    clearTimeout(this.#tick);
    const { account, standing } = session;
    if (!account) return nothing;
    const isLive = standing === 'live';
    // While nothing is known, nothing is counted down.
    const nowMs = isLive ? session.nowMs() : Date.parse(account.at);
    if (isLive && !document.hidden) this.#tick = setTimeout(() => this.draw(), 1_000 - (nowMs % 1_000));
    const banned = isBanned(account, nowMs);
    return html`<h2>Limits</h2>
      ${isLive ? nothing : html`<p class="quiet">As it stood at ${toLocalTime(nowMs, nowMs)}.</p>`}
      <p class="unseen" role="status">${stateOf(account, banned)}</p>
      ${banned ? this.#ban(account, nowMs) : nothing}
      <p class="failure" role="alert">${this.#failure}</p>
      ${
        account.rehearsal
          ? html`<p class="rehearsed">
              <a href="#faults">A rehearsal is active</a>: answers may say otherwise. These are the real limits.
            </p>`
          : nothing
      }
      <div class="rings">${windows.map((window) => this.#window(window, account, nowMs, banned))}</div>
      <p class="quiet">${banned ? legendOfBan : legend}</p>
      ${this.#bursts(account, standing !== 'away')} ${strikes(account, banned)} ${facts(account)} ${this.#headers(account, banned)}
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
        ${binds ? html`<span class="badge binding">binding</span>` : nothing}
        ${banned ? html`<span class="badge bad">banned</span>` : remaining === 0 ? html`<span class="badge warn">used up</span>` : nothing}
      </p>
      <p>
        <strong class="reset">${toCountdown(leftMs)}</strong>
        <span class="quiet">to the reset${banned ? ' of the window' : ''}<br />at ${toLocalTime(reset * 1_000, nowMs)}</span>
      </p>
      ${banned ? html`<p class="quiet">${atItsEnd.toLocaleString('en')} left when the ban ends</p>` : nothing}
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
        ${!banned && minute.remaining > 0 && day.remaining > 0 ? html`No <code>Retry-After</code>: a request would be admitted${rehearsal ? ', unless a fault acts' : ''}.` : nothing}
      </p>`;
  }

  #bursts(account: Account, isAnswering: boolean): View {
    const burst = this.#burst;
    const isRunning = burst?.isRunning ?? false;
    if (!isRunning)
      this.#foreseen = html`<p>${foresee(account)} ${account.rehearsal ? 'So it is unless a fault acts.' : nothing}</p>`;
    return html`<h3>Run into the limit</h3>
      <p>
        ${burstSize} real requests, ten at a time, from a client that does not look at answers. They take up to ${burstSize} of
        the limit, and whoever does it again and again is banned.
      </p>
      ${this.#foreseen}
      <p class="row">
        <button type="button" class=${isRunning ? '' : 'primary'} ?disabled=${!isAnswering && !isRunning} @click=${(event: MouseEvent) => this.#toggle(event)}>
          ${isRunning ? 'Stop' : `Send ${burstSize} requests`}
        </button>
        <code>GET /v1/pets?limit=1</code>
        ${isAnswering || isRunning ? nothing : html`<span class="quiet">The service does not answer.</span>`}
      </p>
      ${burst ? strip(burst) : nothing}
      <div role="status">${burst ? inWords(burst) : nothing}</div>`;
  }

  #toggle({ detail }: MouseEvent): void {
    // The second click of a double one stops nothing.
    if (detail > 1) return;
    if (this.#burst?.isRunning) this.#burst.stop();
    else void this.#send();
  }

  async #send(): Promise<void> {
    const { key, signal } = session;
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
        if (signal.aborted || Date.now() < readAtMs + readEveryMs) return;
        readAtMs = Date.now();
        void session.refresh();
      },
    );
    this.#burst = burst;
    await burst.run(signal);
    if (!signal.aborted) await session.refresh();
  }

  async #copy(text: string): Promise<void> {
    const { signal } = session;
    const told = await copiedOrSelected(text, this.querySelector('.lines'));
    if (signal.aborted) return;
    this.#tell(told);
    clearTimeout(this.#told);
    this.#told = setTimeout(() => this.#tell(''), 5_000);
  }

  #tell(copied: string): void {
    this.#copied = copied;
    this.draw();
  }

  async #startRecording(): Promise<void> {
    const { signal } = session;
    this.#failure = '';
    try {
      await recording.start();
    } catch (error) {
      if (!signal.aborted) this.#failure = reasonOf(error);
    }
    this.draw();
  }
}

const legend = html`Thick ring: what is used. Thin ring: the time to the reset. The binding window has the least left:
  <code>X-RateLimit-*</code> tell of it.`;
const legendOfBan = html`Dashed ring: nothing is admitted until the ban ends. Thin ring: the time to the reset.`;

/** It may wrap where it begins. */
const piece = ({ text, isMarked }: Piece) => html`<wbr />${isMarked ? html`<mark>${text}</mark>` : text}`;

/** What somebody who does not see the page has to be told. */
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

customElements.define('lab-limits', Limits);
