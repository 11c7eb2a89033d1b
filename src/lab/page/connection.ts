import { currentKey } from '../../access/keys/browser-key.ts';
import type { ConnectionState } from './account.ts';
import { commandOf } from './first-steps.ts';
import { Panel } from './panel.ts';
import type { Session } from './session.ts';
import { html, nothing, type TemplateResult, type View } from './template.ts';
import { clockTime, endToSecond } from './times.ts';

/** Says why the page shows nothing or nothing new, and what to do. */
export class ConnectionPanel extends Panel {
  protected view(): View {
    return nothing;
  }

  protected override anyView(): View {
    // For frame.css.
    const { connection } = this.session;
    document.body.dataset.connection = connection;
    return views[connection](this.session);
  }
}

const views: Readonly<Record<ConnectionState, (session: Session) => View>> = {
  'no-key': () => html`<div class="connection">
    <h2>Enter an API key</h2>
    <p>This page shows live what one API key and its clients do.</p>
    <ol>
      <li>Open the address that the service prints when it starts. It contains a key.</li>
      <li>Or create a key. ${howToMakeOne()}</li>
      <li>Enter the key above. This tab keeps it until you close the tab.</li>
    </ol>
    <p>Test the key. This counts as one request:</p>
    <pre>${commandOf('pet_…')}</pre>
  </div>`,
  connecting: () => html`<p class="connection">Connecting …</p>`,
  live: () => nothing,
  slowed: (session) => html`<div class="connection bar">
    <p>
      <strong>This key sends too many requests to the lab. Is it open in many tabs?</strong>
      The data below is as of ${clockTime(session.asOfMs)}. The page continues at ${clockTime(endToSecond(session.retryAtMs))}.
    </p>
  </div>`,
  away: (session) => html`<div class="connection bar">
    <p>
      <strong>Paused since ${clockTime(session.asOfMs)}, trying again.</strong>
      ${session.account ? 'The data below is from then.' : ''}
    </p>
    <p class="quiet">${session.failure}</p>
  </div>`,
  revoked: (session) => html`<div class="connection">
    <h2>Unknown key</h2>
    <p>
      The service does not know <code>${currentKey().slice(0, 8)}…</code>: it was revoked, its workspace was deleted, or it belongs to
      another installation. Programs that send it get <code>401</code>. A revoked key cannot be restored.
    </p>
    <ol>
      <li>${howToMakeOne()}</li>
      <li>Press “Forget key” above, and enter the new key.</li>
    </ol>
    <button type="button" @click=${() => session.restart(currentKey())}>Ask again</button>
  </div>`,
  'lab-off': () => html`<div class="connection">
    <h2>The lab is switched off</h2>
    <p>
      This service has no lab, so there is nothing to show. The operator turns it on with the setting <code>PETSTORE_LAB=on</code> and a
      restart. Leave this page open: it checks every ten seconds and continues by itself. If you reload it now, you get 404.
    </p>
    <p>The API and <a href="reference">its reference</a> work without the lab.</p>
  </div>`,
};

const howToMakeOne = (): TemplateResult =>
  html`With an invite, <a href="join">get a key</a> yourself. Otherwise the operator of the service creates keys with
    <code>petstore keys create</code>. In a clone of the repository, for the demo workspace:
    <pre>npm run -s petstore -- keys create --plan free --workspace demo</pre>`;
