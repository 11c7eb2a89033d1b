/** Limits the number of concurrent tasks. Tasks start in order, but urgent ones first. */
export class RunQueue {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(task: () => Promise<T>, isUrgent = false): Promise<T> {
    if (this.#free > 0) this.#free--;
    else
      await new Promise<void>((resolve) =>
        isUrgent ? this.#waiting.unshift(resolve) : this.#waiting.push(resolve),
      );
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
