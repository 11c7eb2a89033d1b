/**
 * At most `free` at once, and `perOwner` of one owner. Owners take turns, however many each has waiting; of one owner who comes
 * first goes first.
 */
export class Slots {
  #free: number;
  readonly #perOwner: number;
  readonly #running = new Map<number, number>();
  /** In the order in which owners have their turn. */
  readonly #waiting = new Map<number, (() => void)[]>();

  constructor(free: number, perOwner: number) {
    this.#free = free;
    this.#perOwner = perOwner;
  }

  /** Runs `work` when there is room. */
  async run<T>(owner: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      const own = this.#waiting.get(owner);
      if (own) own.push(resolve);
      else this.#waiting.set(owner, [resolve]);
      this.#startSome();
    });
    try {
      return await work();
    } finally {
      this.#free++;
      this.#count(owner, -1);
      this.#startSome();
    }
  }

  #startSome(): void {
    for (const [owner, own] of this.#waiting) {
      if (this.#free === 0) return;
      if (this.#runningOf(owner) >= this.#perOwner) continue;
      this.#free--;
      this.#count(owner, 1);
      own.shift()?.();
      // Behind the others, which this loop comes to before it comes back.
      this.#waiting.delete(owner);
      if (own.length > 0) this.#waiting.set(owner, own);
    }
  }

  #runningOf = (owner: number) => this.#running.get(owner) ?? 0;

  #count(owner: number, change: number): void {
    const running = this.#runningOf(owner) + change;
    if (running > 0) this.#running.set(owner, running);
    else this.#running.delete(owner);
  }
}
