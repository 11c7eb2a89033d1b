import { counted } from '../../foundation/words.ts';
import type { Block } from './blocked-by.ts';
import { changesOf, countsByType, isMarker, type StoreEvent, summaryOf, unchangedOf } from './event-text.ts';
import { addPanel, failureNote, needsService, Panel } from './panel.ts';
import { plain, timeOf } from './plain-text.ts';
import { recording } from './recording.ts';
import { isOfPage } from './request-ids.ts';
import { session } from './session.ts';
import { keySignal } from './state.ts';
import { stream, streamBadge } from './stream.ts';
import { html, live, nothing, repeat, type TemplateResult, type View, when } from './template.ts';
import { toLocalTime } from './times.ts';

const maxDrawn = 100;

class Events extends Panel {
  #type = '';
  readonly #opened = new Set<StoreEvent>();
  /** The newest drawn event while the user reads. Newer ones wait. */
  #heldAt: StoreEvent | undefined;

  constructor(element: HTMLElement) {
    super(element);
    stream.onChange(() => this.draw());
    for (const type of ['focusin', 'focusout'])
      element.addEventListener(type, () => this.draw(), { signal: keySignal() });
  }

  protected view(): View {
    if (!session.account) return nothing;
    const { isOpen, failure, events } = stream;
    if (!isOpen && !failure && events.length === 0)
      return html`<div class="empty">
        <h2>Events</h2>
        <p>Shows every change in the workspace live, whoever makes it.</p>
        <div class="choices"><div>${opener('Open the stream', 'primary')}<p>${cost}</p></div></div>
        ${this.#note()}
      </div>`;
    const close = html`<button type="button" @click=${() => stream.close()}>Close the stream</button>`;
    return html`<h2>Events</h2>
      <div class="row">
        ${isOpen ? needsService(close) : opener('Open the stream again')}
        <span class="quiet">${isOpen ? streamBadge() : cost}</span>
      </div>
      ${failureNote(failure && `The stream has ended: ${plain(failure, 500)}`)}
      ${this.#note()} ${this.#list()}`;
  }

  /** Why the stream is not connected, and when it can be. */
  #note(): View {
    const { blockedBy } = session;
    const { isOpen, isConnected, trouble } = stream;
    if (isConnected) return nothing;
    if (blockedBy) return noteOf(blockedBy);
    return isOpen && trouble
      ? html`<p class="note">The stream is waiting and will continue by itself: ${plain(trouble, 500)}</p>`
      : nothing;
  }

  #list(): View {
    const ofType = stream.events.filter(({ type }) => !this.#type || type === this.#type);
    const waiting = this.#waiting(ofType);
    const drawn = ofType.slice(waiting, waiting + maxDrawn);
    if (!waiting) this.#heldAt = drawn[0];
    const types = countsByType(stream.events);
    if (this.#type && !types.has(this.#type)) types.set(this.#type, 0);
    return html`<div class="row spread">
        <label class="filter">
          Type
          <select
            @change=${(event: Event) => {
              this.#type = (event.target as HTMLSelectElement).value;
              this.#release();
            }}
          >
            <option value="" .selected=${live(!this.#type)}>all (${stream.events.length})</option>
            ${repeat(
              types,
              ([type]) => type,
              ([type, number]) =>
                html`<option value=${type} .selected=${live(this.#type === type)}>${plain(type, 60)} (${number})</option>`,
            )}
          </select>
        </label>
        ${when(waiting, () => html`<button type="button" @click=${this.#showNew}>Show ${counted(waiting, 'new event')}</button>`)}
      </div>
      <div class="events" tabindex="0" role="region" aria-label="Events, the newest first" @scroll=${() => this.draw()}>
        ${
          drawn.length === 0
            ? html`<p class="quiet">No event yet. Change something, for example <a href="#store">order a pet</a>: the event appears here.</p>`
            : repeat(
                drawn,
                (event) => event,
                (event) => this.#row(event),
              )
        }
      </div>
      ${when(ofType.length > waiting + maxDrawn, () => html`<p class="quiet">Showing the newest ${maxDrawn} of ${ofType.length} events.</p>`)}`;
  }

  /** How many new events wait while the user reads: has opened one, has scrolled, or has the focus on one. */
  #waiting(events: readonly StoreEvent[]): number {
    for (const event of this.#opened) if (!stream.events.includes(event)) this.#opened.delete(event);
    const list = this.element.querySelector('.events');
    const { activeElement } = document;
    const isRead =
      list?.scrollTop || this.#opened.size || (list !== activeElement && list?.contains(activeElement));
    return isRead && this.#heldAt ? Math.max(0, events.indexOf(this.#heldAt)) : 0;
  }

  readonly #showNew = (): void => {
    this.#release();
    this.element.querySelector<HTMLElement>('.events')?.focus();
  };

  #release(): void {
    this.#heldAt = undefined;
    this.#opened.clear();
    this.element.querySelector('.events')?.scrollTo(0, 0);
    this.draw();
  }

  #row(event: StoreEvent): TemplateResult {
    const isOpen = this.#opened.has(event);
    // The toggle event of browsers comes too late: an event of the stream may draw the row before.
    const toggle = (click: Event) => {
      click.preventDefault();
      if (!this.#opened.delete(event)) this.#opened.add(event);
      this.draw();
    };
    return html`<details ?open=${isOpen}>
      <summary @click=${toggle}>
        <span class="event-id">${event.id}</span>
        ${timeOf(event.timestamp)}
        <span class=${isMarker(event) ? 'badge warn' : 'badge'}>${plain(event.type, 60)}</span>
        <bdi class="about">${summaryOf(event)}</bdi>
        <span class="quiet by">${this.#by(event)}</span>
      </summary>
      ${when(isOpen, () => this.#details(event))}
    </details>`;
  }

  #by({ requestId }: StoreEvent): View {
    if (!requestId) return html`by the service`;
    if (isOfPage(requestId)) return html`by this page`;
    return html`by <bdi><code>${plain(requestId, 40)}</code></bdi>`;
  }

  #details(event: StoreEvent): TemplateResult {
    const changes = changesOf(event, 1_000);
    const unchanged = unchangedOf(event);
    const [hasWas, hasNow] = [
      changes.some(({ was }) => was !== undefined),
      changes.some(({ now }) => now !== undefined),
    ];
    const recorded = recording.find(event.requestId ?? '');
    return html`<div class="event">
      ${when(
        changes.length > 0,
        () => html`<table>
              <thead>
                <tr>
                  <th scope="col">Field</th>
                  ${when(hasWas, () => html`<th scope="col">Was</th>`)}
                  ${when(hasNow, () => html`<th scope="col">Is now</th>`)}
                </tr>
              </thead>
              <tbody>
                ${changes.map(
                  ({ field, was, now }) => html`<tr>
                    <th scope="row"><bdi>${plain(field, 60)}</bdi></th>
                    ${when(hasWas, () => html`<td><del><bdi>${was}</bdi></del></td>`)}
                    ${when(hasNow, () => html`<td><ins><bdi>${now}</bdi></ins></td>`)}
                  </tr>`,
                )}
              </tbody>
            </table>`,
      )}
      ${when(unchanged, () => html`<p class="quiet">Unchanged: <bdi>${unchanged}</bdi></p>`)}
      <p class="quiet">
        ${
          event.requestId
            ? html`Made by request <bdi><code>${plain(event.requestId)}</code></bdi>`
            : 'Made by the service or by a command, not by a request.'
        }
      </p>
      ${when(recorded, ({ id }) => html`<button type="button" @click=${() => recording.show(id)}>Show this request</button>`)}
    </div>`;
  }
}

const cost = 'This counts as 1 request.';

const opener = (text: string, kind = ''): TemplateResult =>
  needsService(
    html`<button type="button" class=${kind} ?disabled=${session.blockedBy !== undefined} @click=${() => stream.open()}>${text}</button>`,
  );

function noteOf({ reason, untilMs }: Block): TemplateResult {
  const then = stream.isOpen ? 'continues by itself after' : 'can be opened at';
  return html`<p class="note">${reason}: the stream ${then} ${toLocalTime(untilMs, session.nowMs())}.</p>`;
}

addPanel('lab-events', Events);
