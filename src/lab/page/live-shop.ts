import type { Event, Int64 } from '../../client/index.ts';
import { deals } from './deals.ts';
import { reasonOf, session } from './session.ts';
import { type Applied, apply, readShop, requestsOfReading, type Shop } from './shop.ts';
import { stream } from './stream.ts';

/** How long a change stays marked. */
const markMs = 5_000;
/** A workspace that others reset again and again is read anew this often at most, for reading counts. */
const rereadEveryMs = 10_000;
/** What is told of one reset comes together. */
const settleMs = 200;

/** The store as it was read, and as the stream of events has changed it since. It tells `change`. */
class LiveShop extends EventTarget {
  shop: Shop | undefined;
  isReading = false;
  /** Why it could not be read. */
  failure = '';
  /** Why what is shown cannot be kept up to date: all is read anew in a moment. */
  lost = '';
  /** What has just happened, by the id of the pet. */
  readonly marks = new Map<Int64, { change: string }>();
  /** What came while the lists were read. */
  #waiting: Event[] = [];
  #readAtMs = 0;
  /** How many gaps the stream had when the lists were read. */
  #gaps = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    stream.addEventListener('event', (event) => this.#take((event as CustomEvent<Event>).detail));
    stream.addEventListener('change', () => {
      this.#lookAtStream();
      this.#changed();
    });
  }

  /** Whether what is shown may differ from what is so. A stream that goes on from its place brings all that was missed. */
  get isOld(): boolean {
    return !stream.isOpen || this.lost !== '' || this.failure !== '';
  }

  /** How many requests it takes to open it now. */
  get cost(): number {
    return requestsOfReading + (stream.isOpen ? 0 : 1);
  }

  /** Whether the lists are not read yet, because the stream has not begun. */
  get isWaiting(): boolean {
    return this.isReading && stream.isOpen && !stream.isLive;
  }

  /** Follows the events, and then reads the lists. */
  async open(): Promise<void> {
    if (this.isReading) return;
    const { signal } = session;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.isReading = true;
    this.failure = '';
    this.#waiting = [];
    this.#changed();
    try {
      await stream.open();
      signal.throwIfAborted();
      const { gaps } = stream;
      const shop = await readShop(session.petstore, signal);
      if (signal.aborted) return;
      this.#show(shop, gaps);
    } catch (error) {
      if (signal.aborted) return;
      this.isReading = false;
      this.failure = reasonOf(error);
    }
    this.#changed();
  }

  /** The page itself is about to reset the workspace: what is told of that is not put off. */
  expectReset(): void {
    this.#readAtMs = 0;
  }

  /** Forgets everything. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.shop = undefined;
    this.isReading = false;
    this.failure = this.lost = '';
    this.marks.clear();
    this.#waiting = [];
    this.#readAtMs = 0;
  }

  #show(shop: Shop, gaps: number): void {
    this.shop = shop;
    this.isReading = false;
    this.lost = '';
    this.#gaps = gaps;
    this.marks.clear();
    this.#readAtMs = Date.now();
    for (const event of this.#waiting.splice(0)) this.#take(event);
    this.#lookAtStream();
  }

  #lookAtStream(): void {
    if (!this.shop) return;
    if (this.#gaps !== stream.gaps) {
      this.#gaps = stream.gaps;
      this.lost = 'Events are missing, or all ids are others now.';
      // Only who opens a stream or rehearses brings that about.
      this.#readAtMs = 0;
      deals.leavePlaces();
    }
    // What could not be read waits until somebody asks for it.
    if (this.lost && stream.isOpen && !this.isReading && !this.failure) this.#readAnew();
  }

  #take(event: Event): void {
    if (this.isReading) this.#waiting.push(event);
    else if (this.shop) {
      if (event.type === 'workspace.reset') deals.leavePlaces();
      const applied = apply(this.shop, event);
      if (typeof applied === 'object') deals.leavePlace(`pet ${applied.petId}`, event.requestId);
      this.#applied(applied);
    }
  }

  #applied(applied: Applied): void {
    if (applied === 'everything') {
      this.lost = 'The workspace was reset.';
      this.#readAnew();
    } else if (applied !== 'nothing') this.#mark(applied.petId, applied.change);
    this.#changed();
  }

  /** Once for all that comes together. */
  #readAnew(): void {
    if (this.#timer !== undefined) return;
    const waitMs = Math.max(settleMs, this.#readAtMs + rereadEveryMs - Date.now());
    this.#timer = setTimeout(() => {
      const read = () => {
        this.#timer = undefined;
        // Whoever closed the stream has not asked for another.
        if (stream.isOpen) void this.open();
      };
      if (document.hidden)
        document.addEventListener('visibilitychange', read, { once: true, signal: session.signal });
      else read();
    }, waitMs);
  }

  #mark(petId: Int64, change: string): void {
    // Later marks begin anew, and so stay for their time.
    const mark = { change };
    this.marks.delete(petId);
    this.marks.set(petId, mark);
    setTimeout(() => {
      if (this.marks.get(petId) !== mark) return;
      this.marks.delete(petId);
      this.#changed();
    }, markMs);
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

export const liveShop = new LiveShop();
