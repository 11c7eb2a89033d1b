import { writeExactly } from '../../client/exact-json.ts';
import type { Event as StoreEvent } from '../../client/index.ts';
import { counted } from '../../foundation/words.ts';
import { isOfPage } from './api.ts';
import { failureNote, type KeyContext, needsService, Panel, showButton } from './panel.ts';
import {
  html,
  live,
  nothing,
  plain,
  repeat,
  type TemplateResult,
  timeOf,
  type View,
  when,
} from './template.ts';
import { toLocalTime } from './times.ts';

const maxDrawn = 100;

export class EventsPanel extends Panel {
  #type = '';
  readonly #opened = new Set<StoreEvent>();
  /** The newest drawn event while the user reads. Newer ones wait. */
  #heldAt: StoreEvent | undefined;

  constructor(element: HTMLElement, context: KeyContext) {
    super(element, context);
    for (const type of ['focusin', 'focusout'])
      element.addEventListener(type, () => this.draw(), { signal: this.session.signal });
  }

  protected view(): View {
    const { session, stream } = this.context;
    const { isOpen, failure, events } = stream;
    if (!isOpen && !failure && events.length === 0)
      return html`<div class="empty">
        <h2>Events</h2>
        <p>Shows every change in the workspace live, whoever makes it.</p>
        <div class="choices"><div>${this.#opener('Open the stream', 'primary')}<p>${cost}</p></div></div>
        ${this.#note()}
      </div>`;
    const close = html`<button type="button" @click=${() => stream.close()}>Close the stream</button>`;
    return html`<h2>Events</h2>
      <div class="row">
        ${isOpen ? needsService(session, close) : this.#opener('Open the stream again')}
        <span class="quiet">${isOpen ? stream.badge() : cost}</span>
      </div>
      ${failureNote(failure && `The stream has ended: ${plain(failure, 500)}`)}
      ${this.#note()} ${this.#list()}`;
  }

  /** Why the stream is not connected, and when it can be. */
  #note(): View {
    const { blockedBy } = this.session;
    const { isOpen, isConnected, trouble } = this.context.stream;
    if (isConnected) return nothing;
    if (blockedBy) {
      const then = isOpen ? 'continues by itself after' : 'can be opened at';
      const until = toLocalTime(blockedBy.untilMs, this.session.nowMs());
      return html`<p class="note">${blockedBy.reason}: the stream ${then} ${until}.</p>`;
    }
    return isOpen && trouble
      ? html`<p class="note">The stream is waiting and will continue by itself: ${plain(trouble, 500)}</p>`
      : nothing;
  }

  #opener(text: string, kind = ''): TemplateResult {
    const { session, stream } = this.context;
    return needsService(
      session,
      html`<button type="button" class=${kind} ?disabled=${session.blockedBy !== undefined} @click=${() => stream.open()}>${text}</button>`,
    );
  }

  #list(): View {
    const { events } = this.context.stream;
    const ofType = events.filter(({ type }) => !this.#type || type === this.#type);
    const waiting = this.#waiting(ofType);
    const drawn = ofType.slice(waiting, waiting + maxDrawn);
    if (!waiting) this.#heldAt = drawn[0];
    const types = countsByType(events);
    if (this.#type && !types.has(this.#type)) types.set(this.#type, 0);
    return html`<div class="row spread">
        <label class="filter">
          Type
          <select @change=${(event: Event) => {
            this.#type = (event.target as HTMLSelectElement).value;
            this.#release();
          }}>
            <option value="" .selected=${live(!this.#type)}>all (${events.length})</option>
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
    for (const event of this.#opened)
      if (!this.context.stream.events.includes(event)) this.#opened.delete(event);
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
        <span class=${event.type in markers ? 'badge warn' : 'badge'}>${plain(event.type, 60)}</span>
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
    const hasWas = changes.some(({ was }) => was !== undefined);
    const hasNow = changes.some(({ now }) => now !== undefined);
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
      ${showButton(this.context.recording, event.requestId)}
    </div>`;
  }
}

const cost = 'This counts as 1 request.';

type Fields = Readonly<Record<string, unknown>>;

interface Change {
  field: string;
  /** Absent if the field did not exist before, or does not exist now. */
  was?: string;
  now?: string;
}

/** A value as text. A merge patch calls an absent value null. */
function textOf(value: unknown, max?: number): string {
  if (value === undefined || value === null) return 'nothing';
  return plain(typeof value === 'string' ? value : writeExactly(value), max);
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
const dataOf = (event: StoreEvent) => fieldsOf(event.data);
const previousOf = (event: StoreEvent) => fieldsOf((event as { previous?: unknown }).previous);

/** The changed fields of an update; for other events all fields. */
function changesOf(event: StoreEvent, max?: number): Change[] {
  const [data, previous] = [dataOf(event), previousOf(event)];
  if ('previous' in event)
    return Object.keys(previous).map((field) => ({
      field,
      was: textOf(previous[field], max),
      now: textOf(data[field], max),
    }));
  const word = /\.(deleted|cancelled)$/.test(event.type) ? 'was' : 'now';
  return Object.keys(data).map((field) => ({ field, [word]: textOf(data[field], max) }));
}

function unchangedOf(event: StoreEvent): string {
  if (!('previous' in event)) return '';
  const previous = previousOf(event);
  return Object.entries(dataOf(event))
    .filter(([field]) => !(field in previous))
    .map(([field, value]) => `${field} ${textOf(value, 60)}`)
    .join(', ');
}

/** Events that concern the whole workspace: all lists are out of date. */
const markers: Readonly<Record<string, string>> = {
  'workspace.reset':
    'All or part of the data was removed. Earlier events no longer describe the current state.',
  'workspace.seeded': 'Many rows were added at once, without an event for each.',
};

/** An event in a few words, such as `pet 7 Smaug: status available → pending`. */
function summaryOf(event: StoreEvent): string {
  const marker = markers[event.type];
  if (marker) return marker;
  const data = dataOf(event);
  const [kind = ''] = event.type.split('.');
  const name = textOf(data.name ?? data.url ?? '', 60);
  const subject =
    kind === 'inventory'
      ? `stock of pet ${textOf(data.petId)}`
      : `${plain(kind, 60)} ${textOf(data.id ?? '')} ${name}`.trim();
  const changes =
    'previous' in event
      ? changesOf(event, 60)
          .slice(0, 4)
          .map(({ field, was, now }) => `${plain(field, 60)} ${was} → ${now}`)
      : [];
  if (kind === 'order') changes.unshift(`${textOf(data.quantity)} of pet ${textOf(data.petId)}`);
  if (event.type === 'webhook.disabled') changes.push(`${textOf(data.disabledReason)}`);
  return changes.length ? `${subject}: ${changes.join(', ')}` : subject;
}

function countsByType(events: readonly StoreEvent[]): Map<string, number> {
  const counts = [...Map.groupBy(events, ({ type }) => type)].map(
    ([type, { length }]) => [type, length] as const,
  );
  return new Map<string, number>(counts.sort(([a], [b]) => (a < b ? -1 : 1)));
}
