import { isBannedAt, type KeyAccount, strikesInWords } from './account.ts';
import { banPanel } from './ban.ts';
import { Burst, burstInWords, burstSize, burstStrip, predictBurst } from './burst.ts';
import { sendAsClient } from './demo-client.ts';
import { type KeyContext, Panel } from './panel.ts';
import { html, nothing, type TemplateResult, type View } from './template.ts';

/** How often the account is read during a burst. */
const readEveryMs = 500;

/** A demo: requests without pause reach the limit, and then cause a ban. */
export class BanDemo extends Panel {
  #burst: Burst | undefined;
  /** It stays the same while a burst runs, so that the button below it does not move. */
  #prediction = '';

  constructor(element: HTMLElement, context: KeyContext) {
    super(element, context);
    this.session.signal.addEventListener('abort', () => this.#burst?.stop());
  }

  protected view(account: KeyAccount): View {
    const { connection } = this.session;
    this.drawEachSecond();
    const nowMs = this.session.nowMs();
    const banned = isBannedAt(account, nowMs);
    const burst = this.#burst;
    const isRunning = burst?.isRunning ?? false;
    const isAnswering = connection !== 'away';
    if (!isRunning) this.#prediction = predictBurst(account);
    return html`<h2>A client ignores the limit, and is banned</h2>
      <div class="two">
        <div>
          <p>
            The client sends ${burstSize} real requests, ten at a time, and ignores the responses. Send them again to reach the ban.
            Watch the limits above.
          </p>
          <p class="row">
            <button type="button" class=${isRunning || banned ? '' : 'primary'} ?disabled=${!isAnswering && !isRunning} @click=${(event: MouseEvent) => this.#toggle(event)}>
              ${isRunning ? 'Stop' : `Send ${burstSize} requests`}
            </button>
            <code>GET /v1/pets?limit=1</code>
            ${isAnswering || isRunning ? nothing : html`<span class="quiet">The service does not respond.</span>`}
          </p>
          <p class="quiet">${this.#prediction} ${account.rehearsal ? '(Unless a fault is active.)' : nothing}</p>
          ${burst ? burstStrip(burst) : nothing}
          <div role="status">${burst ? burstInWords(burst) : nothing}</div>
        </div>
        ${banned ? banPanel(this.context, account, nowMs) : drawStrikes(account)}
      </div>`;
  }

  #toggle({ detail }: MouseEvent): void {
    // The second click of a double click stops nothing.
    if (detail > 1) return;
    if (this.#burst?.isRunning) this.#burst.stop();
    else void this.#send();
  }

  async #send(): Promise<void> {
    let readAtMs = Date.now();
    const burst = new Burst(
      (signal) => sendAsClient(this.session, '/pets?limit=1', { signal }),
      () => {
        this.draw();
        if (Date.now() < readAtMs + readEveryMs) return;
        readAtMs = Date.now();
        void this.session.refresh();
      },
    );
    this.#burst = burst;
    await burst.run();
    await this.session.refresh();
  }
}

const drawStrikes = (account: KeyAccount): TemplateResult => html`<div class="strikes">
  <h3>Strikes</h3>
  <p class="large" aria-hidden="true">${account.strikes.toLocaleString('en')}</p>
  <svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect width=${(100 * account.strikes) / account.strikesAllowed} height="10" />
  </svg>
  <p>${strikesInWords(account, false)}</p>
</div>`;
