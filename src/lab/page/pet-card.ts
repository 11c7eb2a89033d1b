import type { Pet } from '../../client/index.ts';
import type { Actions, DoneAction } from './actions.ts';
import type { KeyContext } from './panel.ts';
import { drawingOf } from './pet-drawing.ts';
import { html, nothing, plain, svg, type TemplateResult, type View, when } from './template.ts';

/** The largest count that the API takes. */
const maxUnits = 2_147_483_647;
const barUnits = 10;

interface Shown {
  pet: Pet;
  category: string;
  /** Undefined if it was not read. */
  stock: number | undefined;
  mark: string | undefined;
  isBlocked: boolean;
}

/** The color of a status, and its shape in a square of 10. */
const looks: Readonly<Record<string, [string, TemplateResult]>> = {
  available: ['good', svg`<circle cx="5" cy="5" r="4" fill="currentColor" />`],
  pending: [
    'warn',
    svg`<circle cx="5" cy="5" r="4" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M5 1a4 4 0 0 0 0 8z" fill="currentColor" />`,
  ],
  sold: ['', svg`<path d="M2 2l6 6M8 2 2 8" stroke="currentColor" stroke-width="1.8" />`],
};

function petStatusBadge(status: string): TemplateResult {
  const [look, shape] = looks[status] ?? ['other', nothing];
  return html`<span class="badge ${look}"><svg viewBox="0 0 10 10" aria-hidden="true">${shape}</svg> ${status}</span>`;
}

/** The answer to the last action at a subject. */
export function answerTo(actions: Actions, subject: string): View {
  const done = actions.at(subject);
  if (!done) return nothing;
  return done.isDone
    ? html`<p class="answer" role="status">${statusBadge(done)} ${done.result}</p>`
    : html`<p class="failure" role="alert">${statusBadge(done)} <code>${breakable(done.result)}</code><br />${done.reason}</p>`;
}

/** A code that wraps between its words. */
export const breakable = (code: string) =>
  code.split('_').map((word, at) => (at ? html`_<wbr />${word}` : word));

/** A name that may be cut. Its title has all of it. */
export const nameOf = (name: string): TemplateResult => html`<bdi title=${name}>${name}</bdi>`;

/** The status of an answer. */
export const statusBadge = ({ status, isDone }: DoneAction): TemplateResult =>
  html`<span class="badge ${isDone ? 'good' : 'bad'}">${status ?? 'no response'}</span>`;

export function petCard(
  context: KeyContext,
  { category, stock, mark, isBlocked, ...shown }: Shown,
): TemplateResult {
  const { actions } = context;
  const pet = { ...shown.pet, name: plain(shown.pet.name) };
  const { id, name, status } = pet;
  const subject = `pet ${id}`;
  const cannot = isBlocked || stock === 0;
  return html`
    <article class=${mark ? 'changed' : ''}>
      <div class="picture">${drawingOf(category, id)}${when(mark, () => html`<span class="mark">${mark}</span>`)}</div>
      <h4>${nameOf(name)} <small>#${String(id)}</small></h4>
      <div>${petStatusBadge(String(status))}</div>
      <div class="stock">
        <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <path d="M0 3H100" /><path class="full" d="M0 3H${(Math.min(stock ?? 0, barUnits) / barUnits) * 100}" />
        </svg>
        <span>${stockText(stock)}</span>
      </div>
      <div class="row">
        <button type="button" ?disabled=${cannot} aria-disabled=${actions.isRunning(subject, orderText(1, name))}
          aria-label="Order one ${name}" @click=${() => order(context, pet, 1)}>Order</button>
      </div>
      <details>
        <summary aria-label="More about ${name}">More</summary>
        <form class="row" @submit=${(event: SubmitEvent) => order(context, pet, numberOf(event))}>
          <label>Units <input type="number" min="1" max=${maxUnits} value="2" required /></label>
          <button ?disabled=${isBlocked}>Order these</button>
        </form>
        <form class="row" @submit=${(event: SubmitEvent) => restock(context, pet, numberOf(event))}>
          <label>Stock <input type="number" min="0" max=${maxUnits} value=${Math.max(stock ?? 1, 1)} required /></label>
          <button ?disabled=${isBlocked}>Set stock</button>
        </form>
      </details>
      ${answerTo(actions, subject)}
    </article>`;
}

function numberOf(event: SubmitEvent): number {
  event.preventDefault();
  return (event.currentTarget as HTMLFormElement).querySelector('input')?.valueAsNumber ?? Number.NaN;
}

const orderText = (quantity: number, name: string) => `Order ${quantity.toLocaleString('en')} of ${name}`;

const order = ({ session, actions }: KeyContext, { id, name }: Pet, quantity: number): Promise<boolean> =>
  actions.run({
    subject: `pet ${id}`,
    text: orderText(quantity, name),
    send: () => session.petstore.placeOrder({ petId: id, quantity }),
    describe: (placed) => `order ${placed.id}`,
  });

/** Sets the stock of a pet. Returns whether that was done. */
export const restock = (
  { session, actions }: KeyContext,
  { id, name }: Pet,
  quantity: number,
): Promise<boolean> =>
  actions.run({
    subject: `pet ${id}`,
    text: `Set the stock of ${name} to ${quantity.toLocaleString('en')}`,
    send: () => session.petstore.updateInventory(id, { quantity }),
    describe: (item) => `${item.quantity.toLocaleString('en')} in stock`,
  });

function stockText(stock: number | undefined): string {
  if (stock === undefined) return 'stock unknown';
  return stock === 0 ? 'none in stock' : `${stock.toLocaleString('en')} in stock`;
}
