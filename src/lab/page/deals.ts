import { answerOf, type Int64, PetstoreError } from '../../client/index.ts';
import { reasonOf, session } from './session.ts';

/** So many are kept of what was done. */
const maxKept = 6;

/** Where the workspace itself is reset. */
export const workspacePlace = 'the workspace';

/** What was asked for, and what came back. */
export interface Deal {
  id: number;
  /** What it was done to, such as `pet 3`. */
  place: string;
  atMs: number;
  what: string;
  isDone: boolean;
  /** The status; absent where nothing was answered. */
  status?: number | undefined;
  /** The code of a refusal, or what came of it. */
  result: string;
  /** Why it was refused, by which request. */
  reason: string;
  requestId: string | undefined;
}

/** What an action gives, and what to say of it. */
interface Action<Result> {
  place: string;
  what: string;
  ask: () => Promise<Result>;
  tell: (result: Result) => string;
}

/** What was done in the store by this page. It tells `change`. */
class Deals extends EventTarget {
  /** The newest first. */
  last: Deal[] = [];
  /** What two orders at once gave, and for which pet. */
  pair: { petId: Int64; name: string; deals: Deal[] } | undefined;
  /** The actions that are under way, by what they do and to what. */
  readonly running = new Set<string>();
  #count = 0;
  /** How many were asked for before the last reset. */
  #countOfOld = 0;

  /** Does something, once at a time. */
  async run<Result>(action: Action<Result>): Promise<void> {
    await this.#once(`${action.place} ${action.what}`, async () => {
      this.#keep(await this.#deal(action));
    });
  }

  /** Orders one of a pet twice at once. */
  async orderTwice(petId: Int64, name: string): Promise<void> {
    const place = `pet ${petId}`;
    await this.#once(`${place} twice`, async () => {
      // Each has an Idempotency-Key of its own, so they are two orders.
      const order = (what: string) =>
        this.#deal({
          place: '',
          what: `${what} for the last ${name}`,
          ask: () => session.petstore.placeOrder({ petId, quantity: 1 }, { signal: session.signal }),
          tell: ({ id }) => `order ${id}`,
        });
      const deals = await Promise.all([order('First order'), order('Second order')]);
      if (deals.every((deal) => this.#isOfNow(deal))) this.pair = { petId, name, deals };
      for (const deal of deals) this.#keep(deal);
    });
  }

  /** The last answer of what was done to something. */
  at(place: string): Deal | undefined {
    return this.last.find(
      (deal) => deal.place === place && (place === workspacePlace || this.#isOfNow(deal)),
    );
  }

  /** The pets and the orders are others now: what was asked for until now, also what is not answered yet, shows at none of them. */
  leavePlaces(): void {
    this.#countOfOld = this.#count;
    this.forgetPair();
  }

  /** Another than the last answer there has come of something since. */
  leavePlace(place: string, requestId: string | undefined): void {
    this.last = this.last.map((deal) =>
      deal.place === place && deal.requestId !== requestId ? { ...deal, place: '' } : deal,
    );
    this.#changed();
  }

  forget(): void {
    this.last = [];
    this.pair = undefined;
    this.running.clear();
  }

  forgetPair(): void {
    this.pair = undefined;
    this.#changed();
  }

  #isOfNow({ id }: Deal): boolean {
    return id > this.#countOfOld;
  }

  async #once(name: string, work: () => Promise<void>): Promise<void> {
    const { signal } = session;
    if (this.running.has(name)) return;
    this.running.add(name);
    this.#changed();
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      if (!signal.aborted) {
        this.running.delete(name);
        this.#changed();
      }
    }
  }

  async #deal<Result>({ place, what, ask, tell }: Action<Result>): Promise<Deal> {
    const { signal } = session;
    const id = ++this.#count;
    let answered: Pick<Deal, 'isDone' | 'status' | 'result' | 'reason' | 'requestId'>;
    try {
      const result = await ask();
      const answer = answerOf(Object(result));
      // What has no body is answered with 204.
      const status = result === undefined ? 204 : answer?.status;
      answered = { isDone: true, status, result: tell(result), reason: '', requestId: answer?.requestId };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PetstoreError)) throw error;
      const { status, code, requestId } = error;
      answered = { isDone: false, status, result: code, reason: reasonOf(error), requestId };
    }
    signal.throwIfAborted();
    return { id, place, atMs: session.nowMs(), what, ...answered };
  }

  #keep(deal: Deal): void {
    this.last = [deal, ...this.last].slice(0, maxKept);
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

export const deals = new Deals();
