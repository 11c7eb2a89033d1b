import type { Event, Int64 } from '../../client/index.ts';
import type { Actions } from './actions.ts';
import { reasonOf } from './api.ts';
import { type Session, SessionState } from './session.ts';
import {
  applyEvent,
  type EventEffect,
  readSnapshot,
  requestsOfReading,
  type StoreSnapshot,
} from './store-snapshot.ts';
import type { Stream } from './stream.ts';
import { sleep } from './times.ts';

const markMs = 5_000;
/** Resets by others cause a new reading this often at most, since each reading costs requests. */
const rereadEveryMs = 10_000;
/** The events of one reset come together. */
const settleMs = 200;

/** The store as it was read, kept up to date by the stream of events. */
export class StoreCache extends SessionState {
  snapshot: StoreSnapshot | undefined;
  isReading = false;
  /** Why it could not be read. */
  failure = '';
  /** Why events cannot keep it up to date. All is read again in a moment. */
  lost = '';
  readonly marks = new Map<Int64, { change: string }>();
  #waiting: Event[] = [];
  #readAtMs = 0;
  /** The gaps of the stream at the last reading. */
  #gaps = 0;
  /** The reading that is put off, if there is one. */
  #reread: object | undefined;

  readonly #stream: Stream;
  readonly #actions: Actions;

  constructor(session: Session, stream: Stream, actions: Actions) {
    super(session);
    this.#stream = stream;
    this.#actions = actions;
    stream.onEvent = (event) => this.#take(event);
    stream.onChange(() => {
      this.#checkStream();
      this.changed();
    });
  }

  /** Whether the store may have changed since. A broken stream continues where it was, so it misses nothing. */
  get isOld(): boolean {
    return !this.#stream.isOpen || this.lost !== '' || this.failure !== '';
  }

  /** How many requests it takes to open it now. */
  get cost(): number {
    return requestsOfReading + (this.#stream.isOpen ? 0 : 1);
  }

  /** Whether the reading waits for the stream to begin. */
  get isWaiting(): boolean {
    return this.isReading && this.#stream.isOpen && !this.#stream.isConnected;
  }

  /** Opens the stream, and then reads the lists. */
  async open(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    this.#reread = undefined;
    this.failure = '';
    this.#waiting = [];
    this.changed();
    try {
      await this.#stream.open();
      const { gaps } = this.#stream;
      this.#show(await readSnapshot(this.session.petstore), gaps);
    } catch (error) {
      this.isReading = false;
      this.failure = reasonOf(error);
    }
    this.changed();
  }

  /** Reads at once after the next reset, since the page itself asks for it. */
  expectReset(): void {
    this.#readAtMs = 0;
  }

  #show(snapshot: StoreSnapshot, gaps: number): void {
    this.snapshot = snapshot;
    this.isReading = false;
    this.lost = '';
    this.#gaps = gaps;
    this.marks.clear();
    this.#readAtMs = Date.now();
    for (const event of this.#waiting.splice(0)) this.#take(event);
    this.#checkStream();
  }

  #checkStream(): void {
    if (!this.snapshot) return;
    if (this.#gaps !== this.#stream.gaps) {
      this.#gaps = this.#stream.gaps;
      this.lost = 'Events are missing, or all ids have changed.';
      // Only the user causes this, so the next reading may follow at once.
      this.#readAtMs = 0;
      this.#actions.leaveSubjects();
    }
    // After a failure the user has to ask again.
    if (this.lost && this.#stream.isOpen && !this.isReading && !this.failure) void this.#readAgain();
  }

  #take(event: Event): void {
    if (this.isReading) this.#waiting.push(event);
    else if (this.snapshot) {
      if (event.type === 'workspace.reset') this.#actions.leaveSubjects();
      const effect = applyEvent(this.snapshot, event);
      if (typeof effect === 'object') this.#actions.leaveSubject(`pet ${effect.petId}`, event.requestId);
      this.#follow(effect);
    }
  }

  #follow(effect: EventEffect): void {
    if (effect === 'everything') {
      this.lost = 'The workspace was reset.';
      void this.#readAgain();
    } else if (effect !== 'nothing') void this.#mark(effect.petId, effect.change);
    this.changed();
  }

  /** Reads all again, once for events that come together. */
  async #readAgain(): Promise<void> {
    if (this.#reread) return;
    const reread = {};
    this.#reread = reread;
    await sleep(Math.max(settleMs, this.#readAtMs + rereadEveryMs - Date.now()));
    await this.#pageVisible();
    // The user may have read it meanwhile.
    if (this.#reread !== reread) return;
    this.#reread = undefined;
    // If the user closed the stream, it stays closed.
    if (this.#stream.isOpen) void this.open();
  }

  async #mark(petId: Int64, change: string): Promise<void> {
    const mark = { change };
    this.marks.set(petId, mark);
    await sleep(markMs);
    // A later mark stays for its own time.
    if (this.marks.get(petId) !== mark) return;
    this.marks.delete(petId);
    this.changed();
  }

  async #pageVisible(): Promise<void> {
    if (!document.hidden) return;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    document.addEventListener('visibilitychange', resolve, { once: true, signal: this.session.signal });
    await promise;
  }
}
