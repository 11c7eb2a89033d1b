import { apiUrl } from './api.ts';
import { type Copying, drawCopy } from './copying.ts';
import { tryWithoutClient } from './demo-client.ts';
import { type KeyContext, needsService } from './panel.ts';
import { html, type TemplateResult } from './template.ts';

/** Sets the variables that clients read, and sends a first request. */
export const commandOf = (key: string) => `export PETSTORE_BASE_URL='${apiUrl}'
export PETSTORE_API_KEY='${key}'
curl --include "$PETSTORE_BASE_URL/pets?limit=2" \\
  --header "Authorization: Bearer $PETSTORE_API_KEY"`;

/** The command for the page, which may be on a projector. Only the clipboard gets the whole key. */
export const shownCommand = (key: string): string => commandOf(`${key.slice(0, 8)}…`);

interface Steps {
  context: KeyContext;
  /** Performs an action, and shows why it failed. */
  act(act: () => Promise<void>): void;
  copy(): void;
  copying: Copying | undefined;
}

/** What a new key sees. */
export const firstSteps = (steps: Steps): TemplateResult => {
  const { act, context } = steps;
  const { session, recording } = context;
  return html`<div class="empty">
    <h2>Point your client here</h2>
    ${commandBlock(steps)}
    <div class="choices">
      <div>
        ${needsService(session, html`<button type="button" class="primary" aria-disabled=${recording.isBusy} @click=${() => act(() => recording.start())}>Watch my client</button>`)}
        <p>Starts a recording: each request of this key appears here, with a verdict.</p>
      </div>
      <div>
        ${needsService(session, html`<button type="button" aria-disabled=${recording.isBusy} ?disabled=${session.blockedBy !== undefined} @click=${() => act(() => tryWithoutClient(context))}>Try it without a client</button>`)}
        <p>A small client sends 8 requests under three faults. It makes one mistake.</p>
      </div>
    </div>
    <p class="quiet">Demos: <a href="#ban-demo">how a client is banned</a>, <a href="#order-demo">how an order is placed twice</a>.</p>
  </div>`;
};

/** The command, and the button that copies it. */
export const commandBlock = ({ context, copy, copying }: Steps): TemplateResult =>
  html`<div class="command">
    <pre>${shownCommand(context.session.key)}</pre>
    <div class="row">
      <button type="button" @click=${copy}>Copy with the key</button>
      <span class="quiet" role="status">${copying?.message ?? ''}</span>
    </div>
    ${drawCopy(copying)}
  </div>`;
