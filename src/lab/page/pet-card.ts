import type { Pet } from '../../client/index.ts';
import { type Deal, deals } from './deals.ts';
import { drawingOf } from './pet-drawing.ts';
import { plain } from './plain-text.ts';
import { session } from './session.ts';
import { html, nothing, svg, type TemplateResult } from './template.ts';

/** The largest count that the API takes. */
const maxUnits = 2_147_483_647;
/** So many units fill the bar. */
const barUnits = 10;

/** A pet as a card shows it. */
export interface Shown {
  pet: Pet;
  category: string;
  /** Undefined where it was not read. */
  stock: number | undefined;
  /** What has just happened to it. */
  mark: string | undefined;
  /** Whether nothing can be asked now. */
  isBlocked: boolean;
}

/** How a status looks: its colour, and its shape in a square of 10. */
const looks: Readonly<Record<string, [string, TemplateResult]>> = {
  available: ['good', svg`<circle cx="5" cy="5" r="4" fill="currentColor" />`],
  pending: [
    'warn',
    svg`<circle cx="5" cy="5" r="4" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M5 1a4 4 0 0 0 0 8z" fill="currentColor" />`,
  ],
  sold: ['', svg`<path d="M2 2l6 6M8 2 2 8" stroke="currentColor" stroke-width="1.8" />`],
};

function statusBadge(status: string): TemplateResult {
  const [look, shape] = looks[status] ?? ['other', nothing];
  return html`<span class="badge ${look}"><svg viewBox="0 0 10 10" aria-hidden="true">${shape}</svg> ${status}</span>`;
}

/** What was answered last, where it was asked for. */
export function answerTo(place: string): TemplateResult | typeof nothing {
  const deal = deals.at(place);
  if (!deal) return nothing;
  return deal.isDone
    ? html`<p class="answer" role="status">${statusOf(deal)} ${deal.result}</p>`
    : html`<p class="failure" role="alert">${statusOf(deal)} <code>${breakable(deal.result)}</code><br />${deal.reason}</p>`;
}

/** A code, which may be broken between its words. */
export const breakable = (code: string) =>
  code.split('_').map((word, at) => (at ? html`_<wbr />${word}` : word));

/** A name, which may be cut where it is shown. */
export const nameOf = (name: string): TemplateResult => html`<bdi title=${name}>${name}</bdi>`;

/** The status of an answer as a badge. */
export const statusOf = ({ status, isDone }: Deal): TemplateResult =>
  html`<span class="badge ${isDone ? 'good' : 'bad'}">${status ?? 'no answer'}</span>`;

export const isRunning = (place: string, what: string): boolean => deals.running.has(`${place} ${what}`);

export function petCard({ category, stock, mark, isBlocked, ...shown }: Shown): TemplateResult {
  const pet = { ...shown.pet, name: plain(shown.pet.name) };
  const { id, name, status } = pet;
  const place = `pet ${id}`;
  const cannot = isBlocked || stock === 0;
  return html`
    <article class=${mark ? 'changed' : ''}>
      <div class="picture">${drawingOf(category, id)}${mark ? html`<span class="mark">${mark}</span>` : nothing}</div>
      <h4>${nameOf(name)} <small>#${String(id)}</small></h4>
      <div>${statusBadge(String(status))}</div>
      <div class="stock">
        <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <path d="M0 3H100" /><path class="full" d="M0 3H${(Math.min(stock ?? 0, barUnits) / barUnits) * 100}" />
        </svg>
        <span>${stockText(stock)}</span>
      </div>
      <div class="row">
        <button type="button" ?disabled=${cannot} aria-disabled=${isRunning(place, orderText(1, name))}
          aria-label="Order one ${name}" @click=${() => order(pet, 1)}>Order</button>
        ${
          stock === 1
            ? html`<button type="button" class="twice" ?disabled=${isBlocked} aria-disabled=${isRunning(place, 'twice')}
                aria-label="Order the last ${name} twice at once" @click=${() => deals.orderTwice(id, name)}>Twice at once</button>`
            : nothing
        }
      </div>
      <details>
        <summary aria-label="More about ${name}">More</summary>
        <form class="row" @submit=${(event: SubmitEvent) => order(pet, numberOf(event))}>
          <label>Units <input type="number" min="1" max=${maxUnits} value="2" required /></label>
          <button ?disabled=${isBlocked}>Order these</button>
        </form>
        <form class="row" @submit=${(event: SubmitEvent) => restock(pet, numberOf(event))}>
          <label>Stock <input type="number" min="0" max=${maxUnits} value=${Math.max(stock ?? 1, 1)} required /></label>
          <button ?disabled=${isBlocked}>Set stock</button>
        </form>
      </details>
      ${answerTo(place)}
    </article>`;
}

function numberOf(event: SubmitEvent): number {
  event.preventDefault();
  return (event.currentTarget as HTMLFormElement).querySelector('input')?.valueAsNumber ?? Number.NaN;
}

const orderText = (quantity: number, name: string) => `Order ${quantity.toLocaleString('en')} of ${name}`;

const order = ({ id, name }: Pet, quantity: number): Promise<void> =>
  deals.run({
    place: `pet ${id}`,
    what: orderText(quantity, name),
    ask: () => session.petstore.placeOrder({ petId: id, quantity }, { signal: session.signal }),
    tell: (placed) => `order ${placed.id}`,
  });

const restock = ({ id, name }: Pet, quantity: number): Promise<void> =>
  deals.run({
    place: `pet ${id}`,
    what: `Set the stock of ${name} to ${quantity.toLocaleString('en')}`,
    ask: () => session.petstore.updateInventory(id, { quantity }, { signal: session.signal }),
    tell: (item) => `${item.quantity.toLocaleString('en')} in stock`,
  });

function stockText(stock: number | undefined): string {
  if (stock === undefined) return 'stock not read';
  return stock === 0 ? 'none in stock' : `${stock.toLocaleString('en')} in stock`;
}
