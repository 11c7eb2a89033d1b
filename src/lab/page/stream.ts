import { type Int64, PetstoreError, type Event as StoreEvent } from '../../client/index.ts';
import { rehearsing } from './rehearsal.ts';
import type { View } from './section.ts';
import { reasonOf, session } from './session.ts';
import { html, nothing } from './template.ts';

/** So many events are kept: the newest. */
const maxKept = 500;

/**
 * The stream of events of the workspace, which all parts of the page share. To open it takes one request of the limits, so it is opened
 * when somebody asks for it. It tells `change`, and each event as `event`.
 */
class Stream extends EventTarget {
  /** From when it is opened until it is closed or ends: what breaks it meanwhile passes. */
  isOpen = false;
  /** Whether events come now. */
  isLive = false;
  /** Why it has to wait. */
  trouble = '';
  /** Why it ended by itself. */
  failure = '';
  /** The newest first. */
  readonly events: StoreEvent[] = [];
  /** How often it began without its place, or its ids became others: what was known before cannot be kept up to date. */
  gaps = 0;
  /** Behind which event it goes on: whoever opens it again misses none. */
  #place: Int64 | undefined;
  #begun = Promise.withResolvers<void>();
  #hadLargeIds = false;
  #ended = new AbortController();

  constructor() {
    super();
    session.addEventListener('key', () => {
      this.close();
      this.events.length = 0;
      this.#place = undefined;
    });
    rehearsing.addEventListener('change', () => this.#lookAtIds());
  }

  /** Opens it, unless it is open. Resolves when it has begun, so that no later event is missed, or has ended. */
  open(): Promise<void> {
    if (!this.isOpen) {
      this.isOpen = true;
      this.failure = '';
      if (this.#place === undefined) this.gaps++;
      this.#begun = Promise.withResolvers();
      this.#ended = new AbortController();
      this.#changed();
      void this.#follow(this.#ended.signal);
    }
    return this.#begun.promise;
  }

  close(failure = ''): void {
    this.isOpen = this.isLive = false;
    this.trouble = '';
    this.failure = failure;
    this.#ended.abort();
    this.#begun.resolve();
    this.#changed();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const query = this.#place === undefined ? {} : { after: this.#place };
    let hasBegun = false;
    const onOpen = (after: Int64 | undefined) => {
      // Something in between takes the place away: what came meanwhile is not known.
      if (hasBegun && after === undefined && this.#place === undefined)
        return this.close('It broke, and does not tell where it goes on: events may be missing.');
      hasBegun = true;
      if (after !== undefined) this.#goTo(after);
      this.#stand(true);
      this.#begun.resolve();
    };
    const onBreak = (error: unknown) => this.#stand(false, error ? reasonOf(error) : '');
    try {
      for await (const event of session.petstore.streamEvents(query, { signal, onOpen, onBreak })) {
        if (signal.aborted) return;
        this.#goTo(event.id);
        this.events.unshift(event);
        if (this.events.length > maxKept) this.events.length = maxKept;
        this.dispatchEvent(new CustomEvent('event', { detail: event }));
        this.#changed();
      }
    } catch (error) {
      if (signal.aborted) return;
      // What the history no longer has, or never had under this id, is not asked for again.
      if (error instanceof PetstoreError && [400, 410].includes(error.status ?? 0)) this.#place = undefined;
      this.close(reasonOf(error));
    }
  }

  #goTo(place: Int64): void {
    // A rehearsal of large-ids has begun or ended meanwhile.
    if (this.#place !== undefined && typeof this.#place !== typeof place) this.gaps++;
    this.#place = place;
  }

  /** The ids of a stream stay as they were when it began, while those of all other answers follow the rehearsal. */
  #lookAtIds(): void {
    const { isActive, shown } = rehearsing;
    const hasLargeIds = isActive && shown?.faults.some(({ fault }) => fault === 'large-ids') === true;
    if (hasLargeIds === this.#hadLargeIds) return;
    this.#hadLargeIds = hasLargeIds;
    // It may have begun after that.
    if (this.#place === undefined || hasLargeIds === (typeof this.#place === 'bigint')) return;
    // A small id is understood during the rehearsal, a large one is nobody's after it.
    if (!hasLargeIds) this.#place = undefined;
    if (this.isOpen)
      this.close(`The fault large-ids has ${hasLargeIds ? 'begun' : 'ended'}, so all ids are others now.`);
  }

  #stand(isLive: boolean, trouble = ''): void {
    this.isLive = isLive;
    this.trouble = trouble;
    this.#changed();
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

export const stream = new Stream();

/** How an open stream stands, for all parts that follow it. One that is paused goes on by itself. */
export function streamState(): View {
  const { standing, account } = session;
  // Then every heading says that all is paused.
  if (!account || standing === 'away') return nothing;
  if (stream.isLive) return html`<span class="badge good">live</span>`;
  if (session.obstacle) return html`<span class="badge warn">paused</span>`;
  return html`<span class="badge">connecting</span>`;
}
