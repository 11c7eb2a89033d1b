import { PetstoreError } from '../../client/index.ts';
import { reasonOf, session } from './session.ts';
import type { RecordedRequest, RecordingFacts } from './types.ts';

/** So many requests are kept: the newest. */
export const maxRequests = 1_000;
/** So many come in a page, and so many pages are read at once while a client is fast. */
const [pageSize, pagesAtOnce] = [100, 3];
/** After so many readings it is looked up again how many requests there are, and how many were left out. */
const factsEvery = 10;
/** So often they are listed while none is active: one may begin and end between two readings of the account. */
const listEveryMs = 3_000;
/** An instance writes what it kept within the second, also after the end. */
const readingsAfterEnd = 3;

/**
 * The recording of the key that is shown: the active one, also of a command or another tab, or else the last, until the reader chooses
 * another or there is a new one. It is followed as often as the session reads the account, so not while the tab is hidden. It tells
 * `change`, and `show` with the id of a request.
 */
class Recording extends EventTarget {
  /** What is known of it; undefined if the key has none, or nothing was read yet. */
  facts: RecordingFacts | undefined;
  /** All that the key has, the newest first. */
  all: readonly RecordingFacts[] = [];
  /** The id of the one that is shown, or will be once it is read. */
  chosen: string | undefined;
  /** Whether it is known if there is one. */
  isKnown = false;
  isActive = false;
  /** Whether one is being begun or ended. */
  isBusy = false;
  /** Its newest requests, in the order in which they ended. */
  requests: readonly RecordedRequest[] = [];
  /** Why it could not be read. */
  failure = '';
  #active: string | undefined;
  #listedAtMs = 0;
  #last = 0;
  #readings = 0;
  #readingsLeft = 0;
  #reading: Promise<void> | undefined;

  constructor() {
    super();
    session.addEventListener('key', () => {
      this.isKnown = false;
      this.all = [];
      this.isBusy = false;
      this.#reading = undefined;
      this.#begin(undefined);
    });
    session.addEventListener('change', () => void this.#follow());
  }

  /** Whether it has requests of which none was read yet. */
  get isUnread(): boolean {
    return this.facts !== undefined && this.facts.requests > 0 && this.requests.length === 0;
  }

  /** The request with this `X-Request-Id`, if it is kept and among the newest. */
  find(requestId: string): RecordedRequest | undefined {
    return this.requests.findLast((request) => request.requestId === requestId);
  }

  /** The request with this id, which is read if it is not among the newest. */
  async request(id: string): Promise<RecordedRequest | undefined> {
    const kept = this.requests.find((request) => request.id === id);
    if (kept || !this.facts) return kept;
    const [found] = await this.#page(Number(id) - 1, 1);
    return found?.id === id ? found : undefined;
  }

  /** Brings a request before the eyes of the reader, with what was sent and answered. */
  show(id: string): void {
    this.dispatchEvent(new CustomEvent('show', { detail: id }));
  }

  /** Shows another one of the key. */
  choose(id: string): void {
    this.chosen = id;
    void this.#follow();
  }

  /** Begins one, unless one is active. */
  async start(name = 'the page of the lab'): Promise<void> {
    if (session.account?.recording) return;
    await this.#change((options) => session.lab.startRecording({ name }, options));
  }

  /** Ends it. What it has kept can still be read. */
  async stop(): Promise<void> {
    const { facts } = this;
    if (facts) await this.#change((options) => session.lab.endRecording(facts.id, options));
  }

  /** Begins or ends one, once at a time, and reads what came of it. */
  async #change(ask: (options: { signal: AbortSignal }) => Promise<unknown>): Promise<void> {
    if (this.isBusy) return;
    const { signal } = session;
    this.isBusy = true;
    this.#changed();
    try {
      await ask({ signal });
      await session.refresh();
      // What was being read may be how it was before.
      await this.#reading;
      await this.#follow();
    } finally {
      if (!signal.aborted) {
        this.isBusy = false;
        this.#changed();
      }
    }
  }

  /** Reads what is new, once at a time. */
  async #follow(): Promise<void> {
    if (session.standing !== 'live') return;
    const { signal } = session;
    this.#reading ??= this.#readNew(signal).finally(() => {
      if (signal.aborted) return;
      this.#reading = undefined;
      this.#changed();
    });
    await this.#reading;
  }

  async #readNew(signal: AbortSignal): Promise<void> {
    try {
      const active = session.account?.recording?.id;
      const isDue = !active && performance.now() - this.#listedAtMs >= listEveryMs;
      if (!this.isKnown || active !== this.#active || isDue) {
        const all = (await session.lab.listRecordings({ signal })) as RecordingFacts[];
        if (signal.aborted) return;
        const unseen = all.find(({ id }) => this.all.every((seen) => seen.id !== id))?.id;
        this.chosen = this.isKnown ? (unseen ?? this.chosen) : (active ?? all[0]?.id);
        this.all = all;
        this.#active = active;
        this.#listedAtMs = performance.now();
      }
      const id = this.chosen;
      if (!this.isKnown || id !== this.facts?.id) {
        this.#begin(id ? ((await session.lab.getRecording(id, { signal })) as RecordingFacts) : undefined);
        this.isKnown = true;
      }
      await this.#read(id !== undefined && id === active, signal);
      this.failure = '';
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof PetstoreError && error.status === 404) {
        // Somebody has removed it.
        this.#begin(undefined);
        this.isKnown = false;
      }
      this.failure = this.isKnown ? reasonOf(error) : '';
    }
  }

  async #read(isActive: boolean, signal: AbortSignal): Promise<void> {
    if (!this.facts) return;
    if (isActive !== this.isActive) this.#readings = 0;
    this.isActive = isActive;
    if (isActive) this.#readingsLeft = readingsAfterEnd;
    else if (this.#readingsLeft-- <= 0) return;
    if (this.#readings++ % factsEvery === 0 || !isActive) {
      const facts = (await session.lab.getRecording(this.facts.id, { signal })) as RecordingFacts;
      if (signal.aborted) return;
      this.facts = facts;
      const first = facts.requests - maxRequests;
      if (first > this.#last) {
        this.#last = first;
        this.requests = [];
      }
    }
    let passed = Number.POSITIVE_INFINITY;
    let isMore = true;
    for (let pages = 0; pages < pagesAtOnce && isMore; pages++) {
      const page = await this.#page(this.#last, pageSize);
      if (signal.aborted) return;
      this.#last = Number(page.at(-1)?.id ?? this.#last);
      const known = this.requests.find((kept) => page.some((late) => mayBeBefore(late, kept)));
      passed = Math.min(passed, Number(known?.id ?? passed));
      if (page.length > 0) this.requests = [...this.requests, ...page].slice(-maxRequests);
      isMore = page.length === pageSize;
    }
    if (passed < Number.POSITIVE_INFINITY) await this.#readAgain(passed, signal);
    if (signal.aborted || !isMore) return;
    // There is more. The next time it begins with the newest that are kept, and a recording that has ended is read to its end.
    this.#readings = 0;
    this.#readingsLeft = readingsAfterEnd;
  }

  /** From a request on: which attempt was before it is otherwise once one that began earlier has ended. */
  async #readAgain(id: number, signal: AbortSignal): Promise<void> {
    const page = await this.#page(id - 1, pageSize);
    if (signal.aborted) return;
    const again = new Map(page.map((request) => [request.id, request]));
    this.requests = this.requests.map((request) => again.get(request.id) ?? request);
  }

  async #page(after: number, limit: number): Promise<RecordedRequest[]> {
    const { signal } = session;
    const list = session.lab.listRecordedRequests(this.facts?.id as string, { after, limit }, { signal });
    const { value } = await list.pages().next();
    return (value ?? []) as RecordedRequest[];
  }

  #begin(facts: RecordingFacts | undefined): void {
    this.facts = facts;
    this.isActive = false;
    this.requests = [];
    this.failure = '';
    this.#last = 0;
    this.#readings = 0;
    this.#readingsLeft = readingsAfterEnd;
    this.#changed();
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

/** Whether a request may be an attempt before another at the same thing. */
const mayBeBefore = (one: RecordedRequest, other: RecordedRequest) =>
  one.at < other.at && one.method === other.method && one.target === other.target;

export const recording = new Recording();
