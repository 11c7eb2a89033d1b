import { type Actions, shortId } from './actions.ts';
import type { KeyContext } from './panel.ts';
import { answerTo, breakable, nameOf, statusBadge } from './pet-card.ts';
import type { PlacedOrder, StoreSnapshot } from './store-snapshot.ts';
import { html, nothing, plain, repeat, type TemplateResult, type View } from './template.ts';
import { clockTime } from './times.ts';

/** An open order with its buttons. */
export function orderRow(
  { session, actions }: KeyContext,
  order: PlacedOrder,
  snapshot: StoreSnapshot,
  isBlocked: boolean,
): TemplateResult {
  const { id, petId, quantity } = order;
  const subject = `order ${id}`;
  const pet = petId === undefined ? 'no pet' : plain(snapshot.pets.get(petId)?.name ?? `pet ${petId}`);
  const fulfil = {
    subject,
    text: `Fulfil order ${id}`,
    send: (): Promise<unknown> => session.petstore.updateOrder(id, { complete: true }),
    describe: () => `order ${id} is complete`,
  };
  const cancel = {
    subject,
    text: `Cancel order ${id}`,
    send: (): Promise<unknown> => session.petstore.cancelOrder(id),
    describe: () => `order ${id} is cancelled`,
  };
  const button = (action: typeof fulfil) =>
    html`<button type="button" ?disabled=${isBlocked} aria-disabled=${actions.isRunning(subject, action.text)} aria-label=${action.text}
      @click=${() => actions.run(action)}>${action.text.split(' ')[0]}</button>`;
  return html`<li>
    <span class="what"><span class="number">${String(id)}</span> ${quantity?.toLocaleString('en')} × ${nameOf(pet)}</span>
    <span class="row">${button(fulfil)}${button(cancel)}</span>
    ${answerTo(actions, subject)}
  </li>`;
}

/** The answers to two orders at once, side by side. */
export function pairPanel(actions: Actions, isOrdering: boolean): View {
  const { pair } = actions;
  if (!pair)
    return isOrdering ? html`<section class="pair"><h3>Sending two orders at once …</h3></section>` : nothing;
  const isAsItShould =
    pair.orders.filter(({ status }) => status === 201).length === 1 &&
    pair.orders.some(({ result }) => result === 'insufficient_stock');
  return html`<section class="pair" aria-label="Two orders at once">
    <div class="row spread">
      <h3>${isAsItShould ? html`Two orders for the last ${nameOf(pair.name)}: only one succeeds` : html`Two orders for ${nameOf(pair.name)} at once: this time the result is different`}</h3>
      <button type="button" @click=${() => actions.forgetPair()}>Close</button>
    </div>
    <div class="both" role="status">
      ${pair.orders.map(
        (order, at) => html`<div class=${order.isDone ? 'won' : 'lost'}>
          <strong>${at === 0 ? 'First' : 'Second'} request</strong>
          <span class="large">${order.status ?? 'no response'}</span>
          <code>${breakable(order.result)}</code>
          <span>${order.isDone ? 'It got the last one.' : order.reason.replace(/ \(request [^)]*\)$/, '')}</span>
          <code class="quiet">request ${shortId(order.requestId)}</code>
        </div>`,
      )}
    </div>
  </section>`;
}

/** The last answers, the newest first. */
export function lastAnswers(actions: Actions): View {
  if (actions.last.length === 0) return nothing;
  return html`
    <h3>Responses</h3>
    <ol class="done">
      ${repeat(
        actions.last,
        ({ id }) => id,
        (done) => html`<li>
          <small class="quiet">${clockTime(done.atMs)}</small> ${nameOf(done.text)}
          <span class="outcome">${statusBadge(done)} ${done.isDone ? done.result : html`<code>${breakable(done.result)}</code> ${done.reason}`}</span>
        </li>`,
      )}
    </ol>`;
}
