/** Limits concurrency: at most `free` tasks at once, `perOwner` of one owner. Owners take turns; the tasks of one run in order. */
export class Slots<Owner = number> {
  #free: number;
  readonly #perOwner: number;
  readonly #running = new Map<Owner, number>();
  /** Waiting tasks by owner, in the order of turns. */
  readonly #waiting = new Map<Owner, (() => void)[]>();

  constructor(free: number, perOwner: number) {
    this.#free = free;
    this.#perOwner = perOwner;
  }

  /** Runs `work` when there is room. */
  async run<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
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
      // Moves the owner to the end. The loop reaches it again after the others.
      this.#waiting.delete(owner);
      if (own.length > 0) this.#waiting.set(owner, own);
    }
  }

  #runningOf = (owner: Owner) => this.#running.get(owner) ?? 0;

  #count(owner: Owner, change: number): void {
    const running = this.#runningOf(owner) + change;
    if (running > 0) this.#running.set(owner, running);
    else this.#running.delete(owner);
  }
}
