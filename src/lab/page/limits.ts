import { isBannedAt, type KeyAccount, linesOf, type Piece, strikesInWords } from './account.ts';
import { banPanel } from './ban.ts';
import { copiedOrSelected } from './copying.ts';
import { Panel } from './panel.ts';
import { html, nothing, type View, when } from './template.ts';
import { sleep, toCountdown, toLocalTime } from './times.ts';

const windows = ['minute', 'day'] as const;

const sharing: Record<string, View> = {
  off: html`<span class="quiet">by this instance alone</span>`,
  on: html`together by all instances`,
  away: html`<span class="badge warn">each instance alone</span> The shared counter is unreachable. Until it is back, each instance
    counts separately, and together they admit more.`,
};

export class LimitsPanel extends Panel {
  #isOpen = false;
  #copied = '';
  #copies = 0;

  protected view(account: KeyAccount): View {
    const isLive = this.session.connection === 'live';
    // Time counts down only while the page knows the account.
    const nowMs = isLive ? this.session.nowMs() : Date.parse(account.at);
    this.drawEachSecond();
    const banned = isBannedAt(account, nowMs);
    return html`<h2 class="unseen">Limits</h2>
      <p class="unseen" role="status">${stateOf(account, banned)}</p>
      <div class="limits ${banned ? 'banned' : ''}">
        ${windows.map((window) => this.#window(window, account, nowMs, banned))}
        <p class="state">
          ${
            banned
              ? html`<span><strong>Banned</strong> for</span> <strong>${toCountdown(Date.parse(account.ban.until as string) - nowMs)}</strong>`
              : html`<span>Strikes</span> <strong>${account.strikes.toLocaleString('en')} of ${account.strikesAllowed.toLocaleString('en')}</strong>`
          }
          ${isLive ? nothing : html`<span class="quiet">as of ${toLocalTime(nowMs, nowMs)}</span>`}
        </p>
        <button type="button" aria-expanded=${this.#isOpen} @click=${() => this.#toggle()}>${banned ? 'Why banned?' : 'Details'}</button>
      </div>
      ${this.failure()}
      ${when(this.#isOpen, () => this.#details(account, nowMs, banned))}`;
  }

  #toggle(): void {
    this.#isOpen = !this.#isOpen;
    this.draw();
  }

  #details(account: KeyAccount, nowMs: number, banned: boolean): View {
    return html`<div class="details">
      ${when(banned, () => banPanel(this.context, account, nowMs, () => void this.run(() => this.context.recording.start())))}
      <section>${this.#headers(account, banned)}</section>
      <section>
        <h3>Strikes</h3>
        <p>${strikesInWords(account, banned)}</p>
        ${facts(account)}
        ${when(account.rehearsal, () => html`<p class="rehearsed"><a href="#faults">A rehearsal is active</a>: responses may differ. These are the real limits.</p>`)}
        <p class="quiet">The page reads these from the lab. This does not count against the limits, and works during a ban.</p>
      </section>
    </div>`;
  }

  #window(name: (typeof windows)[number], account: KeyAccount, nowMs: number, banned: boolean) {
    const { limit, remaining, reset } = account[name];
    const leftMs = Math.max(0, reset * 1_000 - nowMs);
    const applies = !banned && account.binding === name;
    const left = remaining.toLocaleString('en');
    const of = limit.toLocaleString('en');
    const label = `${left} of ${of} left in this ${name}${banned ? ', during the ban' : ''}`;
    return html`<div class="window ${applies ? 'applies' : ''} ${remaining === 0 ? 'used-up' : ''}">
      <h3>${name === 'day' ? 'Day' : 'Minute'} ${when(applies, () => html`<span class="badge">applies</span>`)}</h3>
      <p><strong>${left}</strong> of ${of}<span class="left"> left</span></p>
      <p class="reset">resets in ${toCountdown(leftMs)}</p>
      <svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=${label}>
        <rect width=${(100 * remaining) / limit} height="10" />
      </svg>
    </div>`;
  }

  #headers({ headers, binding, minute, day, rehearsal }: KeyAccount, banned: boolean): View {
    const lines = linesOf(headers, binding, banned);
    const text = lines.map((line) => line.map((piece) => piece.text).join('')).join('\n');
    return html`<div class="row spread">
        <h3>Headers now</h3>
        <button type="button" @click=${() => this.#copy(text)}>Copy</button>
      </div>
      <ul class="lines">
        ${lines.map((line) => html`<li class=${line.some(({ isMarked }) => isMarked) ? 'marked' : ''}><code>${line.map(piece)}</code></li>`)}
      </ul>
      <p role="status">${this.#copied}</p>
      <p class="quiet">
        A response would have these now. Marked: ${banned ? 'the headers of the ban' : `the headers of the ${binding}, which applies`}.
        ${when(!banned && minute.remaining > 0 && day.remaining > 0, () => html`No <code>Retry-After</code>: a request would be admitted${rehearsal ? ', unless a fault is active' : ''}.`)}
      </p>`;
  }

  async #copy(text: string): Promise<void> {
    this.#copied = await copiedOrSelected(text, this.element.querySelector('.lines'));
    this.draw();
    const copies = ++this.#copies;
    await sleep(5_000);
    if (copies !== this.#copies) return;
    this.#copied = '';
    this.draw();
  }
}

/** A line may wrap before each piece. */
const piece = ({ text, isMarked }: Piece) => html`<wbr />${isMarked ? html`<mark>${text}</mark>` : text}`;

/** The state of the key for screen readers. */
function stateOf({ minute, day }: KeyAccount, banned: boolean): string {
  if (banned) return 'The key is banned.';
  if (day.remaining === 0) return 'The day is used up.';
  return minute.remaining === 0 ? 'The minute is used up.' : '';
}

function facts({ keyId, plan, workspace, openStreams, sharing: counted }: KeyAccount): View {
  return html`<dl>
    <dt>Key</dt><dd><code>${keyId}</code></dd>
    <dt>Plan</dt><dd>${plan}</dd>
    <dt>Workspace</dt><dd>${workspace}</dd>
    <dt>Open streams</dt><dd>${openStreams}</dd>
    <dt>Limits are counted</dt><dd>${sharing[counted] ?? counted}</dd>
  </dl>`;
}
