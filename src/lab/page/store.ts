import { workspaceSubject } from './actions.ts';
import { lastAnswers, orderRow, pairPanel } from './order-panel.ts';
import { blockedNote, failureNote, type KeyContext, Panel } from './panel.ts';
import { answerTo, nameOf, petCard, restock } from './pet-card.ts';
import { categoryOf, type Filter, groupsOf, type StoreSnapshot } from './store-snapshot.ts';
import { html, live, nothing, plain, repeat, type TemplateResult, type View, when } from './template.ts';

const fewOrders = 8;

export class StorePanel extends Panel {
  #filter: Filter = { categoryId: '', name: '' };
  #isConfirming = false;
  #showsAllOrders = false;
  #isOrdering = false;

  constructor(element: HTMLElement, context: KeyContext) {
    super(element, context);
    for (const state of [context.storeCache, context.actions]) state.onChange(() => this.#drawAndKeepFocus());
  }

  protected view(): View {
    const { session, storeCache, actions } = this.context;
    // Filters stay usable, and so does what the user types.
    const { isBlocked } = session;
    const { snapshot, failure } = storeCache;
    const notes = html`${blockedNote(session)} ${failureNote(failure)}`;
    if (!snapshot) return this.#closed(isBlocked, notes);
    return html`
      <div class="row spread">
        <h2>Store ${this.#badge()}</h2>
        <div class="row">
          ${this.#orderer(isBlocked || snapshot.pets.size === 0)}
          <button type="button" class="reset" aria-expanded=${this.#isConfirming} ?disabled=${isBlocked}
            @click=${() => this.#confirm(!this.#isConfirming)}>Reset …</button>
        </div>
      </div>
      ${when(this.#isConfirming, () => this.#confirmation(isBlocked))}
      ${answerTo(actions, workspaceSubject)}
      ${notes}
      ${pairPanel(actions, this.#isOrdering)}
      ${this.#oldNote(isBlocked)}
      <div class="open-store">
        <div>${snapshot.pets.size > 0 ? this.#pets(snapshot, isBlocked) : this.#emptyNote(isBlocked)}</div>
        <div class="order-panel">${this.#orders(snapshot, isBlocked)} ${lastAnswers(actions)}</div>
      </div>`;
  }

  #badge(): View {
    const { isOld, isReading, isWaiting } = this.context.storeCache;
    if (isReading && !isWaiting) return html`<span class="badge">loading</span>`;
    return isOld && !isWaiting
      ? html`<span class="badge warn">not up to date</span>`
      : this.context.stream.badge();
  }

  #closed(isBlocked: boolean, notes: TemplateResult): TemplateResult {
    return html`<div class="empty">
      <h2>Store</h2>
      <p>
        The pets, their stock and the open orders. After you open the store, the page follows the events of the workspace:
        every change appears here live, without new requests.
      </p>
      ${notes}
      <div class="choices">
        ${this.#opener('Open the store', isBlocked)}
        <div>${this.#orderer(isBlocked)}<p>Opens the store, and orders the last one of a pet twice: only one order succeeds.</p></div>
      </div>
    </div>`;
  }

  #opener(text: string, isBlocked: boolean): TemplateResult {
    const { storeCache, stream } = this.context;
    return html`<div>
      <button type="button" class="primary" ?disabled=${isBlocked} aria-disabled=${storeCache.isReading} @click=${() => storeCache.open()}>
        ${text}
      </button>
      <p>${storeCache.isReading ? this.#progress() : `This counts as ${storeCache.cost} requests: four lists${stream.isOpen ? '.' : ' and the stream of events.'}`}</p>
    </div>`;
  }

  #orderer(isBlocked: boolean): TemplateResult {
    return html`<button type="button" ?disabled=${isBlocked} aria-disabled=${this.#isOrdering} @click=${() => this.#orderTwice()}>Two orders at once</button>`;
  }

  #confirmation(isBlocked: boolean): TemplateResult {
    const { session, actions } = this.context;
    return html`<div class="confirmation" role="group" aria-label="Reset the workspace">
      <p>
        <strong>All pets, categories, stock and orders of the workspace “<bdi>${session.account?.workspace}</bdi>” are removed</strong>
        and replaced with the demo data. This affects every key of this workspace. You cannot undo it.
      </p>
      <div class="row">
        <button type="button" class="danger" ?disabled=${isBlocked} aria-disabled=${actions.isRunning(workspaceSubject, resetText)} @click=${() => this.#reset()}>
          Reset the workspace
        </button>
        <button type="button" @click=${() => this.#confirm(false)}>Keep it</button>
      </div>
    </div>`;
  }

  #emptyNote(isBlocked: boolean): TemplateResult {
    return html`<div class="empty">
      <p class="lead">There is no pet in this workspace.</p>
      <div class="choices"><div>
        <button type="button" class="primary" ?disabled=${isBlocked} aria-disabled=${this.context.actions.isRunning(workspaceSubject, resetText)}
          @click=${() => this.#reset()}>Fill with demo data</button>
        <p>This also replaces the categories and orders of the workspace.</p>
      </div></div>
    </div>`;
  }

  #oldNote(isBlocked: boolean): View {
    const { storeCache, stream } = this.context;
    const { isOld, isReading, isWaiting, lost } = storeCache;
    if (!isOld || (isReading && !isWaiting)) return nothing;
    if (isWaiting)
      return html`<p class="note" role="status">${this.#progress()} The data may be outdated.</p>`;
    if (stream.isOpen && !storeCache.failure)
      return html`<p class="note" role="status">${lost} The lists will be reloaded in a moment.</p>`;
    return html`<div class="note" role="status">
      <p>${stream.isOpen ? 'The lists could not be reloaded.' : `The stream of events has ended${stream.failure ? `: ${stream.failure}` : '.'}`} The data may be outdated.</p>
      ${this.#opener('Open it again', isBlocked)}
    </div>`;
  }

  #pets(snapshot: StoreSnapshot, isBlocked: boolean): TemplateResult {
    const used = new Set([...snapshot.pets.values()].map(({ categoryId }) => categoryId));
    // The last pet of the category may be deleted.
    if (![...used].some((id) => String(id) === this.#filter.categoryId)) this.#filter.categoryId = '';
    const groups = groupsOf(snapshot, this.#filter);
    const shown = groups.reduce((sum, { pets }) => sum + pets.length, 0);
    return html`
      <form class="row filters" @submit=${(event: Event) => event.preventDefault()}>
        <label>Category
          <select @change=${(event: Event) => this.#narrow({ categoryId: (event.target as HTMLSelectElement).value })}>
            <option value="" .selected=${live(!this.#filter.categoryId)}>All</option>
            ${[...used].map((id) => html`<option value=${String(id)} .selected=${live(String(id) === this.#filter.categoryId)}>${plain(categoryOf(snapshot, id).name)}</option>`)}
          </select>
        </label>
        <label>Name
 <input type="search" .value=${live(this.#filter.name)} @input=${(event: Event) => this.#narrow({ name: (event.target as HTMLInputElement).value })} />
        </label>
        <button type="button" class="to-orders" @click=${() => this.#orderHeading?.focus()}>Go to open orders</button>
      </form>
      <p class="quiet">${sizeText(snapshot, shown)}</p>
      <div class="groups">${repeat(
        groups,
        ({ category }) => category.id,
        ({ category, pets }) => html`<div>
          <h3>${nameOf(plain(category.name))} <small>${pets.length}</small></h3>
          <ul class="pets">
            ${repeat(
              pets,
              ({ id }) => id,
              (pet) => html`
                <li data-pet=${String(pet.id)}>
                  ${petCard(this.context, { pet, category: category.name, stock: snapshot.stock.get(pet.id), mark: this.context.storeCache.marks.get(pet.id)?.change, isBlocked })}
                </li>`,
            )}
          </ul>
        </div>`,
      )}</div>`;
  }

  #orders(snapshot: StoreSnapshot, isBlocked: boolean): TemplateResult {
    const orders = [...snapshot.orders.values()].reverse();
    const shown = this.#showsAllOrders ? orders : orders.slice(0, fewOrders);
    return html`
      <h3 tabindex="-1">Open orders <small>${orders.length}${snapshot.hasMoreOrders ? ' and more' : ''}</small></h3>
      ${when(orders.length === 0, () => html`<p class="quiet">None. An order appears here until it is fulfilled or cancelled.</p>`)}
      <ul class="orders">${repeat(
        shown,
        ({ id }) => id,
        (order) => orderRow(this.context, order, snapshot, isBlocked),
      )}</ul>
      ${when(orders.length > fewOrders, () => html`<button type="button" @click=${() => this.#toggleOrders()}>${this.#showsAllOrders ? 'Show fewer' : `Show all ${orders.length}`}</button>`)}`;
  }

  /** Draws. If the focused element is then gone or disabled, its card or the open orders get the focus. */
  #drawAndKeepFocus(): void {
    const focused = document.activeElement;
    const drawn = this.draw();
    if (!focused || !this.element.contains(focused)) return;
    const petId = focused.closest<HTMLElement>('[data-pet]')?.dataset.pet;
    const isAtOrders = focused.closest('.orders');
    void drawn.then(() => {
      if (focused.isConnected && !focused.matches(':disabled')) return;
      const card = this.element.querySelector<HTMLElement>(`[data-pet="${petId}"] summary`);
      const near = isAtOrders ? this.#orderHeading : null;
      (card ?? near)?.focus({ preventScroll: true });
    });
  }

  get #orderHeading(): HTMLElement | null {
    return this.element.querySelector<HTMLElement>('.order-panel h3');
  }

  #toggleOrders(): void {
    this.#showsAllOrders = !this.#showsAllOrders;
    this.draw();
  }

  #narrow(filter: Partial<Filter>): void {
    this.#filter = { ...this.#filter, ...filter };
    this.draw();
  }

  /** Orders the last one of a pet twice at once. If no pet has one left, a pet gets that stock. */
  async #orderTwice(): Promise<void> {
    if (this.#isOrdering) return;
    const { storeCache, actions } = this.context;
    this.#isOrdering = true;
    actions.forgetPair();
    try {
      if (!storeCache.snapshot) await storeCache.open();
      const { pets, stock } = storeCache.snapshot ?? {};
      const all = [...(pets?.values() ?? [])];
      const last = all.find(({ id }) => stock?.get(id) === 1);
      const pet = last ?? all[0];
      // With another stock both orders would be placed. The pet shows why it did not get this one.
      if (pet && (last || (await restock(this.context, pet, 1))))
        await actions.orderTwice(pet.id, plain(pet.name));
    } finally {
      this.#isOrdering = false;
    }
    await this.draw();
    this.element.querySelector('.pair')?.scrollIntoView({ block: 'nearest' });
  }

  #confirm(isConfirming: boolean): void {
    this.#isConfirming = isConfirming;
    if (!isConfirming) this.element.querySelector<HTMLElement>('.reset')?.focus();
    this.draw();
  }

  async #reset(): Promise<void> {
    const { session, storeCache, stream, actions } = this.context;
    storeCache.expectReset();
    await actions.run({
      subject: workspaceSubject,
      text: resetText,
      send: () => session.lab.resetWorkspace(),
      describe: () => 'the workspace is reset',
    });
    if (!actions.at(workspaceSubject)?.isDone) return;
    this.#confirm(false);
    actions.leaveSubjects();
    // An open stream has an event of the reset.
    if (!stream.isOpen) await storeCache.open();
  }

  #progress(): string {
    const { storeCache, stream } = this.context;
    return storeCache.isWaiting
      ? `Waiting for the stream of events … ${plain(stream.trouble, 500).replace(/ \(request [^)]*\)$/, '')}`
      : 'Loading the lists …';
  }
}

const resetText = 'Reset the workspace';

function sizeText(snapshot: StoreSnapshot, shown: number): string {
  const { size } = snapshot.pets;
  const all = snapshot.hasMorePets
    ? `These are the first ${size} pets. There are more: the filters search only these.`
    : `${size} ${size === 1 ? 'pet' : 'pets'}.`;
  if (shown < size) return `${shown} shown. ${all}`;
  const counts = Map.groupBy(snapshot.pets.values(), ({ status }) => String(status));
  return `${all} Now ${[...counts].map(([status, { length }]) => `${length} ${status}`).join(', ')}.`;
}
