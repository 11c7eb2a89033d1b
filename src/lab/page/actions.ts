import { answerOf } from '../../client/answers.ts';
import { PetstoreError } from '../../client/error.ts';
import type { Int64 } from '../../client/index.ts';
import { pagePrefix, reasonOf } from './api.ts';
import { SessionState } from './session.ts';

const maxKept = 6;

/** The beginning of a request id of the page, long enough to distinguish two ids. */
export const shortId = (requestId = ''): string => `${requestId.slice(0, pagePrefix.length + 4)}…`;

export const workspaceSubject = 'the workspace';

interface Action<Result> {
  /** What it changes, such as `pet 3`. */
  subject: string;
  text: string;
  send: () => Promise<Result>;
  describe: (result: Result) => string;
}

/** An action with its answer. */
export interface DoneAction {
  id: number;
  subject: string;
  atMs: number;
  text: string;
  isDone: boolean;
  /** Undefined if there was no answer. */
  status?: number | undefined;
  /** The code of a refusal, or the description of the result. */
  result: string;
  reason: string;
  requestId: string | undefined;
}

/** What the user did in the store by this page. */
export class Actions extends SessionState {
  /** The newest first. */
  last: DoneAction[] = [];
  /** The answers to two orders of one pet at once. */
  pair: { petId: Int64; name: string; orders: DoneAction[] } | undefined;
  /** Subject and text of each action without an answer yet. */
  readonly #running = new Set<string>();
  #count = 0;
  /** The number of actions before the last reset. */
  #countAtReset = 0;

  isRunning(subject: string, text: string): boolean {
    return this.#running.has(`${subject} ${text}`);
  }

  /** Performs an action, unless the same one is running. Returns whether it was done. */
  async run<Result>(action: Action<Result>): Promise<boolean> {
    const ended = await this.#once(action.subject, action.text, async () => {
      const done = await this.#perform(action);
      this.#keep(done);
      return done;
    });
    return ended?.isDone ?? false;
  }

  /** Sends two orders of one pet at once. Each has its own Idempotency-Key, so they are two orders. */
  async orderTwice(petId: Int64, name: string): Promise<void> {
    const order = (which: string) =>
      this.#perform({
        subject: '',
        text: `${which} for the last ${name}`,
        send: () => this.session.petstore.placeOrder({ petId, quantity: 1 }),
        describe: ({ id }) => `order ${id}`,
      });
    await this.#once(`pet ${petId}`, 'twice', async () => {
      const orders = await Promise.all([order('First order'), order('Second order')]);
      if (orders.every((done) => this.#isSinceReset(done))) this.pair = { petId, name, orders };
      for (const done of orders) this.#keep(done);
    });
  }

  at(subject: string): DoneAction | undefined {
    return this.last.find(
      (done) => done.subject === subject && (subject === workspaceSubject || this.#isSinceReset(done)),
    );
  }

  /** Hides the answers at all pets and orders, which a reset has replaced. */
  leaveSubjects(): void {
    this.#countAtReset = this.#count;
    this.forgetPair();
  }

  /** Hides the answer at a subject, unless it belongs to `requestId`. */
  leaveSubject(subject: string, requestId: string | undefined): void {
    this.last = this.last.map((done) =>
      done.subject === subject && done.requestId !== requestId ? { ...done, subject: '' } : done,
    );
    this.changed();
  }

  forgetPair(): void {
    this.pair = undefined;
    this.changed();
  }

  #isSinceReset({ id }: DoneAction): boolean {
    return id > this.#countAtReset;
  }

  async #once<Result>(
    subject: string,
    text: string,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const name = `${subject} ${text}`;
    if (this.#running.has(name)) return undefined;
    this.#running.add(name);
    this.changed();
    try {
      return await work();
    } finally {
      this.#running.delete(name);
      this.changed();
    }
  }

  async #perform<Result>({ subject, text, send, describe }: Action<Result>): Promise<DoneAction> {
    const id = ++this.#count;
    const answered = await send().then(
      (result) => {
        const answer = answerOf(Object(result));
        // An answer without a body is 204.
        const status = result === undefined ? 204 : answer?.status;
        const { requestId } = answer ?? {};
        return { isDone: true, status, result: describe(result), reason: '', requestId };
      },
      (error) => {
        if (!(error instanceof PetstoreError)) throw error;
        const { status, code, requestId } = error;
        const reason = reasonOf(error).replace(requestId ?? '', shortId);
        return { isDone: false, status, result: code, reason, requestId };
      },
    );
    return { id, subject, atMs: this.session.nowMs(), text, ...answered };
  }

  #keep(done: DoneAction): void {
    this.last = [done, ...this.last].slice(0, maxKept);
  }
}
