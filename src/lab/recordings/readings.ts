import type { Owner } from '../bound.ts';
import { maxReadings } from '../bounds.ts';

/**
 * Makes what takes long to make of recordings: one thing at a time for each key, and few at once in all. Who asks for what others
 * wait for may get it with them. What is being made may lack what came since it began, so nobody joins that.
 */
export class Readings {
  /** The last that each key has asked for. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, Promise<unknown>>();
  #free = maxReadings;
  readonly #queue: (() => void)[] = [];

  /** Makes something for the key alone. */
  make<T>({ workspaceId, keyId }: Owner, make: () => Promise<T>): Promise<T> {
    const key = `${workspaceId} ${keyId}`;
    const making = this.#after(this.#last.get(key), make);
    this.#last.set(key, making);
    const forget = () => this.#last.get(key) === making && this.#last.delete(key);
    making.then(forget, forget);
    return making;
  }

  /** Makes something for all who wait for it. `what` names it among all that the key may share. */
  share<T>(owner: Owner, what: string, make: () => Promise<T>): Promise<T> {
    const name = `${owner.workspaceId} ${owner.keyId} ${what}`;
    const same = this.#waiting.get(name);
    if (same) return same as Promise<T>;
    const making = this.make(owner, () => {
      this.#waiting.delete(name);
      return make();
    });
    this.#waiting.set(name, making);
    return making;
  }

  async #after<T>(before: Promise<unknown> | undefined, make: () => Promise<T>): Promise<T> {
    await before?.catch(() => {});
    await this.#enter();
    try {
      return await make();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#free++;
  }
}
