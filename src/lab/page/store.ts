import type { Pet } from '../../client/index.ts';
import { doneLately, orderRow, pairPanel } from './counter.ts';
import { deals, workspacePlace } from './deals.ts';
import { liveShop } from './live-shop.ts';
import { obstacleNote } from './obstacle.ts';
import { answerTo, isRunning, nameOf, petCard } from './pet-card.ts';
import { plain } from './plain-text.ts';
import { Section, type View } from './section.ts';
import { baseUrl, session } from './session.ts';
import { categoryOf, type Filter, groupsOf, type Shop } from './shop.ts';
import { stream, streamState } from './stream.ts';
import { html, live, nothing, repeat, type TemplateResult } from './template.ts';

/** So many orders are listed at first. */
const fewOrders = 8;

class Store extends Section {
  #filter: Filter = { categoryId: '', name: '' };
  #isAsking = false;
  #showsAllOrders = false;
  /** What came of looking for a pet with one in stock. */
  #found = '';

  constructor() {
    super();
    for (const part of [liveShop, deals]) this.follow(part, () => this.#changed());
  }

  protected begin(): void {
    liveShop.close();
    deals.forget();
    this.#filter = { categoryId: '', name: '' };
    this.#isAsking = this.#showsAllOrders = false;
    this.#found = '';
  }

  protected view(): View {
    const { account, obstacle, standing } = session;
    if (!account || standing === 'revoked') return nothing;
    // What asks nothing, such as a filter, stays usable, and so does what is being typed.
    const isBlocked = standing === 'away' || obstacle !== undefined;
    const { shop } = liveShop;
    return html`
      <div class="row spread">
        <h2>Store ${shop ? this.#followed() : nothing}</h2>
        ${shop ? this.#tools(shop, isBlocked) : nothing}
      </div>
      ${shop && this.#isAsking ? this.#confirmation(isBlocked) : nothing}
      ${answerTo(workspacePlace)}
      ${obstacleNote(obstacle, session.nowMs())}
      ${liveShop.failure ? html`<p class="failure" role="alert">${liveShop.failure}</p>` : nothing}
      ${shop ? this.#open(shop, isBlocked) : this.#closed(isBlocked)}`;
  }

  #followed(): View {
    const { isOld, isReading, isWaiting } = liveShop;
    if (isReading && !isWaiting) return html`<span class="badge">reading</span>`;
    return isOld && !isWaiting ? html`<span class="badge warn">not up to date</span>` : streamState();
  }

  #closed(isBlocked: boolean): TemplateResult {
    return html`
      <p class="quiet">
        The pets, their stock and the open orders. Once opened, it follows the events of the workspace: what anybody changes
        shows here as it happens, and nothing is asked again.
      </p>
      ${this.#opener('Open the store', isBlocked)}`;
  }

  #opener(text: string, isBlocked: boolean): TemplateResult {
    return html`<p class="row">
      <button type="button" class="primary" ?disabled=${isBlocked} aria-disabled=${liveShop.isReading} @click=${() => liveShop.open()}>
        ${text}
      </button>
      <span class="quiet">
        ${liveShop.isReading ? progress() : `takes ${liveShop.cost} requests of the limit: four lists${stream.isOpen ? '' : ' and the stream of events'}`}
      </span>
    </p>`;
  }

  #tools(shop: Shop, isBlocked: boolean): TemplateResult {
    return html`<div class="row">
      <button type="button" ?disabled=${shop.pets.size === 0} @click=${() => this.#findLast()}>Find a pet with one left</button>
      <button type="button" class="reset" aria-expanded=${this.#isAsking} ?disabled=${isBlocked}
        @click=${() => this.#ask(!this.#isAsking)}>Reset …</button>
    </div>`;
  }

  #confirmation(isBlocked: boolean): TemplateResult {
    return html`<div class="confirmation" role="group" aria-label="Reset the workspace">
      <p>
        <strong>All pets, categories, stock and orders of the workspace “<bdi>${session.account?.workspace}</bdi>” are lost</strong>, and
        the demonstration takes their place. Every other key of this workspace sees that, too. It cannot be taken back.
      </p>
      <div class="row">
        <button type="button" class="danger" ?disabled=${isBlocked} aria-disabled=${isRunning(workspacePlace, resetText)} @click=${() => this.#reset()}>
          Reset the workspace
        </button>
        <button type="button" @click=${() => this.#ask(false)}>Keep it</button>
      </div>
    </div>`;
  }

  #open(shop: Shop, isBlocked: boolean): TemplateResult {
    return html`
      ${this.#oldNote(isBlocked)}
      <div class="shop">
        <div>${shop.pets.size > 0 ? this.#window(shop, isBlocked) : emptyNote()}</div>
        <div class="counter">${this.#orders(shop, isBlocked)} ${doneLately()}</div>
      </div>`;
  }

  #oldNote(isBlocked: boolean): View {
    const { isOld, isReading, isWaiting, lost } = liveShop;
    if (!isOld || (isReading && !isWaiting)) return nothing;
    if (isWaiting) return html`<p class="note" role="status">${progress()} What is shown may be old.</p>`;
    if (stream.isOpen && !liveShop.failure)
      return html`<p class="note" role="status">${lost} The lists are read anew in a moment.</p>`;
    return html`<div class="note" role="status">
      <p>${stream.isOpen ? 'The lists could not be read anew.' : `The stream of events has ended${stream.failure ? `: ${stream.failure}` : '.'}`} What is shown may be old.</p>
      ${this.#opener('Follow it again', isBlocked)}
    </div>`;
  }

  #window(shop: Shop, isBlocked: boolean): TemplateResult {
    const used = new Set([...shop.pets.values()].map(({ categoryId }) => categoryId));
    // The last pet of a category may have gone.
    if (![...used].some((id) => String(id) === this.#filter.categoryId)) this.#filter.categoryId = '';
    const groups = groupsOf(shop, this.#filter);
    const shown = groups.reduce((sum, { pets }) => sum + pets.length, 0);
    return html`
      <form class="row filters" @submit=${(event: Event) => event.preventDefault()}>
        <label>Category
          <select @change=${(event: Event) => this.#narrow({ categoryId: (event.target as HTMLSelectElement).value })}>
            <option value="" .selected=${live(!this.#filter.categoryId)}>All</option>
            ${[...used].map((id) => html`<option value=${String(id)} .selected=${live(String(id) === this.#filter.categoryId)}>${plain(categoryOf(shop, id).name)}</option>`)}
          </select>
        </label>
        <label>Name
 <input type="search" .value=${live(this.#filter.name)} @input=${(event: Event) => this.#narrow({ name: (event.target as HTMLInputElement).value })} />
        </label>
        <button type="button" class="to-counter" @click=${() => this.#counter?.focus()}>Go to open orders</button>
      </form>
      <p class="quiet">${sizeText(shop, shown)} ${this.#found}</p>
      ${repeat(
        groups,
        ({ category }) => category.id,
        ({ category, pets }) => html`
          <h3>${nameOf(plain(category.name))} <small>${pets.length}</small></h3>
          <ul class="pets">
            ${repeat(
              pets,
              ({ id }) => id,
              (pet) => html`
                <li data-pet=${String(pet.id)}>
                  ${petCard({ pet, category: category.name, stock: shop.stock.get(pet.id), mark: liveShop.marks.get(pet.id)?.change, isBlocked })}
                </li>
                ${pairPanel(pet.id)}`,
            )}
          </ul>`,
      )}`;
  }

  #orders(shop: Shop, isBlocked: boolean): TemplateResult {
    const orders = [...shop.orders.values()].reverse();
    const shown = this.#showsAllOrders ? orders : orders.slice(0, fewOrders);
    return html`
      <h3 tabindex="-1">Open orders <small>${orders.length}${shop.hasMoreOrders ? ' and more' : ''}</small></h3>
      ${orders.length === 0 ? html`<p class="quiet">None. An order of a pet shows here until it is fulfilled or cancelled.</p>` : nothing}
      <ul class="orders">${repeat(
        shown,
        ({ id }) => id,
        (order) => orderRow(order, shop, isBlocked),
      )}</ul>
      ${
        orders.length > fewOrders
          ? html`<button type="button" @click=${() => this.#toggleOrders()}>${this.#showsAllOrders ? 'Show fewer' : `Show all ${orders.length}`}</button>`
          : nothing
      }`;
  }

  /** A pet with one in stock, if there is one. */
  get #lastOne(): Pet | undefined {
    const { shop } = liveShop;
    return shop && [...shop.pets.values()].find(({ id }) => shop.stock.get(id) === 1);
  }

  /** Draws it. Where what has the focus goes or is disabled, its card or the open orders get the focus. */
  #changed(): void {
    const focused = document.activeElement;
    if (this.#lastOne) this.#found = '';
    const drawn = this.draw();
    if (!focused || !this.contains(focused)) return;
    const petId = focused.closest<HTMLElement>('[data-pet]')?.dataset.pet;
    const isAtCounter = focused.closest('.orders');
    void drawn.then(() => {
      if (focused.isConnected && !focused.matches(':disabled')) return;
      const card = this.querySelector<HTMLElement>(`[data-pet="${petId}"] summary`);
      const near = isAtCounter ? this.#counter : null;
      (card ?? near)?.focus({ preventScroll: true });
    });
  }

  get #counter(): HTMLElement | null {
    return this.querySelector<HTMLElement>('.counter h3');
  }

  #toggleOrders(): void {
    this.#showsAllOrders = !this.#showsAllOrders;
    this.draw();
  }

  #narrow(filter: Partial<Filter>): void {
    this.#filter = { ...this.#filter, ...filter };
    this.#found = '';
    this.draw();
  }

  /** Brings the next pet with one in stock before the eyes, with the button that orders it twice. */
  async #findLast(): Promise<void> {
    this.#narrow({ categoryId: '', name: '' });
    const pet = this.#lastOne;
    if (!pet) this.#found = 'None has exactly one left: set the stock of one to 1 under “More”.';
    await this.draw();
    const button = pet && this.querySelector<HTMLElement>(`[data-pet="${pet.id}"] .twice`);
    button?.scrollIntoView({ block: 'center' });
    button?.focus({ preventScroll: true });
  }

  #ask(isAsking: boolean): void {
    this.#isAsking = isAsking;
    if (!isAsking) this.querySelector<HTMLElement>('.reset')?.focus();
    this.draw();
  }

  async #reset(): Promise<void> {
    liveShop.expectReset();
    await deals.run({
      place: workspacePlace,
      what: resetText,
      ask: () => session.lab.resetWorkspace({ signal: session.signal }),
      tell: () => 'the workspace is reset',
    });
    if (!deals.at(workspacePlace)?.isDone) return;
    this.#ask(false);
    deals.leavePlaces();
    // Otherwise the stream tells that all is to be read anew.
    if (!stream.isOpen) await liveShop.open();
  }
}

const resetText = 'Reset the workspace';

/** What is under way until the lists are there. */
const progress = (): string =>
  liveShop.isWaiting
    ? `Waiting for the stream of events … ${plain(stream.trouble, 500)}`
    : 'Reading the lists …';

function sizeText(shop: Shop, shown: number): string {
  const { size } = shop.pets;
  const all = shop.hasMorePets
    ? `The first ${size} pets were read, and there are more: filters look among these alone.`
    : `${size} ${size === 1 ? 'pet' : 'pets'}.`;
  if (shown < size) return `${shown} shown. ${all}`;
  const counts = Map.groupBy(shop.pets.values(), ({ status }) => String(status));
  return `${all} Now ${[...counts].map(([status, { length }]) => `${length} ${status}`).join(', ')}.`;
}

/** Works in any POSIX shell: the id of the new category goes from one answer into the next request. */
const curlLine = `curl -sS ${baseUrl}/categories -H "Authorization: Bearer $PETSTORE_API_KEY" -H 'Content-Type: application/json' -d '{"name":"Dragons"}' | sed 's/.*"id":\\([0-9]*\\).*/{"name":"Smaug","categoryId":\\1}/' | curl -sS ${baseUrl}/pets -H "Authorization: Bearer $PETSTORE_API_KEY" -H 'Content-Type: application/json' -d @-`;

function emptyNote(): TemplateResult {
  return html`
    <p><strong>There is no pet in this workspace.</strong> “Reset …” fills it with the demonstration, or this line adds a category and a pet, which then shows here:</p>
    <pre tabindex="0" role="region" aria-label="A line that adds a category and a pet"><code>${curlLine}</code></pre>
    <p class="quiet">It takes the key from the variable <code>PETSTORE_API_KEY</code>.</p>`;
}

customElements.define('lab-store', Store);
