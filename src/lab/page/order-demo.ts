import type { Int64 } from '../../client/index.ts';
import { randomId } from '../../client/platform.ts';
import { firstPage } from './api.ts';
import { runUnder, sendAsClient } from './demo-client.ts';
import { blockedNote, type KeyContext, Panel, showButton } from './panel.ts';
import { html, nothing, type TemplateResult, type View } from './template.ts';
import { sleep } from './times.ts';

const retryAfterMs = 500;
/** The minimum stock for the demo: two orders of one unit each. */
const leastStock = 2;

interface Attempt {
  idempotencyKey: string;
  requestId: string;
  status: number;
  result: string;
}

/** An order that was sent until a response arrived. */
interface Order {
  attempts: Attempt[];
  ordered?: number;
}

/** A demo: the response to an order is lost, and its retry makes a second order, unless it has the same Idempotency-Key. */
export class OrderDemo extends Panel {
  readonly #orders: { new?: Order; same?: Order } = {};

  protected view(): View {
    const side = (keys: 'new' | 'same', title: string, button: string, isNext: boolean) => html`<div>
      <h3>${title}</h3>
      <button type="button" class=${isNext ? 'primary' : ''} ?disabled=${this.session.isBlocked} aria-disabled=${this.isRunning()} @click=${() => this.run(() => this.#order(keys))}>${button}</button>
      <div role="status">${drawOrder(this.context, this.#orders[keys], keys)}</div>
    </div>`;
    const isFirst = !this.#orders.new?.ordered;
    return html`<h2>The response is lost: is the pet ordered once or twice?</h2>
      <p>
        A customer orders one pet. The store accepts the order, but the response is lost: a gateway returns 504. So the
        client sends the order again. These are real orders in your workspace. The demo ends active faults.
      </p>
      ${blockedNote(this.session)} ${this.failure()}
      <div class="two">
        ${side('new', 'The mistake: each attempt has a new Idempotency-Key', 'Order one pet', isFirst)}
        ${side('same', 'The fix: both attempts have the same Idempotency-Key', 'Fix it, and order again', !isFirst)}
      </div>`;
  }

  #order(keys: 'new' | 'same'): Promise<void> {
    const order: Order = { attempts: [] };
    this.#orders[keys] = order;
    this.draw();
    return runUnder(this.context, [{ fault: 'gateway-timeout', operation: 'placeOrder' }], () =>
      this.#send(order, keys),
    );
  }

  async #send(order: Order, keys: 'new' | 'same'): Promise<void> {
    const { items } = await firstPage(this.session.petstore.listInventory({ limit: 100 }));
    const item = items.find(({ quantity }) => quantity >= leastStock);
    if (!item)
      throw new Error('No pet has 2 or more in stock. Fill the workspace with demo data in the tab Store.');
    const { petId } = item;
    await this.#sendUntilAnswered(order.attempts, petId, keys);
    order.ordered = item.quantity - (await this.session.petstore.getInventory(petId)).quantity;
  }

  async #sendUntilAnswered(attempts: Attempt[], petId: Int64, keys: 'new' | 'same'): Promise<void> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const idempotencyKey = (keys === 'same' && attempts[0]?.idempotencyKey) || randomId();
      if (attempt > 0) await sleep(retryAfterMs);
      const answer = await sendAsClient(this.session, '/store/orders', {
        method: 'POST',
        body: { petId, quantity: 1 },
        headers: { 'idempotency-key': idempotencyKey },
      });
      const { status, headers } = answer;
      const isReplayed = headers.has('idempotency-replayed');
      const text = await answer.text();
      const [, id] = /"id":(\d+)/.exec(text) ?? [];
      const result = id ? `order ${id}${isReplayed ? ', replayed' : ''}` : 'the result is unknown';
      attempts.push({ idempotencyKey, requestId: headers.get('x-request-id') ?? '', status, result });
      this.draw();
      if (answer.ok) return;
    }
  }
}

function drawOrder({ recording }: KeyContext, order: Order | undefined, keys: 'new' | 'same'): View {
  if (!order) return nothing;
  const { attempts, ordered } = order;
  return html`<ol class="both">
      ${attempts.map(
        ({ idempotencyKey, status, result }, at) => html`<li class=${status < 300 ? 'won' : 'lost'}>
          <strong>${at === 0 ? 'First' : 'Second'} request</strong>
          <span class="large">${status}</span>
          <span>${result}</span>
          <code>Idempotency-Key: ${idempotencyKey.slice(0, 4)}…</code>
        </li>`,
      )}
    </ol>
    ${ordered === undefined ? nothing : sentence(ordered, keys)}
    ${showButton(recording, attempts.at(-1)?.requestId)}`;
}

const sentence = (ordered: number, keys: 'new' | 'same'): TemplateResult =>
  html`<p class="outcome ${ordered === 1 ? 'won' : 'lost'}">
    <strong>${ordered === 1 ? '1 order' : `${ordered} orders`}.</strong>
    ${
      keys === 'new'
        ? ordered > 1
          ? 'The customer pays twice: for the store these are two orders.'
          : 'This time nothing was ordered twice.'
        : ordered === 1
          ? 'The store knows the key, and returns the first response again.'
          : 'This time the result is different.'
    }
  </p>`;
