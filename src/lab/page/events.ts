import { isOwn } from '../own-requests.ts';
import { aboutOf, changesOf, isMarker, type StoreEvent, typesOf, unchangedOf } from './event-words.ts';
import type { Obstacle } from './obstacle.ts';
import { counted, plain, timeOf } from './plain-text.ts';
import { recording } from './recording.ts';
import { asking, Section, type View } from './section.ts';
import { session } from './session.ts';
import { stream, streamState } from './stream.ts';
import { html, live, nothing, repeat, type TemplateResult } from './template.ts';
import { toLocalTime } from './times.ts';

/** So many are drawn at once. */
const maxDrawn = 100;

class Events extends Section {
  #type = '';
  readonly #opened = new Set<StoreEvent>();
  /** The newest that is drawn while somebody reads: what comes after it waits. */
  #heldAt: StoreEvent | undefined;

  constructor() {
    super();
    this.follow(stream);
    for (const type of ['focusin', 'focusout']) this.addEventListener(type, () => this.draw());
  }

  protected begin(): void {
    this.#type = '';
    this.#opened.clear();
    this.#heldAt = undefined;
  }

  protected view(): View {
    if (!session.account) return nothing;
    const hasBegun = stream.isOpen || stream.failure !== '' || stream.events.length > 0;
    return html`<h2>Events</h2>
      ${this.#state()} ${hasBegun ? this.#list() : nothing}`;
  }

  #state(): View {
    const { isOpen, failure, events } = stream;
    const { obstacle } = session;
    const again = failure || events.length > 0;
    const button = isOpen
      ? html`<button type="button" @click=${() => stream.close()}>Close the stream</button>`
      : html`<button type="button" class=${again ? '' : 'primary'} ?disabled=${obstacle !== undefined} @click=${() => stream.open()}>
          ${again ? 'Open the stream again' : 'Open the stream'}
        </button>`;
    return html`<div class="row">${asking(button)}<span class="quiet">${isOpen ? streamState() : 'It takes 1 request of the limit.'}</span></div>
      ${
        again || isOpen
          ? nothing
          : html`<p class="quiet">All that changes in the workspace, as it happens, whoever does it.</p>`
      }
      ${failure ? html`<p class="failure" role="alert">The stream has ended: ${plain(failure, 500)}</p>` : nothing}
      ${this.#note()}`;
  }

  /** Why the stream is not there now, and when it can be. */
  #note(): View {
    const { obstacle } = session;
    const { isOpen, isLive, trouble } = stream;
    if (isLive) return nothing;
    if (obstacle) return noteOf(obstacle);
    return isOpen && trouble
      ? html`<p class="note">The stream has to wait, and goes on by itself: ${plain(trouble, 500)}</p>`
      : nothing;
  }

  #list(): View {
    const ofType = stream.events.filter(({ type }) => !this.#type || type === this.#type);
    const waiting = this.#waiting(ofType);
    const drawn = ofType.slice(waiting, waiting + maxDrawn);
    if (!waiting) this.#heldAt = drawn[0];
    const types = typesOf(stream.events);
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
        ${
          waiting
            ? html`<button type="button" @click=${this.#showNew}>Show ${counted(waiting, 'new event')}</button>`
            : nothing
        }
      </div>
      <div class="events" tabindex="0" role="region" aria-label="Events, the newest first" @scroll=${() => this.draw()}>
        ${
          drawn.length === 0
            ? html`<p class="quiet">No event yet. Change something, such as by an order: it appears here.</p>`
            : repeat(
                drawn,
                (event) => event,
                (event) => this.#row(event),
              )
        }
      </div>
      ${
        ofType.length > waiting + maxDrawn
          ? html`<p class="quiet">The newest ${maxDrawn} of ${ofType.length} that the page keeps.</p>`
          : nothing
      }`;
  }

  /** How many new events wait, because somebody reads: has opened one, has scrolled, or goes through them by keyboard. */
  #waiting(events: readonly StoreEvent[]): number {
    for (const event of this.#opened) if (!stream.events.includes(event)) this.#opened.delete(event);
    const list = this.querySelector('.events');
    const { activeElement } = document;
    const isRead =
      list?.scrollTop || this.#opened.size || (list !== activeElement && list?.contains(activeElement));
    return isRead && this.#heldAt ? Math.max(0, events.indexOf(this.#heldAt)) : 0;
  }

  readonly #showNew = (): void => {
    this.#release();
    this.querySelector<HTMLElement>('.events')?.focus();
  };

  #release(): void {
    this.#heldAt = undefined;
    this.#opened.clear();
    this.querySelector('.events')?.scrollTo(0, 0);
    this.draw();
  }

  #row(event: StoreEvent): TemplateResult {
    const isOpen = this.#opened.has(event);
    // The browser would tell too late: an event meanwhile would draw it as it was.
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
        <bdi class="about">${aboutOf(event)}</bdi>
        <span class="quiet by">${this.#by(event)}</span>
      </summary>
      ${isOpen ? this.#details(event) : nothing}
    </details>`;
  }

  #by({ requestId }: StoreEvent): View {
    if (!requestId) return html`by no request`;
    if (isOwn({ requestId })) return html`by this page`;
    return html`by <bdi><code>${plain(requestId, 40)}</code></bdi>`;
  }

  #details(event: StoreEvent): TemplateResult {
    const changes = changesOf(event, 1_000);
    const unchanged = unchangedOf(event);
    const [hasWas, hasNow] = [
      changes.some(({ was }) => was !== undefined),
      changes.some(({ now }) => now !== undefined),
    ];
    const recorded = event.requestId && recording.find(event.requestId);
    return html`<div class="event">
      ${
        changes.length > 0
          ? html`<table>
              <thead>
                <tr>
                  <th scope="col">Field</th>
                  ${hasWas ? html`<th scope="col">Was</th>` : nothing}
                  ${hasNow ? html`<th scope="col">Is now</th>` : nothing}
                </tr>
              </thead>
              <tbody>
                ${changes.map(
                  ({ field, was, now }) => html`<tr>
                    <th scope="row"><bdi>${plain(field, 60)}</bdi></th>
                    ${hasWas ? html`<td><del><bdi>${was}</bdi></del></td>` : nothing}
                    ${hasNow ? html`<td><ins><bdi>${now}</bdi></ins></td>` : nothing}
                  </tr>`,
                )}
              </tbody>
            </table>`
          : nothing
      }
      ${unchanged ? html`<p class="quiet">Unchanged: <bdi>${unchanged}</bdi></p>` : nothing}
      <p class="quiet">
        ${
          event.requestId
            ? html`Made by the request <bdi><code>${plain(event.requestId)}</code></bdi>`
            : 'No request made it: the service or a command did.'
        }
      </p>
      ${
        recorded
          ? html`<button type="button" @click=${() => recording.show(recorded.id)}>Show this request</button>`
          : nothing
      }
    </div>`;
  }
}

/** Why no stream can be open now, and when it can. */
function noteOf({ what, untilMs }: Obstacle): TemplateResult {
  const then = stream.isOpen ? 'goes on by itself after' : 'can be opened at';
  return html`<p class="note">${what}: the stream ${then} ${toLocalTime(untilMs, session.nowMs())}.</p>`;
}

customElements.define('lab-events', Events);
