import { PetstoreError } from '../../client/error.ts';
import type { Delivery, EventType, Int64, Webhook } from '../../client/index.ts';
import { eventTypes } from '../../client/operations.ts';
import { counted } from '../../foundation/words.ts';
import { type FirstPage, firstPage, reasonOf } from './api.ts';
import { copiedOrSelected } from './copying.ts';
import { blockedNote, needsService, Panel } from './panel.ts';
import { html, nothing, plain, repeat, type TemplateResult, timeOf, type View, when } from './template.ts';
import { endToSecond, sleep } from './times.ts';

const maxDeliveries = 20;
/** Most receivers answer within this time. */
const sentWithinMs = 1_000;
/** Receivers have 15 s to answer. */
const answeredWithinMs = 16_000;

const disabledReasons: Readonly<Record<string, string>> = {
  gone: 'its receiver returned 410',
  failing: 'all attempts failed for too long',
};

export class WebhooksPanel extends Panel {
  #webhooks: FirstPage<Webhook> | undefined;
  /** How often the webhooks have changed. A list that was requested before the last change is out of date. */
  #changes = 0;
  /** The deliveries and the new secrets of webhooks, by their ids. */
  readonly #deliveries = new Map<Int64, Deliveries>();
  readonly #secrets = new Map<Int64, { secret: string; copied: string }>();
  #isAdding = false;
  /** The webhook whose removal the user has to confirm. */
  #removing: Int64 | undefined;

  protected view(): View {
    const webhooks = this.#webhooks;
    return html`${webhooks && webhooks.items.length > 0 ? this.#tools() : this.#empty(webhooks !== undefined)}
      ${this.failure('list')} ${when(this.#isAdding, () => this.#form())}
      ${repeat(
        this.#secrets,
        ([id]) => id,
        ([id, { secret, copied }]) => this.#secret(id, secret, copied),
      )}
      ${repeat(
        webhooks?.items ?? [],
        ({ id }) => id,
        (webhook) => this.#webhook(webhook),
      )}
      ${when(webhooks?.hasMore, () => html`<p class="quiet">There are more webhooks than these.</p>`)}`;
  }

  #tools(): TemplateResult {
    return html`<h2>Webhooks</h2>
      ${blockedNote(this.session)}
      <div class="row">${this.#button('list', 'Reload', 1, this.#read)} ${this.#adder()}</div>`;
  }

  #empty(isRead: boolean): TemplateResult {
    return html`<div class="empty">
      <h2>Webhooks</h2>
      ${when(isRead, () => html`<p><strong>There is no webhook yet.</strong></p>`)}
      <p>URLs that receive the events of the workspace, and their deliveries. Guide: <a href="reference#guides/events/receive-webhooks">Receive webhooks</a></p>
      ${blockedNote(this.session)}
      <div class="choices">
        ${
          isRead
            ? html`${this.#adder('primary')} ${this.#button('list', 'Reload', 1, this.#read)}`
            : this.#button('list', 'Show the webhooks', 1, this.#read, 'primary')
        }
      </div>
    </div>`;
  }

  #adder(kind = ''): TemplateResult {
    return html`<button type="button" class=${kind} aria-expanded=${this.#isAdding} @click=${this.#add}>Add a webhook</button>`;
  }

  #webhook(webhook: Webhook): TemplateResult {
    const { id, url, types, description, enabled } = webhook;
    const at = `webhook ${id}`;
    const deliveries = this.#deliveries.get(id);
    return html`<section class="webhook" aria-label=${at}>
      <h3>${id} <bdi>${plain(url, 200)}</bdi></h3>
      <p>
        <span class="badge ${enabled ? 'good' : 'bad'}">${stateOf(webhook)}</span>
        <span class="quiet">${types ? types.map((type) => plain(type, 60)).join(', ') : 'all types, including future ones'}</span>
      </p>
      ${when(description, (text) => html`<p class="quiet"><bdi>${plain(text)}</bdi></p>`)}
      <div class="row">
        ${
          enabled
            ? this.#button(`${at} ping`, 'Ping', 2, () =>
                this.#send(id, this.session.petstore.pingWebhook(id)),
              )
            : this.#button(`${at} enable`, 'Enable', 1, () => this.#enable(id))
        }
        ${this.#button(`${at} deliveries`, deliveries ? 'Reload deliveries' : 'Show deliveries', 1, () => this.#readDeliveries(id))}
        ${
          this.#removing === id
            ? html`<span>Remove it with its deliveries?</span>
                ${this.#button(`${at} remove`, 'Yes, remove it', 1, () => this.#remove(id), 'danger')}
                <button type="button" class="keep" @click=${() => this.#ask(undefined, `.remove-${id}`)}>No, keep it</button>`
            : html`<button type="button" class="remove-${id}" @click=${() => this.#ask(id, '.keep')}>Remove</button>`
        }
      </div>
      ${['ping', 'enable', 'deliveries', 'remove'].map((action) => this.failure(`${at} ${action}`))}
      ${deliveries ? deliveryList(deliveries, (delivery) => this.#again(id, delivery)) : nothing}
    </section>`;
  }

  /** The button that sends a delivery again, and why that failed. */
  #again(webhookId: Int64, { id }: Delivery): [button: View, failure: View] {
    const at = `delivery ${webhookId} ${id}`;
    const send = () => this.#send(webhookId, this.session.petstore.redeliver(webhookId, id));
    return [this.#button(at, 'Send again', 2, send), this.failure(at)];
  }

  #form(): TemplateResult {
    return html`<form class="new-webhook" @submit=${this.#create}>
      <label>URL <input name="url" type="url" required placeholder="https://…" /></label>
      <fieldset>
        <legend>Types (choose none for all types, including future ones)</legend>
        ${eventTypes.map((type) => html`<label><input type="checkbox" name="types" value=${type} />${type}</label>`)}
      </fieldset>
      <div class="row">
        ${this.#button('add', 'Add it', 1, undefined, 'primary')}
        <span class="quiet">Enter a public https URL. A service on this machine also accepts http URLs of this machine.</span>
      </div>
      ${this.failure('add')}
    </form>`;
  }

  #secret(id: Int64, secret: string, copied: string): TemplateResult {
    return html`<section class="secret secret-${id}" aria-label="secret of webhook ${id}">
      <p>
        <b>The secret of webhook ${id}.</b> Copy it now: it is not shown again. Anyone who has it
        can forge deliveries. Store it where your receiver reads it.
      </p>
      <p><code>${secret}</code></p>
      <div class="row">
        <button type="button" @click=${() => this.#copy(id, secret)}>Copy</button>
        <button type="button" @click=${() => this.#hide(id)}>I have saved it. Hide the secret.</button>
      </div>
      <p role="status">${copied}</p>
    </section>`;
  }

  #button(at: string, text: string, requests: number, act?: () => unknown, kind = ''): TemplateResult {
    return needsService(
      this.session,
      html`<button type=${act ? 'button' : 'submit'} class=${kind} ?disabled=${this.session.blockedBy !== undefined}
      aria-disabled=${this.isRunning(at)} @click=${act ? () => this.run(act, at, reasonWithTimeOf) : nothing}>
      ${text} <small>${counted(requests, 'request')}</small>
    </button>`,
    );
  }

  readonly #read = async (): Promise<void> => {
    const changes = this.#changes;
    const webhooks = await firstPage(this.session.petstore.listWebhooks());
    if (changes === this.#changes) this.#show(webhooks);
  };

  #show(webhooks: FirstPage<Webhook>): void {
    this.#webhooks = webhooks;
    this.#changes++;
  }

  async #readDeliveries(id: Int64): Promise<void> {
    const readAt = this.session.nowMs();
    const deliveries = await firstPage(this.session.petstore.listDeliveries(id, { limit: maxDeliveries }));
    const shown = this.#deliveries.get(id);
    if (!(shown && shown.readAt > readAt)) this.#deliveries.set(id, { ...deliveries, readAt });
  }

  readonly #add = (): void => {
    this.#isAdding = !this.#isAdding;
    this.failures.delete('add');
    this.draw();
  };

  readonly #create = (event: SubmitEvent): void => {
    event.preventDefault();
    const entered = new FormData(event.target as HTMLFormElement);
    const types = entered.getAll('types') as EventType[];
    const send = async () => {
      const body = { url: String(entered.get('url')).trim(), ...(types.length > 0 && { types }) };
      const { secret, ...webhook } = await this.session.petstore.createWebhook(body);
      this.#change((webhooks) => [...webhooks, webhook]);
      this.#secrets.set(webhook.id, { secret, copied: '' });
      this.#isAdding = false;
      if (this.element.contains(document.activeElement)) this.#focus(`.secret-${webhook.id} button`);
    };
    void this.run(send, 'add', reasonWithTimeOf);
  };

  /** Shows a delivery at once, and its result a moment later. */
  async #send(webhookId: Int64, sending: Promise<Delivery>): Promise<void> {
    const delivery = await sending.catch(async (error: unknown) => {
      // The webhook may be disabled by now.
      if (error instanceof PetstoreError && error.code === 'conflict') await this.#readOne(webhookId);
      throw error;
    });
    const known = this.#deliveries.get(webhookId) ?? {
      items: [],
      hasMore: false,
      readAt: this.session.nowMs(),
    };
    const others = known.items.filter(({ id }) => id !== delivery.id);
    this.#deliveries.set(webhookId, { ...known, items: [delivery, ...others] });
    this.draw();
    await sleep(sentWithinMs);
    const sent = await this.#readSent(webhookId, delivery.id);
    if (sent?.attempts.length === delivery.attempts.length) void this.#readLater(webhookId, delivery.id);
  }

  async #readLater(webhookId: Int64, id: Int64): Promise<void> {
    await sleep(answeredWithinMs);
    // After a failure the user has the button.
    await this.#readSent(webhookId, id).catch(() => {});
    this.draw();
  }

  /** Reads a delivery, and its webhook if the delivery failed: the failure may have disabled it. */
  async #readSent(webhookId: Int64, id: Int64): Promise<Delivery | undefined> {
    await this.#readDeliveries(webhookId);
    const sent = this.#deliveries.get(webhookId)?.items.find((one) => one.id === id);
    if (sent?.state === 'failed') await this.#readOne(webhookId);
    return sent;
  }

  async #readOne(id: Int64): Promise<void> {
    this.#replace(await this.session.petstore.getWebhook(id));
  }

  #replace(webhook: Webhook): void {
    this.#change((webhooks) => webhooks.map((other) => (other.id === webhook.id ? webhook : other)));
  }

  async #enable(id: Int64): Promise<void> {
    this.#replace(await this.session.petstore.updateWebhook(id, { enabled: true }));
    // These failed because it was disabled.
    for (const at of this.failures.keys())
      if (at.startsWith(`webhook ${id} `) || at.startsWith(`delivery ${id} `)) this.failures.delete(at);
  }

  async #remove(id: Int64): Promise<void> {
    await this.session.petstore.deleteWebhook(id);
    this.#change((webhooks) => webhooks.filter((webhook) => webhook.id !== id));
    this.#deliveries.delete(id);
    this.#removing = undefined;
    this.#hide(id);
  }

  #change(change: (webhooks: Webhook[]) => Webhook[]): void {
    if (this.#webhooks) this.#show({ ...this.#webhooks, items: change(this.#webhooks.items) });
  }

  #ask(id: Int64 | undefined, next: string): void {
    this.#removing = id;
    this.#focus(next);
  }

  async #copy(id: Int64, secret: string): Promise<void> {
    const code = this.element.querySelector(`.secret-${id} code`);
    const copied = await copiedOrSelected(secret, code);
    if (!this.#secrets.has(id)) return;
    this.#secrets.set(id, { secret, copied });
    this.draw();
  }

  #hide(id: Int64): void {
    this.#secrets.delete(id);
    this.draw();
  }

  /** Draws, and focuses the element in place of the one that had the focus. */
  #focus(next: string): void {
    void this.draw().then(() => this.element.querySelector<HTMLElement>(next)?.focus());
  }
}

function stateOf({ enabled, disabledReason }: Webhook): string {
  if (enabled) return 'enabled';
  const reason = disabledReason && (disabledReasons[disabledReason] ?? plain(disabledReason));
  return reason ? `disabled: ${reason}` : 'disabled by a request';
}

/** Why an action failed, and from when on the user can send it again. */
function reasonWithTimeOf(error: unknown): View {
  const reason = reasonOf(error);
  const { retryAt, requestId } = error instanceof PetstoreError ? error : {};
  // The reason has the time if the request was not sent.
  if (!retryAt || !requestId) return html`${reason}`;
  return html`${reason} You can retry at ${timeOf(endToSecond(retryAt.getTime()))}.`;
}

type Deliveries = FirstPage<Delivery> & { readAt: number };

/** The button that sends a delivery again, and why that failed. */
type SendAgain = (delivery: Delivery) => [button: View, failure: View];

const colors: Readonly<Record<string, string>> = { delivered: 'good', failed: 'bad', pending: 'warn' };

/** The deliveries of a webhook, the newest first. */
function deliveryList({ items, hasMore, readAt }: Deliveries, sendAgain: SendAgain): TemplateResult {
  const list = html`<ul class="deliveries">
    ${repeat(
      items,
      ({ id }) => id,
      (delivery) => row(delivery, sendAgain(delivery)),
    )}
  </ul>`;
  return html`${items.length > 0 ? list : nothing}
    <p class="quiet">
      ${items.length > 0 ? nothing : 'Nothing was sent to it yet.'}
      ${hasMore ? `These are the newest ${items.length}. There are more.` : nothing}
      Read at ${timeOf(readAt)}.
    </p>`;
}

function row(delivery: Delivery, [button, failure]: ReturnType<SendAgain>): TemplateResult {
  const { type, eventId, state, attempts, createdAt, messageId, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  const next = state === 'pending' && nextAttemptAt ? html`; next at ${timeOf(nextAttemptAt)}` : nothing;
  return html`<li>
    <div class="row spread">
      <div>
        <span class="badge ${colors[state] ?? ''}">${plain(state, 60)}</span>
        <b>${plain(type, 60)}</b> ${eventId === undefined ? nothing : html`<span class="quiet">event ${eventId}</span>`}
        ${timeOf(createdAt)}
      </div>
      ${button}
    </div>
    <details>
      <summary class="attempts">
        ${counted(attempts.length, 'attempt')}: ${last ? outcomeOf(last) : 'none has finished yet'}${next}
      </summary>
      <ol>
        ${attempts.map((attempt) => html`<li>${timeOf(attempt.at)}: ${outcomeOf(attempt)}</li>`)}
      </ol>
      <p class="quiet"><code>webhook-id: ${plain(messageId)}</code></p>
    </details>
    ${failure}
  </li>`;
}

function outcomeOf({ status, error, durationMs }: Delivery['attempts'][number]): string {
  const outcome = error ? plain(error.replace(/\.$/, '')) : `The receiver returned ${status ?? 'nothing'}`;
  return `${outcome}, in ${durationMs} ms`;
}
