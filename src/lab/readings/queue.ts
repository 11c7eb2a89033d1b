import { ApiError } from '../../foundation/errors.ts';
import { maxWaitingReadings } from '../lab-bounds.ts';
import type { Reader } from '../recordings/services.ts';

type Turn = PromiseWithResolvers<void>;

/** Queue for readings: the instance makes one at a time, keys take turns, and a few of each key wait. */
export class ReadingQueue {
  /** The turns of each key. Only the first is due. */
  readonly #turnsByKey = new Map<string, Turn[]>();
  readonly #due: Turn[] = [];
  #isBusy = false;

  /**
   * Calls `make` when it is the reader's turn. A client that disconnects loses its turn. The turn of the key ends when the client has its
   * response, so that a client that reads nothing fills no memory. Throws `rate_limited` if too many wait.
   */
  async run<T>(reader: Reader, make: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const key = `${reader.workspaceId} ${reader.keyId}`;
    const turns = this.#turnsByKey.get(key) ?? [];
    if (turns.length > maxWaitingReadings) throw tooMany();
    const signal = reader.disconnected();
    signal.throwIfAborted();
    const turn: Turn = Promise.withResolvers();
    this.#turnsByKey.set(key, turns);
    const leave = () => {
      turn.reject(signal.reason);
      this.#remove(key, turns, turn);
    };
    signal.addEventListener('abort', leave, { once: true });
    if (turns.push(turn) === 1) this.#enqueue(turn);
    await turn.promise;
    try {
      signal.throwIfAborted();
      return await make(signal);
    } catch (error) {
      this.#remove(key, turns, turn);
      throw error;
    } finally {
      this.#isBusy = false;
      this.#next();
    }
  }

  #remove(key: string, turns: Turn[], turn: Turn): void {
    const index = turns.indexOf(turn);
    if (index < 0) return;
    turns.splice(index, 1);
    if (index > 0) return;
    const due = this.#due.indexOf(turn);
    if (due >= 0) this.#due.splice(due, 1);
    const [next] = turns;
    if (next) this.#enqueue(next);
    else this.#turnsByKey.delete(key);
  }

  #enqueue(turn: Turn): void {
    this.#due.push(turn);
    this.#next();
  }

  #next(): void {
    if (this.#isBusy) return;
    const turn = this.#due.shift();
    if (!turn) return;
    this.#isBusy = true;
    turn.resolve();
  }
}

const tooMany = () =>
  new ApiError(
    'rate_limited',
    `This key already reads one report, archive or page of requests, and ${maxWaitingReadings} more wait. Try again when one of them has finished.`,
    { 'Retry-After': '1' },
  );
