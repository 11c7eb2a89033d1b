import type { Int64 } from '../../client/index.ts';
import { deals } from './deals.ts';
import { answerTo, breakable, isRunning, nameOf, statusOf } from './pet-card.ts';
import { plain } from './plain-text.ts';
import type { View } from './section.ts';
import { session } from './session.ts';
import type { PlacedOrder, Shop } from './shop.ts';
import { html, nothing, repeat, type TemplateResult } from './template.ts';
import { clockTime } from './times.ts';

/** An open order, and what may be done with it. */
export function orderRow(order: PlacedOrder, shop: Shop, isBlocked: boolean): TemplateResult {
  const { id, petId, quantity } = order;
  const place = `order ${id}`;
  const pet = petId === undefined ? 'no pet' : plain(shop.pets.get(petId)?.name ?? `pet ${petId}`);
  const fulfil = {
    place,
    what: `Fulfil order ${id}`,
    ask: (): Promise<unknown> =>
      session.petstore.updateOrder(id, { complete: true }, { signal: session.signal }),
    tell: () => `order ${id} is complete`,
  };
  const cancel = {
    place,
    what: `Cancel order ${id}`,
    ask: (): Promise<unknown> => session.petstore.cancelOrder(id, { signal: session.signal }),
    tell: () => `order ${id} is cancelled`,
  };
  return html`<li>
    <span class="what"><span class="number">${String(id)}</span> ${quantity?.toLocaleString('en')} × ${nameOf(pet)}</span>
    <span class="row">
      ${[fulfil, cancel].map(
        (
          action,
        ) => html`<button type="button" ?disabled=${isBlocked} aria-disabled=${isRunning(place, action.what)} aria-label=${action.what}
          @click=${() => deals.run(action)}>${action.what.split(' ')[0]}</button>`,
      )}
    </span>
    ${answerTo(place)}
  </li>`;
}

/** What two orders at once gave, side by side. */
export function pairPanel(petId: Int64): View {
  const { pair } = deals;
  if (pair?.petId !== petId) return nothing;
  const isAsItShould =
    pair.deals.filter(({ status }) => status === 201).length === 1 &&
    pair.deals.some(({ result }) => result === 'insufficient_stock');
  return html`<li class="pair" data-pet=${String(petId)}>
    <div class="row spread">
      <h4>${isAsItShould ? html`Two orders for the last ${nameOf(pair.name)}: only one can win` : html`Two orders for ${nameOf(pair.name)} at once: this time something else came`}</h4>
      <button type="button" @click=${() => deals.forgetPair()}>Close</button>
    </div>
    <div class="both" role="status">
      ${pair.deals.map(
        (deal, at) => html`<div class=${deal.isDone ? 'won' : 'lost'}>
          <strong>${at === 0 ? 'First' : 'Second'} request</strong>
          <span class="large">${deal.status ?? 'no answer'}</span>
          <code>${breakable(deal.result)}</code>
          <span>${deal.isDone ? `It has the last one. (request ${deal.requestId})` : deal.reason}</span>
        </div>`,
      )}
    </div>
  </li>`;
}

/** The last answers, the newest first. */
export function doneLately(): View {
  if (deals.last.length === 0) return nothing;
  return html`
    <h3>What was answered</h3>
    <ol class="done">
      ${repeat(
        deals.last,
        ({ id }) => id,
        (deal) => html`<li>
          <small class="quiet">${clockTime(deal.atMs)}</small> ${nameOf(deal.what)}
          <span class="outcome">${statusOf(deal)} ${deal.isDone ? deal.result : html`<code>${breakable(deal.result)}</code> ${deal.reason}`}</span>
        </li>`,
      )}
    </ol>`;
}
