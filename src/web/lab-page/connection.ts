import { currentKey } from '../tab-key.ts';
import { commandOf } from './first-steps.ts';
import { addPanel, Panel } from './panel.ts';
import { session } from './session.ts';
import { html, nothing, type TemplateResult, type View } from './template.ts';
import { clockTime, endToSecond } from './times.ts';
import type { ConnectionState } from './types.ts';

/** Says why the page shows nothing or nothing new, and what to do. */
class Connection extends Panel {
  protected view(): View {
    // For frame.css.
    document.body.dataset.connection = session.connection;
    return views[session.connection]();
  }
}

const views: Readonly<Record<ConnectionState, () => View>> = {
  'no-key': () => html`<div class="connection">
    <h2>Enter an API key</h2>
    <p>This page shows live what one API key and its clients do.</p>
    <ol>
      <li>The service prints an address when it starts. It opens this page with a key.</li>
      <li>${howToMakeOne()}</li>
      <li>Enter it above. It is kept in this tab alone, until you close it.</li>
    </ol>
    <p>Does the key work? This request takes one of its limit:</p>
    <pre>${commandOf('pet_…')}</pre>
  </div>`,
  connecting: () => html`<p class="connection">Connecting …</p>`,
  live: () => nothing,
  slowed: () => html`<div class="connection bar">
    <p>
      <strong>This key asks the lab too often, as from many tabs.</strong>
      What is shown below is as of ${clockTime(session.asOfMs)}. It goes on at ${clockTime(endToSecond(session.retryAtMs))}.
    </p>
  </div>`,
  away: () => html`<div class="connection bar">
    <p>
      <strong>Paused since ${clockTime(session.asOfMs)}, trying again.</strong>
      ${session.account ? 'What is shown below is as of then.' : ''}
    </p>
    <p class="quiet">${session.failure}</p>
  </div>`,
  revoked: () => html`<div class="connection">
    <h2>Unknown key</h2>
    <p>
      The service does not know <code>${currentKey().slice(0, 8)}…</code>: it was revoked, its workspace is gone, or it is of another
      installation. Programs that send it get <code>401</code>. A revoked key does not come back.
    </p>
    <ol>
      <li>${howToMakeOne()}</li>
      <li>“Forget key” above makes room for it.</li>
    </ol>
    <button type="button" @click=${() => session.use(currentKey())}>Ask again</button>
  </div>`,
  'lab-off': () => html`<div class="connection">
    <h2>The lab is switched off</h2>
    <p>
      This service has no lab, so there is nothing to show. Whoever runs it turns it on with the setting <code>PETSTORE_LAB=on</code> and a
      restart. Leave this page open: it tries every ten seconds, and then continues by itself. If you reload it now, it is not found.
    </p>
    <p>The API works without it, and so does <a href="reference">its reference</a>.</p>
  </div>`,
};

const howToMakeOne = (): TemplateResult =>
  html`The operator of the service creates keys by <code>petstore keys create</code>. In a checkout, for the workspace of the
    demonstration:
    <pre>npm run -s petstore -- keys create --plan free --workspace demo</pre>`;

addPanel('lab-connection', Connection);
