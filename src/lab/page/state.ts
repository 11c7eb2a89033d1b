// The state of the page. What belongs to a key is created again for each key, so nothing has to be reset.

const makers: (() => void)[] = [];
let key = new AbortController();

/** Makes state for the key in use: now, and again for each later key. */
export function forEachKey(make: () => void): void {
  makers.push(make);
  make();
}

/** Drops the state of the previous key, and creates that of the next one. */
export function startAnew(): void {
  key.abort();
  key = new AbortController();
  for (const make of makers) make();
}

/** Aborted when the page drops the state of the key in use. */
export const keySignal = (): AbortSignal => key.signal;

/** Settles as `promise` does, but never after a change of the key. Callers need no check for late answers. */
export function untilKeyChange<T>(promise: Promise<T>, signal = keySignal()): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(
      (value) => !signal.aborted && resolve(value),
      (error) => !signal.aborted && reject(error),
    );
  });
}

/** Resolves after `ms`, unless the page has another key by then. */
export const sleep = (ms: number): Promise<void> =>
  untilKeyChange(new Promise((resolve) => setTimeout(resolve, ms)));

/** Observable state. */
export class State {
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` after each change, until the page has another key. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
    keySignal().addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  protected changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
