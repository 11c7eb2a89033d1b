import { PetstoreError } from '../../client/error.ts';
import type { LabTypes } from '../../client/index.ts';
import type { RecordedRequest } from '../recordings/schema.ts';
import { reasonOf } from './api.ts';
import { type Session, SessionState } from './session.ts';

export type RecordingFacts = LabTypes.Recording;

/** The page keeps this many of the newest requests. */
export const maxRequests = 1_000;
/** A busy client's requests are read in a few pages at once. */
const [pageSize, pagesAtOnce] = [100, 3];
/** The counts of a recording are read with every tenth reading of its requests. */
const factsEvery = 10;
/** How often the page lists recordings while none is active: one may begin and end between two readings of the account. */
const listEveryMs = 3_000;
/** An instance writes its requests within a second, also after the end. */
const readingsAfterEnd = 3;

/**
 * The recording that the page shows: the active or the last one, started by anyone, until the user chooses another or a new one
 * begins. It is read with the account, so not while the tab is hidden.
 */
export class RecordingState extends SessionState {
  /** Undefined if the key has no recording, or none was read yet. */
  facts: RecordingFacts | undefined;
  /** All recordings of the key, the newest first. */
  all: readonly RecordingFacts[] = [];
  /** The id of the recording that is shown, or will be once it is read. */
  chosen: string | undefined;
  /** Whether the page knows if there is one. */
  isKnown = false;
  isActive = false;
  isBusy = false;
  /** The newest requests, in the order of their ends. */
  requests: readonly RecordedRequest[] = [];
  /** Why it could not be read. */
  failure = '';
  /** Shows a request with its details, by its id. */
  show: (id: string) => void = () => {};
  #active: string | undefined;
  #listedAtMs = 0;
  #last = 0;
  #readings = 0;
  #readingsLeft = 0;
  #reading: Promise<void> | undefined;

  constructor(session: Session) {
    super(session);
    session.onChange(() => void this.#follow());
  }

  /** Whether it has requests, but none was read yet. */
  get isUnread(): boolean {
    return this.facts !== undefined && this.facts.requests > 0 && this.requests.length === 0;
  }

  /** The request with this `X-Request-Id`, if it is among the newest. */
  find(requestId: string): RecordedRequest | undefined {
    return this.requests.findLast((request) => request.requestId === requestId);
  }

  /** The request with this id. Reads it if it is not among the newest. */
  async request(id: string): Promise<RecordedRequest | undefined> {
    const kept = this.requests.find((request) => request.id === id);
    if (kept || !this.facts) return kept;
    const [found] = await this.#page(Number(id) - 1, 1);
    return found?.id === id ? found : undefined;
  }

  choose(id: string): void {
    this.chosen = id;
    void this.#follow();
  }

  async start(name = 'my client'): Promise<void> {
    if (!this.session.account?.recording) await this.#change(() => this.session.lab.startRecording({ name }));
  }

  async stop(): Promise<void> {
    const { facts } = this;
    if (facts) await this.#change(() => this.session.lab.endRecording(facts.id));
  }

  /** Starts or ends one, once at a time, and reads the result. */
  async #change(send: () => Promise<unknown>): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.changed();
    try {
      await send();
      await this.session.refresh();
      // This reading may have begun before the change.
      await this.#reading;
      await this.#follow();
    } finally {
      this.isBusy = false;
      this.changed();
    }
  }

  /** Reads what is new, once at a time. */
  async #follow(): Promise<void> {
    if (this.session.connection !== 'live') return;
    this.#reading ??= this.#readNew().finally(() => {
      this.#reading = undefined;
      this.changed();
    });
    await this.#reading;
  }

  async #readNew(): Promise<void> {
    try {
      const active = this.session.account?.recording?.id;
      const isDue = !active && performance.now() - this.#listedAtMs >= listEveryMs;
      if (!this.isKnown || active !== this.#active || isDue) {
        const all = await this.session.lab.listRecordings();
        const unseen = all.find(({ id }) => this.all.every((seen) => seen.id !== id))?.id;
        this.chosen = this.isKnown ? (unseen ?? this.chosen) : (active ?? all[0]?.id);
        this.all = all;
        this.#active = active;
        this.#listedAtMs = performance.now();
      }
      const id = this.chosen;
      if (!this.isKnown || id !== this.facts?.id) {
        this.#begin(id ? await this.session.lab.getRecording(id) : undefined);
        this.isKnown = true;
      }
      await this.#read(id !== undefined && id === active);
      this.failure = '';
    } catch (error) {
      if (error instanceof PetstoreError && error.status === 404) {
        // Somebody has removed it.
        this.#begin(undefined);
        this.isKnown = false;
      }
      this.failure = this.isKnown ? reasonOf(error) : '';
    }
  }

  async #read(isActive: boolean): Promise<void> {
    if (!this.facts) return;
    if (isActive !== this.isActive) this.#readings = 0;
    this.isActive = isActive;
    if (isActive) this.#readingsLeft = readingsAfterEnd;
    else if (this.#readingsLeft-- <= 0) return;
    if (this.#readings++ % factsEvery === 0 || !isActive) await this.#readFacts(this.facts.id);
    let changedFrom = Number.POSITIVE_INFINITY;
    let isMore = true;
    for (let pages = 0; pages < pagesAtOnce && isMore; pages++) {
      const page = await this.#page(this.#last, pageSize);
      this.#last = Number(page.at(-1)?.id ?? this.#last);
      const earlier = this.requests.find((kept) => page.some((late) => mayBeBefore(late, kept)));
      changedFrom = Math.min(changedFrom, Number(earlier?.id ?? changedFrom));
      if (page.length > 0) this.requests = [...this.requests, ...page].slice(-maxRequests);
      isMore = page.length === pageSize;
    }
    if (changedFrom < Number.POSITIVE_INFINITY) await this.#readAgain(changedFrom);
    if (!isMore) return;
    // The next reading skips to the newest requests. An ended recording is read to its end.
    this.#readings = 0;
    this.#readingsLeft = readingsAfterEnd;
  }

  async #readFacts(id: string): Promise<void> {
    this.facts = await this.session.lab.getRecording(id);
    const first = this.facts.requests - maxRequests;
    if (first <= this.#last) return;
    this.#last = first;
    this.requests = [];
  }

  /** Reads requests again from `id` on: the end of a request that began earlier changes their `gapMs` and `retryOf`. */
  async #readAgain(id: number): Promise<void> {
    const page = await this.#page(id - 1, pageSize);
    const again = new Map(page.map((request) => [request.id, request]));
    this.requests = this.requests.map((request) => again.get(request.id) ?? request);
  }

  async #page(after: number, limit: number): Promise<RecordedRequest[]> {
    const list = this.session.lab.listRecordedRequests(this.facts?.id as string, { after, limit });
    const { value } = await list.pages().next();
    return value ?? [];
  }

  #begin(facts: RecordingFacts | undefined): void {
    this.facts = facts;
    this.isActive = false;
    this.requests = [];
    this.failure = '';
    this.#last = 0;
    this.#readings = 0;
    this.#readingsLeft = readingsAfterEnd;
    this.changed();
  }
}

/** Whether a request began before an equal one that ended earlier. */
const mayBeBefore = (one: RecordedRequest, other: RecordedRequest) =>
  one.at < other.at && one.method === other.method && one.target === other.target;
