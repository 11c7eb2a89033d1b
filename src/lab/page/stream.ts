import { PetstoreError } from '../../client/error.ts';
import type { Int64, Event as StoreEvent } from '../../client/index.ts';
import { reasonOf } from './api.ts';
import type { RehearsalState } from './rehearsal.ts';
import { type Session, SessionState } from './session.ts';
import { html, nothing, type View } from './template.ts';

const maxKept = 500;

/** The stream of events of the workspace, for all panels. To open it takes one request of the limits, so only the user opens it. */
export class Stream extends SessionState {
  /** True until it is closed or ends. It survives broken connections. */
  isOpen = false;
  isConnected = false;
  /** Why it waits to connect again. */
  trouble = '';
  failure = '';
  /** The newest first. */
  readonly events: StoreEvent[] = [];
  /** How often events may have been missed, or the ids changed: then lists must be read again. */
  gaps = 0;
  onEvent: (event: StoreEvent) => void = () => {};
  /** The id of the last event. An opened stream continues after it. */
  #place: Int64 | undefined;
  #begun = Promise.withResolvers<void>();
  #hadLargeIds = false;
  #closed = new AbortController();

  readonly #rehearsal: RehearsalState;

  constructor(session: Session, rehearsal: RehearsalState) {
    super(session);
    this.#rehearsal = rehearsal;
    rehearsal.onChange(() => this.#checkIds());
    session.signal.addEventListener('abort', () => this.#closed.abort());
  }

  /** Opens it, unless it is open. Resolves when it is connected, or has ended. */
  open(): Promise<void> {
    if (!this.isOpen) {
      this.isOpen = true;
      this.failure = '';
      if (this.#place === undefined) this.gaps++;
      this.#begun = Promise.withResolvers();
      this.#closed = new AbortController();
      this.changed();
      void this.#follow(this.#closed.signal);
    }
    return this.#begun.promise;
  }

  close(failure = ''): void {
    this.isOpen = this.isConnected = false;
    this.trouble = '';
    this.failure = failure;
    this.#closed.abort();
    this.#begun.resolve();
    this.changed();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const query = this.#place === undefined ? {} : { after: this.#place };
    let hasBegun = false;
    const onOpen = (after: Int64 | undefined) => {
      // A proxy may remove the header field with the place.
      if (hasBegun && after === undefined && this.#place === undefined)
        return this.close('The connection broke and the position is unknown, so events may be missing.');
      hasBegun = true;
      if (after !== undefined) this.#moveTo(after);
      this.#connect(true);
      this.#begun.resolve();
    };
    const onBreak = (error: unknown) => this.#connect(false, error ? reasonOf(error) : '');
    try {
      for await (const event of this.session.petstore.streamEvents(query, { signal, onOpen, onBreak })) {
        if (signal.aborted) return;
        this.#moveTo(event.id);
        this.events.unshift(event);
        if (this.events.length > maxKept) this.events.length = maxKept;
        this.onEvent(event);
        this.changed();
      }
    } catch (error) {
      if (signal.aborted) return;
      // The history does not have this place.
      if (error instanceof PetstoreError && [400, 410].includes(error.status ?? 0)) this.#place = undefined;
      this.close(reasonOf(error));
    }
  }

  #moveTo(place: Int64): void {
    // The fault large-ids has begun or ended.
    if (this.#place !== undefined && typeof this.#place !== typeof place) this.gaps++;
    this.#place = place;
  }

  /** The fault large-ids changes the ids of all answers at once, but not those of a stream that has begun. */
  #checkIds(): void {
    const hasLargeIds = this.#rehearsal.active.some(({ fault }) => fault === 'large-ids');
    if (hasLargeIds === this.#hadLargeIds) return;
    this.#hadLargeIds = hasLargeIds;
    // The stream may have begun since.
    if (this.#place === undefined || hasLargeIds === (typeof this.#place === 'bigint')) return;
    // The service still understands a small id during the rehearsal, but no large id after it.
    if (!hasLargeIds) this.#place = undefined;
    if (this.isOpen)
      this.close(`The fault large-ids has ${hasLargeIds ? 'started' : 'ended'}, so all ids have changed.`);
  }

  #connect(isConnected: boolean, trouble = ''): void {
    this.isConnected = isConnected;
    this.trouble = trouble;
    this.changed();
  }

  /** The state of an open stream. While the service is away, the headings say so. */
  badge(): View {
    const { account, connection, blockedBy } = this.session;
    if (!account || connection === 'away') return nothing;
    if (this.isConnected) return html`<span class="badge good">live</span>`;
    return blockedBy
      ? html`<span class="badge warn">paused</span>`
      : html`<span class="badge">connecting</span>`;
  }
}
