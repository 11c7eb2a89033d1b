import type { Delivery, EventType, Int64, Webhook } from '../../client/index.ts';
import { PetstoreError } from '../../client/index.ts';
import { copiedOrSelected } from './copying.ts';
import { type Deliveries, deliveryList } from './deliveries.ts';
import { type FirstPage, firstPage } from './first-page.ts';
import { obstacleNote } from './obstacle.ts';
import { counted, plain, timeOf } from './plain-text.ts';
import { asking, Section, type View } from './section.ts';
import { reasonOf, session } from './session.ts';
import { html, nothing, repeat, type TemplateResult } from './template.ts';
import { endToSecond } from './times.ts';
import { eventTypes, standingOf } from './webhook-types.ts';

/** So many deliveries of a webhook are read. */
const maxDeliveries = 20;
/** By then what was just asked to be sent has mostly been answered. */
const sentWithinMs = 1_000;
/** Receivers have 15 s to answer. */
const answeredWithinMs = 16_000;

class Webhooks extends Section {
  #webhooks: FirstPage<Webhook> | undefined;
  /** How often they have changed: a list that was asked for before the last change is out of date. */
  #changes = 0;
  #deliveries = new Map<Int64, Deliveries>();
  /** The secrets that are shown, as each is told only once, and what came of copying them, by their webhooks. */
  #secrets = new Map<Int64, { secret: string; told: string }>();
  #isAdding = false;
  /** The one that somebody asked to remove, and has not confirmed. */
  #leaving: Int64 | undefined;
  /** Actions under way, and what failed, by where they were begun. */
  #busy = new Set<string>();
  #failures = new Map<string, View>();

  protected begin(): void {
    this.#webhooks = undefined;
    this.#deliveries.clear();
    this.#secrets.clear();
    this.#isAdding = false;
    this.#leaving = undefined;
    this.#busy.clear();
    this.#failures.clear();
  }

  protected view(): View {
    if (!session.account) return nothing;
    const webhooks = this.#webhooks;
    return html`<h2>Webhooks</h2>
      ${obstacleNote(session.obstacle, session.nowMs())}
      ${
        webhooks
          ? html`<div class="row">
              ${this.#button('list', 'Read anew', 1, this.#read)}
              <button type="button" aria-expanded=${this.#isAdding} @click=${this.#add}>Add a webhook</button>
            </div>`
          : html`<p class="quiet">Addresses to which the events of the workspace are sent, and what became of that.</p>
              ${this.#button('list', 'Show the webhooks', 1, this.#read, 'primary')}`
      }
      ${this.#failure('list')} ${this.#isAdding ? this.#form() : nothing}
      ${repeat(
        this.#secrets,
        ([id]) => id,
        ([id, { secret, told }]) => this.#secret(id, secret, told),
      )}
      ${webhooks?.items.length === 0 ? html`<p>There is no webhook yet.</p>` : nothing}
      ${repeat(
        webhooks?.items ?? [],
        ({ id }) => id,
        (webhook) => this.#webhook(webhook),
      )}
      ${webhooks?.hasMore ? html`<p class="quiet">There are more webhooks than these.</p>` : nothing}`;
  }

  #webhook(webhook: Webhook): TemplateResult {
    const { id, url, types, description, enabled } = webhook;
    const at = `webhook ${id}`;
    const deliveries = this.#deliveries.get(id);
    return html`<section class="webhook" aria-label=${at}>
      <h3>${id} <bdi>${plain(url, 200)}</bdi></h3>
      <p>
        <span class="badge ${enabled ? 'good' : 'bad'}">${standingOf(webhook)}</span>
        <span class="quiet">${types ? types.map((type) => plain(type, 60)).join(', ') : 'every type, also later ones'}</span>
      </p>
      ${description ? html`<p class="quiet"><bdi>${plain(description)}</bdi></p>` : nothing}
      <div class="row">
        ${
          enabled
            ? this.#button(`${at} ping`, 'Ping', 2, () => this.#ping(id))
            : this.#button(`${at} enable`, 'Enable', 1, () => this.#enable(id))
        }
        ${this.#button(`${at} deliveries`, deliveries ? 'Read deliveries anew' : 'Show deliveries', 1, () => this.#readDeliveries(id))}
        ${
          this.#leaving === id
            ? html`<span>Remove it with its deliveries?</span>
                ${this.#button(`${at} remove`, 'Yes, remove it', 1, () => this.#remove(id), 'danger')}
                <button type="button" class="keep" @click=${() => this.#ask(undefined, `.remove-${id}`)}>No, keep it</button>`
            : html`<button type="button" class="remove-${id}" @click=${() => this.#ask(id, '.keep')}>Remove</button>`
        }
      </div>
      ${['ping', 'enable', 'deliveries', 'remove'].map((action) => this.#failure(`${at} ${action}`))}
      ${deliveries ? deliveryList(deliveries, (delivery) => this.#again(id, delivery)) : nothing}
    </section>`;
  }

  /** What sends a delivery again, and why that failed. */
  #again(webhookId: Int64, { id }: Delivery): [button: View, failure: View] {
    const at = `delivery ${webhookId} ${id}`;
    return [this.#button(at, 'Send again', 2, () => this.#redeliver(webhookId, id)), this.#failure(at)];
  }

  #form(): TemplateResult {
    return html`<form class="new-webhook" @submit=${this.#create}>
      <label>URL <input name="url" type="url" required placeholder="https://…" /></label>
      <fieldset>
        <legend>Types; all, also later ones, if none is chosen</legend>
        ${eventTypes.map((type) => html`<label><input type="checkbox" name="types" value=${type} />${type}</label>`)}
      </fieldset>
      <div class="row">
        ${this.#button('add', 'Add it', 1, undefined, 'primary')}
        <span class="quiet">Public addresses by https; a store on this machine sends to this machine by http, too.</span>
      </div>
      ${this.#failure('add')}
    </form>`;
  }

  #secret(id: Int64, secret: string, told: string): TemplateResult {
    return html`<section class="secret secret-${id}" aria-label="secret of webhook ${id}">
      <p>
        <b>The secret of webhook ${id}.</b> It is shown only now: no other answer tells it. Whoever has it can sign as the
        service does, so keep it where your receiver reads it, and off the projector.
      </p>
      <p><code>${secret}</code></p>
      <div class="row">
        <button type="button" @click=${() => this.#copy(id, secret)}>Copy</button>
        <button type="button" @click=${() => this.#hide(id)}>I have it: hide it</button>
      </div>
      <p role="status">${told}</p>
    </section>`;
  }

  #button(at: string, text: string, requests: number, act?: () => unknown, kind = ''): TemplateResult {
    return asking(html`<button
      type=${act ? 'button' : 'submit'}
      class=${kind}
      ?disabled=${session.obstacle !== undefined}
      aria-disabled=${this.#busy.has(at)}
      @click=${act ? () => this.#run(at, act) : nothing}
    >
      ${text} <small>${counted(requests, 'request')}</small>
    </button>`);
  }

  #failure(at: string): View {
    const failure = this.#failures.get(at);
    return failure ? html`<p class="failure" role="alert">${failure}</p>` : nothing;
  }

  /** Does something, and tells why it failed where it was begun. */
  async #run(at: string, act: () => unknown): Promise<void> {
    const { signal } = session;
    if (this.#busy.has(at)) return;
    this.#busy.add(at);
    this.#failures.delete(at);
    this.draw();
    try {
      await act();
    } catch (error) {
      if (!signal.aborted) this.#failures.set(at, reasonWhenOf(error));
    }
    if (signal.aborted) return;
    this.#busy.delete(at);
    this.draw();
  }

  readonly #read = async (): Promise<void> => {
    const { petstore, signal } = session;
    const changes = this.#changes;
    const webhooks = await firstPage(petstore.listWebhooks({}, { signal }));
    if (!signal.aborted && changes === this.#changes) this.#show(webhooks);
  };

  #show(webhooks: FirstPage<Webhook>): void {
    this.#webhooks = webhooks;
    this.#changes++;
  }

  async #readDeliveries(id: Int64): Promise<void> {
    const { petstore, signal } = session;
    const readAt = now();
    const deliveries = await firstPage(petstore.listDeliveries(id, { limit: maxDeliveries }, { signal }));
    const shown = this.#deliveries.get(id);
    if (!signal.aborted && !(shown && shown.readAt > readAt))
      this.#deliveries.set(id, { ...deliveries, readAt });
  }

  readonly #add = (): void => {
    this.#isAdding = !this.#isAdding;
    this.#failures.delete('add');
    this.draw();
  };

  readonly #create = (event: SubmitEvent): void => {
    event.preventDefault();
    const entered = new FormData(event.target as HTMLFormElement);
    const types = entered.getAll('types') as EventType[];
    void this.#run('add', async () => {
      const { petstore, signal } = session;
      const body = { url: String(entered.get('url')).trim(), ...(types.length > 0 && { types }) };
      const { secret, ...webhook } = await petstore.createWebhook(body, { signal });
      if (signal.aborted) return;
      this.#change((webhooks) => [...webhooks, webhook]);
      this.#secrets.set(webhook.id, { secret, told: '' });
      this.#isAdding = false;
      if (this.contains(document.activeElement)) this.#focus(`.secret-${webhook.id} button`);
    });
  };

  async #ping(id: Int64): Promise<void> {
    await this.#send(id, session.petstore.pingWebhook(id, { signal: session.signal }));
  }

  async #redeliver(webhookId: Int64, id: Int64): Promise<void> {
    await this.#send(webhookId, session.petstore.redeliver(webhookId, id, { signal: session.signal }));
  }

  /** Shows a delivery at once, and what became of it a moment later. */
  async #send(webhookId: Int64, asked: Promise<Delivery>): Promise<void> {
    const { signal } = session;
    const delivery = await asked.catch(async (error: unknown) => {
      // It may have been disabled meanwhile.
      if (error instanceof PetstoreError && error.code === 'conflict') await this.#readOne(webhookId);
      throw error;
    });
    if (signal.aborted) return;
    const known = this.#deliveries.get(webhookId) ?? { items: [], hasMore: false, readAt: now() };
    const others = known.items.filter(({ id }) => id !== delivery.id);
    this.#deliveries.set(webhookId, { ...known, items: [delivery, ...others] });
    this.draw();
    await sleep(sentWithinMs);
    if (signal.aborted) return;
    const sent = await this.#readSent(webhookId, delivery.id);
    if (sent?.attempts.length === delivery.attempts.length) void this.#readLater(webhookId, delivery.id);
  }

  /** For a receiver that takes its time. */
  async #readLater(webhookId: Int64, id: Int64): Promise<void> {
    const { signal } = session;
    await sleep(answeredWithinMs);
    if (signal.aborted) return;
    // What fails here can be asked for by its button.
    await this.#readSent(webhookId, id).catch(() => {});
    this.draw();
  }

  /** What became of a delivery, and of its webhook. */
  async #readSent(webhookId: Int64, id: Int64): Promise<Delivery | undefined> {
    await this.#readDeliveries(webhookId);
    const sent = this.#deliveries.get(webhookId)?.items.find((one) => one.id === id);
    if (sent?.state === 'failed') await this.#readOne(webhookId);
    return sent;
  }

  /** A failure may have disabled it. */
  async #readOne(id: Int64): Promise<void> {
    const { petstore, signal } = session;
    const webhook = await petstore.getWebhook(id, { signal });
    if (!signal.aborted) this.#replace(webhook);
  }

  #replace(webhook: Webhook): void {
    this.#change((webhooks) => webhooks.map((other) => (other.id === webhook.id ? webhook : other)));
  }

  async #enable(id: Int64): Promise<void> {
    const { petstore, signal } = session;
    const webhook = await petstore.updateWebhook(id, { enabled: true }, { signal });
    if (signal.aborted) return;
    this.#replace(webhook);
    // They told that it was disabled.
    for (const at of this.#failures.keys())
      if (at.startsWith(`webhook ${id} `) || at.startsWith(`delivery ${id} `)) this.#failures.delete(at);
  }

  async #remove(id: Int64): Promise<void> {
    const { petstore, signal } = session;
    await petstore.deleteWebhook(id, { signal });
    if (signal.aborted) return;
    this.#change((webhooks) => webhooks.filter((webhook) => webhook.id !== id));
    this.#deliveries.delete(id);
    this.#leaving = undefined;
    this.#hide(id);
  }

  /** Takes over what became of the webhooks that are shown. */
  #change(change: (webhooks: Webhook[]) => Webhook[]): void {
    if (this.#webhooks) this.#show({ ...this.#webhooks, items: change(this.#webhooks.items) });
  }

  #ask(id: Int64 | undefined, next: string): void {
    this.#leaving = id;
    this.#focus(next);
  }

  async #copy(id: Int64, secret: string): Promise<void> {
    const { signal } = session;
    const told = await copiedOrSelected(secret, this.querySelector(`.secret-${id} code`));
    if (signal.aborted || !this.#secrets.has(id)) return;
    this.#secrets.set(id, { secret, told });
    this.draw();
  }

  #hide(id: Int64): void {
    this.#secrets.delete(id);
    this.draw();
  }

  /** Draws it, and gives the focus to what comes in place of what had it. */
  #focus(next: string): void {
    void this.draw().then(() => this.querySelector<HTMLElement>(next)?.focus());
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const now = () => new Date(session.nowMs());

/** What happened, and from when on it can be tried again, by the clock of the reader. */
function reasonWhenOf(error: unknown): View {
  const reason = reasonOf(error);
  const { retryAt, requestId } = error instanceof PetstoreError ? error : {};
  // Of what was not sent at all, the reason tells it.
  if (!retryAt || !requestId) return html`${reason}`;
  return html`${reason} It can be sent again at ${timeOf(new Date(endToSecond(retryAt.getTime())))}.`;
}

customElements.define('lab-webhooks', Webhooks);
